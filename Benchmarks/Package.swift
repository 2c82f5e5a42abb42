// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "MartletBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Martlet", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(name: "CWorkload"),
        .target(name: "Measure", dependencies: ["CWorkload"]),
        .executableTarget(
            name: "yardstick", dependencies: ["CWorkload"],
            linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "PeerGRDB", dependencies: ["Measure", .product(name: "GRDB", package: "GRDB.swift")]),
        .executableTarget(
            name: "PeerMartlet", dependencies: ["Measure", .product(name: "Martlet", package: "Martlet")],
            plugins: [.plugin(name: "MartletPlugin", package: "Martlet")]),
        .executableTarget(
            name: "BenchIdioms", dependencies: [.product(name: "Martlet", package: "Martlet")],
            plugins: [.plugin(name: "MartletPlugin", package: "Martlet")]),
    ],
    swiftLanguageModes: [.v6]
)
