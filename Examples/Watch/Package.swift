// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Watch",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Martlet", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Watch",
            dependencies: [.product(name: "Martlet", package: "Martlet")],
            plugins: [.plugin(name: "MartletPlugin", package: "Martlet")])
    ],
    swiftLanguageModes: [.v6]
)
