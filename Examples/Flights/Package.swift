// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Flights",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Martlet", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "FlightsDemo",
            dependencies: [.product(name: "Martlet", package: "Martlet")],
            plugins: [.plugin(name: "MartletPlugin", package: "Martlet")])
    ],
    swiftLanguageModes: [.v6]
)
