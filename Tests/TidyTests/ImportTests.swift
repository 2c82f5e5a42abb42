import Testing

/// The allowed imports. The compiler side and the runtime side do not import each other, and no module imports a higher
/// module.
enum ImportTable {
    /// The modules of swift-nio. Only code with the trait 'Sync' imports them.
    private static let networkModules: Set = ["NIOCore", "NIOHTTP1", "NIOPosix", "NIOWebSocket"]

    /// The allowed imports of each module under `Sources`.
    static let allowed: [String: Set<String>] = [
        // The runtime side knows SQL and Swift, but not YAML.
        "MartletValues": [],
        "MartletSQLite": [
            "MartletValues", "CMartletSQLite", "CMartletLogVFS", "CMartletMemoryVFS", "Synchronization",
        ],
        "MartletEngine": systemModules.union([
            "MartletValues", "MartletSQLite", "CMartletRuntime", "CMartletColumns", "Foundation",
        ]),
        "Martlet": systemModules.union([
            "MartletValues", "MartletEngine", "CMartletRuntime", "Foundation", "Observation", "Combine",
        ]),
        "MartletCombine": ["Martlet", "Combine", "OpenCombine", "Dispatch", "Foundation"],
        "MartletSyncProtocol": ["MartletValues", "MartletEngine", "Crypto"],
        "MartletSync": networkModules.union([
            "Martlet", "MartletSyncProtocol", "MartletEngine", "MartletValues", "Foundation", "Synchronization",
            "Dispatch",
            "NIOSSL",
        ]),
        "MartletPostgres": systemModules.union(["MartletValues", "CMartletPostgres", "Foundation"]),
        "MartletSyncService": networkModules.union([
            "MartletSyncProtocol", "MartletPostgres", "MartletEngine", "MartletValues", "Foundation", "Synchronization",
            "NIOSSL", "JWTKit",
        ]),
        "MartletSyncTool": [
            "MartletSyncService", "MartletSyncProtocol", "MartletPostgres", "ArgumentParser", "Foundation", "Logging",
            "ServiceLifecycle", "UnixSignals",
        ],

        // The compiler side knows YAML and Swift. Only MartletTables knows SQL.
        "MartletSchema": [],
        "MartletFrontend": ["MartletSchema", "CMartletYAML"],
        "MartletBackend": ["MartletSchema"],
        "MartletLint": ["MartletSchema"],
        "MartletDocs": ["MartletSchema"],
        "MartletTables": ["MartletSchema"],
        "MartletCompiler": systemModules.union([
            "MartletSchema", "MartletFrontend", "MartletBackend", "Foundation",
        ]),
        "MartletGenerator": systemModules.union(["MartletCompiler", "MartletSchema", "Foundation"]),
        "MartletTools": systemModules.union([
            "MartletCompiler", "MartletSchema", "MartletFrontend", "MartletLint", "MartletBackend", "MartletDocs",
            "MartletTables", "Foundation",
        ]),
        "MartletCLI": systemModules.union([
            "MartletTools", "MartletCompiler", "MartletSchema", "MartletBackend", "MartletDocs", "ArgumentParser",
            "Foundation",
        ]),
    ]
    static let allowedInPlugins: Set<String> = ["PackagePlugin", "Foundation"]
    static let allowedInGenerated: Set<String> = ["Martlet", "Foundation"]

    /// The modules that a module may import with `public import`, because its interface uses them.
    static let publicImports: [String: Set<String>] = [
        "Martlet": ["CMartletRuntime", "Foundation", "Dispatch", "Observation", "Combine"],
        "MartletCombine": ["Martlet", "Combine", "OpenCombine", "Dispatch"],
        "MartletSync": ["Martlet", "Foundation"],
        "MartletFrontend": ["MartletSchema"],
        "MartletLint": ["MartletSchema"],
        "MartletBackend": ["MartletSchema"],
        "MartletDocs": ["MartletSchema"],
        "MartletTables": ["MartletSchema"],
        "MartletCompiler": ["MartletSchema", "MartletBackend"],
        "MartletTools": ["MartletSchema", "MartletBackend", "MartletCompiler", "MartletDocs"],
    ]

    /// Modules that only one file may import.
    static let importedByOneFile = ["CMartletYAML"]

    /// Modules that must not declare public symbols.
    static let modulesWithoutPublicSymbols = [
        "MartletValues", "MartletSQLite", "MartletEngine", "MartletSyncProtocol", "MartletPostgres",
    ]

    /// Folders whose files are compiled only with a trait of the package, because they need libraries that are not
    /// installed everywhere.
    static let foldersOfTrait = [
        "Sources/MartletPostgres/Connection": "Postgres", "Sources/MartletSyncService/Database": "Postgres",
        "Sources/MartletSyncService/Tokens": "Sync", "Sources/MartletSyncTool/Commands": "Sync",
        "Sources/MartletSyncTool/Configuration": "Sync",
        "Tests/PostgresTests/Connection": "Postgres", "Tests/PostgresTests/Database": "Postgres",
        "Tests/PostgresTests/Support": "Postgres", "Tests/PostgresTests/System": "Postgres",
        "Tests/PostgresTests/Values": "Postgres", "Tests/PostgresTests/Tool": "Sync",
    ]

    static let systemModules: Set<String> = ["Synchronization", "Dispatch", "Glibc", "Musl", "Darwin"]
}

/// One import declaration.
struct ImportDeclaration: Equatable {
    let module: String
    let isPublic: Bool
    let line: Int

    private static let kinds: Set<Substring> = [
        "struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor",
    ]

    static func all(in file: SwiftFile) -> [ImportDeclaration] {
        let tokens = file.tokens
        return tokens.indices.compactMap { index in
            guard tokens[index].text == "import" else { return nil }
            let sameLine = tokens[index...].prefix { $0.line == tokens[index].line }.dropFirst()
            guard let module = sameLine.first(where: { $0.isWord && !kinds.contains($0.text) }) else { return nil }
            let isPublic = index > 0 && tokens[index - 1].text == "public"
            return ImportDeclaration(module: String(module.text), isPublic: isPublic, line: tokens[index].line)
        }
    }
}

@Suite("imports")
struct ImportTests {
    @Test("modules import only modules below them")
    func importTable() {
        let generated = Repository.files.filter { $0.isSwift && $0.isUnder("Generated") }.map { SwiftFile($0) }
        expectTidy((Repository.swiftFiles + generated).flatMap(Self.findings))
    }

    @Test("libyaml is imported by one file")
    func oneFileImports() {
        for module in ImportTable.importedByOneFile {
            let importing = Repository.sources.filter { file in
                ImportDeclaration.all(in: file).contains { $0.module == module }
            }
            expectTidy(
                importing.dropFirst().map {
                    Finding(
                        path: $0.path, line: 1, what: "imports '\(module)', as '\(importing[0].path)' does",
                        fix: "use it in one file only")
                })
        }
    }

    @Test("files that need libpq or a network library are compiled only with a trait of the package")
    func filesOfTraits() {
        for (folder, trait) in ImportTable.foldersOfTrait {
            let files = Repository.swiftFiles.filter { $0.file.isUnder(folder) }
            #expect(!files.isEmpty)
            expectTidy(
                files.filter { !$0.file.text.hasPrefix("#if \(trait)\n") || !$0.file.text.hasSuffix("\n#endif\n") }.map
                {
                    Finding(
                        path: $0.path, line: 1, what: "is compiled without the trait '\(trait)'",
                        fix: "put the whole file into '#if \(trait)'")
                })
        }
        let outside = Repository.swiftFiles.filter { file in
            !ImportTable.foldersOfTrait.keys.contains { file.file.isUnder($0) }
                && ImportDeclaration.all(in: file).contains { $0.module == "CMartletPostgres" }
        }
        #expect(outside.isEmpty)
    }

    @Test("every module under Sources is in the import table")
    func everyModuleIsListed() {
        let modules = Set(Repository.sources.compactMap(\.file.module))
        #expect(modules.subtracting(ImportTable.allowed.keys).isEmpty)
    }

    @Test(
        "the generator uses only the compiler, frontend, backend and schema modules, Foundation, libyaml and system modules, and stays small S33"
    )
    func generatorDependencies() {
        let modules = Dictionary(grouping: Repository.sources) { $0.file.module ?? "" }
        var seen: Set<String> = ["MartletGenerator"]
        var pending = seen
        while let module = pending.popFirst() {
            let imports = (modules[module] ?? []).flatMap { ImportDeclaration.all(in: $0).map(\.module) }
            pending.formUnion(Set(imports).subtracting(seen))
            seen.formUnion(imports)
        }
        let outside = seen.filter { !$0.hasPrefix("Martlet") }.subtracting(ImportTable.systemModules)
        #expect(outside == ["Foundation", "CMartletYAML"])
        let ours = seen.filter { $0.hasPrefix("Martlet") }
        #expect(
            ours == ["MartletGenerator", "MartletCompiler", "MartletFrontend", "MartletBackend", "MartletSchema"])
        let lines = ours.flatMap { modules[$0] ?? [] }.reduce(0) { count, file in
            count + file.file.text.utf8.count { $0 == 0x0A }
        }
        #expect(lines <= 12_000, "every package with the plugin compiles these lines; move code to MartletTools")
    }

    @Test("the typed API contains no SQL")
    func noSQL() {
        let keywords = [
            "SELECT ", "INSERT ", "UPDATE ", "DELETE ", "CREATE ", "DROP ", "PRAGMA ", "SAVEPOINT ", " WHERE ",
        ]
        let files = Repository.sources.filter { $0.file.isUnder("Sources/Martlet") }
        #expect(!files.isEmpty)
        expectTidy(
            files.flatMap { file in
                file.file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap {
                    number, line in
                    let isSQL = keywords.contains { line.contains("\"\($0)") || line.contains(" \($0)\\(") }
                    guard isSQL, !line.contains("//") else { return nil }
                    return Finding(
                        path: file.path, line: number + 1, what: "is SQL in the typed API",
                        fix: "move the statement to MartletEngine/Rows")
                }
            })
    }

    @Test("the values, SQLite, engine, PostgreSQL and sync protocol modules declare no public symbol")
    func noPublicSymbols() {
        let files = Repository.sources.filter { file in
            ImportTable.modulesWithoutPublicSymbols.contains { file.file.isUnder("Sources/\($0)") }
        }
        expectTidy(files.flatMap(Self.publicSymbols))
    }

    static func findings(in file: SwiftFile) -> [Finding] {
        guard let module = file.file.module, let allowed = allowed(for: file) else { return [] }
        let imports = ImportDeclaration.all(in: file)
        let forbidden = imports.filter { !allowed.contains($0.module) }.map {
            Finding(
                path: file.path, line: $0.line, what: "\(module) may not import '\($0.module)'",
                fix: "move the code to a module that may import it, or move the API to a lower module")
        }
        let allowedPublic = ImportTable.publicImports[module, default: []]
        let isSource = file.file.isUnder("Sources")
        let forbiddenPublic = imports.filter { isSource && $0.isPublic && !allowedPublic.contains($0.module) }.map {
            Finding(
                path: file.path, line: $0.line, what: "\(module) may not import '\($0.module)' publicly",
                fix: "drop 'public' from the import")
        }
        return forbidden + forbiddenPublic
    }

    private static func allowed(for file: SwiftFile) -> Set<String>? {
        if file.file.isUnder("Plugins") { return ImportTable.allowedInPlugins }
        if file.file.isUnder("Generated") { return ImportTable.allowedInGenerated }
        if file.file.isUnder("Sources") { return file.file.module.map { ImportTable.allowed[$0, default: []] } }
        return nil
    }

    static func publicSymbols(in file: SwiftFile) -> [Finding] {
        let tokens = file.tokens
        let declaring: Set<Substring> = ["class", "func", "var"]
        return tokens.indices.compactMap { index in
            let isMember = index > 0 && tokens[index - 1].text == "."
            let isOpen =
                tokens[index].text == "open" && index + 1 < tokens.count
                && declaring.contains(tokens[index + 1].text)
            guard !isMember, tokens[index].text == "public" || isOpen else { return nil }
            return Finding(
                path: file.path, line: tokens[index].line,
                what: "'\(tokens[index].text)' in a module without public symbols",
                fix: "use 'package' or less access")
        }
    }
}
