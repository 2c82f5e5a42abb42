// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "RealmImporter",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "realm-importer", targets: ["RealmImporterCLI"])
    ],
    dependencies: [
        .package(name: "Martlet", path: "../.."),
        // Each major version parses one version of Swift: 603 parses Swift 6.3.
        .package(url: "https://github.com/swiftlang/swift-syntax", .upToNextMinor(from: "603.0.1")),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .target(
            name: "RealmImporter",
            dependencies: [
                .product(name: "MartletTools", package: "Martlet"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
            ]),
        .executableTarget(
            name: "RealmImporterCLI",
            dependencies: [
                "RealmImporter",
                .product(name: "MartletTools", package: "Martlet"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .testTarget(
            name: "RealmImporterTests",
            // The tests run the command-line tool as a process. The dependency on RealmImporterCLI builds the tool.
            dependencies: [
                "RealmImporter", "RealmImporterCLI", .product(name: "MartletTools", package: "Martlet"),
            ],
            exclude: ["Fixtures"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
