// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Kennel",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Martlet", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "KennelTour",
            dependencies: [.product(name: "Martlet", package: "Martlet")],
            plugins: [.plugin(name: "MartletPlugin", package: "Martlet")]),
        // This program writes a file with an earlier version of the schema. The tour migrates this file.
        .executableTarget(
            name: "KennelOfLastYear",
            dependencies: [.product(name: "Martlet", package: "Martlet")],
            plugins: [.plugin(name: "MartletPlugin", package: "Martlet")]),
    ],
    swiftLanguageModes: [.v6]
)
