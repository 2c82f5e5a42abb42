// swift-tools-version: 6.1
import PackageDescription

let openCombine = Target.Dependency.product(
    name: "OpenCombine", package: "OpenCombine", condition: .when(platforms: [.linux, .android, .windows, .wasi]))

// Returns a dependency that only synchronization needs. Without the trait 'Sync', SwiftPM does not fetch its package.
func synchronizing(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Sync"]))
}
let network = ["NIOCore", "NIOPosix", "NIOHTTP1", "NIOWebSocket"].map { synchronizing($0, "swift-nio") }
let hashes = synchronizing("Crypto", "swift-crypto")
let tokens = synchronizing("JWTKit", "jwt-kit")
let transportSecurity = synchronizing("NIOSSL", "swift-nio-ssl")
let operation = [
    synchronizing("Logging", "swift-log"), synchronizing("ServiceLifecycle", "swift-service-lifecycle"),
    synchronizing("UnixSignals", "swift-service-lifecycle"),
]

let package = Package(
    name: "Martlet",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Martlet", targets: ["Martlet"]),
        // Publishers for Combine and OpenCombine. A package that does not use this product does not build it.
        .library(name: "MartletCombine", targets: ["MartletCombine"]),
        // The client of the sync service. Needs the trait 'Sync'.
        .library(name: "MartletSync", targets: ["MartletSync"]),
        // The packages under Tools use this product to check and format the schemas that they write.
        .library(name: "MartletTools", targets: ["MartletTools", "MartletCompiler", "MartletSchema"]),
        .executable(name: "martlet", targets: ["MartletCLI"]),
        // The sync service. Without the trait 'Sync', the program only prints how to build the service.
        .executable(name: "martlet-sync", targets: ["MartletSyncTool"]),
        // A second product of the same target. The command plugin finds a tool by the name of its target.
        .executable(name: "MartletCLI", targets: ["MartletCLI"]),
        .plugin(name: "MartletPlugin", targets: ["MartletPlugin"]),
        .plugin(name: "MartletCommand", targets: ["MartletCommand"]),
    ],
    traits: [
        // A manifest cannot ask whether a trait is enabled, so the list of targets is the same with and without the
        // traits. libpq is a dependency only if a trait is enabled. All code that needs libpq is inside '#if Postgres',
        // and all code that needs a network or cryptography is inside '#if Sync'. Without the traits, the compiler
        // skips this code, and libpq does not have to be installed.
        .trait(
            name: "Sync", description: "The sync service and the client. Needs libpq.", enabledTraits: ["Postgres"]),
        // 'make test' enables only this trait. It tests the service with PostgreSQL, but without a network, so that
        // BoringSSL is not compiled.
        .trait(name: "Postgres", description: "The code of the sync service that needs PostgreSQL. Only for tests."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // The next six packages are used only with the trait 'Sync'.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.4"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
        // MartletCombine uses this package on platforms without Combine.
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        // The modules of the runtime. They contain code for SQL, and none for YAML.
        .systemLibrary(
            name: "CMartletSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .target(name: "CMartletRuntime"),
        .target(name: "CMartletColumns"),
        .target(name: "CMartletLogVFS", dependencies: ["CMartletSQLite"]),
        .target(name: "CMartletMemoryVFS", dependencies: ["CMartletSQLite"]),
        .target(name: "MartletValues"),
        .target(
            name: "MartletSQLite",
            dependencies: ["MartletValues", "CMartletSQLite", "CMartletLogVFS", "CMartletMemoryVFS"]),
        .target(
            name: "MartletEngine",
            dependencies: ["MartletValues", "MartletSQLite", "CMartletRuntime", "CMartletColumns"]),
        .target(name: "Martlet", dependencies: ["MartletValues", "MartletEngine", "CMartletRuntime"]),
        .target(name: "MartletCombine", dependencies: ["Martlet", openCombine]),
        // The messages between a client and the sync service.
        .target(name: "MartletSyncProtocol", dependencies: ["MartletValues", "MartletEngine", hashes]),
        .target(
            name: "MartletSync",
            dependencies: ["Martlet", "MartletSyncProtocol", "MartletEngine", "MartletValues", transportSecurity]
                + network),
        .systemLibrary(
            name: "CMartletPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "MartletPostgres",
            dependencies: ["MartletValues", .target(name: "CMartletPostgres", condition: .when(traits: ["Postgres"]))]),
        .target(
            name: "MartletSyncService",
            dependencies: [
                "MartletSyncProtocol", "MartletPostgres", "MartletEngine", "MartletValues", tokens, transportSecurity,
            ] + network),
        .executableTarget(
            name: "MartletSyncTool",
            dependencies: [
                "MartletSyncService", "MartletSyncProtocol", "MartletPostgres",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ] + operation),

        // The modules of the schema compiler. They contain code for YAML. Only MartletTables contains code for SQL.
        .systemLibrary(
            name: "CMartletYAML", pkgConfig: "yaml-0.1",
            providers: [.apt(["libyaml-dev"]), .brew(["libyaml"])]),
        .target(name: "MartletSchema"),
        .target(name: "MartletFrontend", dependencies: ["MartletSchema", "CMartletYAML"]),
        .target(name: "MartletBackend", dependencies: ["MartletSchema"]),
        .target(name: "MartletCompiler", dependencies: ["MartletSchema", "MartletFrontend", "MartletBackend"]),
        // Every package with the build plugin compiles this tool and all its dependencies, so there are few of them.
        .executableTarget(name: "MartletGenerator", dependencies: ["MartletCompiler"]),

        // The modules of the schema compiler that only the command-line tool and the importer need.
        .target(name: "MartletLint", dependencies: ["MartletSchema"]),
        .target(name: "MartletDocs", dependencies: ["MartletSchema"]),
        .target(name: "MartletTables", dependencies: ["MartletSchema"]),
        .target(
            name: "MartletTools",
            dependencies: [
                "MartletSchema", "MartletFrontend", "MartletBackend", "MartletCompiler", "MartletLint", "MartletDocs",
                "MartletTables",
            ]),
        .executableTarget(
            name: "MartletCLI",
            dependencies: [
                "MartletTools", "MartletCompiler", "MartletSchema", "MartletBackend",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .plugin(name: "MartletPlugin", capability: .buildTool(), dependencies: ["MartletGenerator"]),
        .plugin(
            name: "MartletCommand",
            capability: .command(
                intent: .custom(verb: "martlet", description: "Generate, lint and check Martlet schemas."),
                permissions: [.writeToPackageDirectory(reason: "Writes generated model classes.")]),
            dependencies: ["MartletCLI"]),

        // Generated models. The generated files are committed.
        .target(name: "KennelModels", dependencies: ["Martlet"], path: "Generated/Kennel"),
        .target(name: "ConformanceModels", dependencies: ["Martlet"], path: "Generated/Conformance"),
        .target(name: "FlightsModels", dependencies: ["Martlet"], path: "Generated/Flights"),
        .target(name: "TasksModels", dependencies: ["Martlet"], path: "Generated/Tasks"),

        // Tests.
        .target(name: "CMartletTestVFS", dependencies: ["CMartletSQLite"], path: "Tests/CMartletTestVFS"),
        .target(
            name: "MartletTestSupport",
            dependencies: ["CMartletSQLite", "Martlet", "MartletEngine", "MartletValues", "MartletSQLite"],
            path: "Tests/MartletTestSupport"),
        // Tests that run random operations use this target for their seeds, and to shorten failing sequences.
        .target(name: "ModelTesting", path: "Tests/ModelTesting"),
        .target(
            name: "CompilerInvariants",
            dependencies: ["MartletBackend", "MartletCompiler", "MartletSchema", "MartletTools"],
            path: "Tests/CompilerInvariants"),
        .testTarget(
            name: "CompilerTests",
            dependencies: [
                "MartletCompiler", "MartletFrontend", "MartletLint", "MartletBackend", "MartletDocs",
                "MartletSchema", "MartletTools", "MartletCLI", "CompilerInvariants", "ModelTesting",
                "MartletTables",
                // The tests compare the reports of 'martlet breaking' with the behavior of the runtime.
                "MartletEngine",
            ],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "EngineTests",
            dependencies: [
                "MartletEngine", "MartletValues", "MartletSQLite", "CMartletSQLite", "CMartletTestVFS",
                "MartletTestSupport", "ModelTesting",
            ]),
        .testTarget(
            name: "RuntimeTests",
            dependencies: [
                "Martlet", "MartletEngine", "MartletValues", "MartletSQLite", "KennelModels", "ConformanceModels",
                "CMartletRuntime",
                "CMartletTestVFS",
                "MartletTestSupport", "ModelTesting",
            ]),
        .testTarget(
            name: "ExactTests",
            dependencies: [
                "Martlet", "MartletEngine", "MartletValues", "MartletSQLite", "ConformanceModels", "MartletTestSupport",
                "ModelTesting",
            ]),
        .testTarget(
            name: "ScheduleTests",
            dependencies: [
                "Martlet", "MartletEngine", "MartletValues", "MartletSQLite", "ConformanceModels", "MartletTestSupport",
                "ModelTesting",
            ]),
        .executableTarget(
            name: "ChaosWorker",
            dependencies: ["Martlet", "MartletEngine", "ConformanceModels", "ModelTesting", "CMartletTestVFS"],
            path: "Tests/ChaosWorker"),
        .testTarget(
            name: "ChaosTests",
            dependencies: [
                "ChaosWorker", "Martlet", "MartletValues", "MartletSQLite", "ConformanceModels", "MartletTestSupport",
                "ModelTesting",
            ]),
        .testTarget(
            name: "LeakTests",
            dependencies: ["Martlet", "MartletCombine", "ConformanceModels", "CMartletTestVFS", openCombine]),
        .testTarget(
            name: "PublisherTests",
            dependencies: [
                "MartletCombine", "Martlet", "MartletEngine", "ConformanceModels", "MartletTestSupport", openCombine,
            ]),
        .testTarget(
            name: "SampleTests", dependencies: ["Martlet", "KennelModels", "MartletTestSupport", "ModelTesting"]),
        .testTarget(
            name: "SyncTests",
            dependencies: [
                "Martlet", "TasksModels", "MartletSync", "MartletSyncService", "MartletSyncProtocol", "MartletPostgres",
                "MartletValues", "MartletEngine", "MartletSQLite", "ModelTesting",
                // The tests compare the SQL of the service with the tables that 'martlet postgres' writes.
                "MartletTables", "MartletFrontend", "MartletSchema",
            ]),
        // This target contains tests only if the trait 'Sync' is enabled.
        .testTarget(
            name: "SyncNetworkTests",
            dependencies: [
                "MartletSync", "MartletSyncService", "MartletSyncProtocol", "MartletValues", tokens,
                synchronizing("CryptoExtras", "swift-crypto"), hashes, transportSecurity,
            ] + network),
        // This target contains tests only if a trait is enabled. The tests start a PostgreSQL server.
        .testTarget(
            name: "PostgresTests",
            dependencies: [
                "MartletSync", "MartletSyncService", "MartletSyncProtocol", "MartletPostgres", "MartletValues",
                "MartletEngine", "MartletFrontend", "MartletBackend", "MartletSchema", "MartletTables",
                "MartletSyncTool", "Martlet", "TasksModels", "ModelTesting", hashes,
                synchronizing("Logging", "swift-log"),
            ]),
        // Measures the matcher of the sync service, in a release build.
        .executableTarget(
            name: "MatcherBenchmark",
            dependencies: [
                "MartletSyncService", "MartletSyncProtocol", "MartletEngine", "MartletValues", "ModelTesting",
            ],
            path: "Tests/MatcherBenchmark"),
        .testTarget(name: "TidyTests"),
    ],
    swiftLanguageModes: [.v6]
)

// Only 'make fuzz-schema' builds this target, and links it against libFuzzer. An ordinary build cannot link it.
if Context.environment["MARTLET_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "SchemaFuzzer", dependencies: ["CompilerInvariants"], path: "Tests/SchemaFuzzer",
            exclude: ["Corpus", "dictionary"]))
}

// 'Scripts/covered-files' builds this program with code coverage.
if Context.environment["MARTLET_COVERAGE"] != nil {
    package.targets.append(
        .executableTarget(
            name: "CoverageProgram", dependencies: ["Martlet", "KennelModels"], path: "Tests/CoverageProgram"))
    package.products.append(.executable(name: "CoverageProgram", targets: ["CoverageProgram"]))
}

// 'Scripts/sync-demo' builds and runs this program.
if Context.environment["MARTLET_SYNC_DEMO"] != nil {
    package.targets.append(
        .executableTarget(
            name: "SyncDemo", dependencies: ["Martlet", "MartletSync", "FlightsModels", hashes],
            path: "Examples/SyncDemo"))
    package.products.append(.executable(name: "SyncDemo", targets: ["SyncDemo"]))
}

// 'Benchmarks/Sync/run' builds and runs this program.
if Context.environment["MARTLET_SYNC_BENCH"] != nil {
    package.targets.append(
        .executableTarget(
            name: "SyncBenchmark",
            dependencies: [
                "Martlet", "MartletSync", "MartletSyncProtocol", "MartletPostgres", "MartletEngine", "MartletValues",
                "FlightsModels", hashes,
            ],
            path: "Benchmarks/Sync/SyncBenchmark"))
    package.products.append(.executable(name: "SyncBenchmark", targets: ["SyncBenchmark"]))
}

// 'make sync-cost' builds and runs this program, which measures the cost of the outbox.
if Context.environment["MARTLET_SYNC_COST"] != nil {
    package.targets.append(
        .executableTarget(
            name: "SyncCost", dependencies: ["MartletSync", "MartletSyncProtocol", "MartletEngine", "MartletValues"],
            path: "Tests/SyncCost"))
    package.products.append(.executable(name: "SyncCost", targets: ["SyncCost"]))
}

// The builds with this variable contain seeded bugs, which 'make exact-bugs', 'make sync-bugs' and 'make schedule-bugs'
// must find. 'Scripts/covered-files' also compiles the bugs, but enables none of them. No other build contains them.
if Context.environment["MARTLET_SEEDED_BUGS"] != nil {
    var needed: Set<String> = []
    var found = ["ExactTests", "ScheduleTests", "SyncTests"]
    while let name = found.popLast() {
        guard needed.insert(name).inserted else { continue }
        for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            switch dependency {
            case .byNameItem(let name, _), .targetItem(let name, _): found.append(name)
            default: break
            }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
    for target in package.targets where target.type != .system {
        target.swiftSettings = [.define("MARTLET_SEEDED_BUGS")]
    }
}

// These variables shorten the time between an edit and its tests. MARTLET_TESTS=RuntimeTests,EngineTests builds only
// these test targets. MARTLET_TEST_FILES=Observation,ExpectMessage.swift selects files and folders of the first target.
if let tests = Context.environment["MARTLET_TESTS"]?.split(separator: ",").map(String.init) {
    let unused = package.targets.filter { $0.type == .test && !tests.contains($0.name) }.map(\.name)
    package.targets.removeAll { unused.contains($0.name) }
    if let files = Context.environment["MARTLET_TEST_FILES"]?.split(separator: ",").map(String.init) {
        package.targets.first { $0.name == tests[0] }?.sources = files
    }
}

for target in package.targets where ![.system, .plugin].contains(target.type) {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}
