// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "PluginDemo",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        // Other packages import these models.
        .library(name: "ZooModels", targets: ["ZooModels"])
    ],
    dependencies: [
        .package(name: "Martlet", path: "../..")
    ],
    targets: [
        .target(
            name: "ZooModels",
            dependencies: [.product(name: "Martlet", package: "Martlet")],
            plugins: [.plugin(name: "MartletPlugin", package: "Martlet")]),
        .executableTarget(
            name: "PluginDemo",
            dependencies: ["ZooModels", .product(name: "Martlet", package: "Martlet")]),
    ],
    swiftLanguageModes: [.v6]
)
