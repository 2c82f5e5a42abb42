import ArgumentParser
import MartletCompiler
import MartletSchema
import MartletTools

struct PostgresCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "postgres", abstract: "Write the tables of a schema as SQL for PostgreSQL.",
        discussion: """
            Every object type gets a table, and so does every list, set and map. Embedded objects are JSON. If a type \
            has the key 'sync', only synchronized types get tables. Rules become row level security. Names become \
            snake_case. A schema with errors, with an object type without a primary key, or with names that are equal \
            in SQL is refused. PostgreSQL 14 or newer is needed.

            With '--against', the command writes the migration from an older version of the schema instead. With a git \
            ref, the older version is the merge base of HEAD and the ref. A migration that would lose data is refused; \
            with '--breaking' it is written in two files: 'NAME.expand.sql' is run before programs of the new schema \
            are used, and 'NAME.contract.sql' when no program of the old schema is used any more.
            """)

    @Argument(help: "The schema folder.", completion: .directory)
    var folder: String

    @Option(name: .shortAndLong, help: "The file to write to. The default is standard output.", completion: .file())
    var output: String?

    @Option(help: "A git ref, such as 'origin/main', or a folder with the older version of the schema.")
    var against: String?

    @Flag(help: "Write a migration that loses data, in two files.")
    var breaking = false

    func validate() throws {
        guard breaking else { return }
        guard against != nil else { throw ValidationError("'--breaking' needs '--against'") }
        guard output != nil else {
            throw ValidationError("'--breaking' needs '--output', because it can write two files")
        }
    }

    func run() throws {
        let input = try reportingDiskErrors { () throws(DiskError) in try SourceLoader().load(folder: folder) }
        guard let against else { return try writeTables(input) }
        let former = FormerSchema(folder: folder, against: against)
        guard let old = try former.load() else { return try writeTables(input) }
        try writeMigration(Compiler.migration(input, from: old, losingData: breaking), input, former)
    }

    private func writeTables(_ input: SchemaInput) throws {
        let tables = Compiler.tables(input)
        let text = try tables.document.text(reporting: input)
        try refuse(tables.problems)
        try write([(output, text)])
    }

    private func writeMigration(_ migration: SchemaMigration, _ input: SchemaInput, _ former: FormerSchema) throws {
        guard migration.oldErrors.isEmpty else { throw former.failure(migration.oldErrors, migration.sources) }
        if !migration.diagnostics.isEmpty {
            let printer = DiagnosticPrinter(sources: migration.sources, style: .brief)
            Console.error(printer.text(migration.diagnostics))
        }
        try refuse(migration.problems)
        switch migration.text {
        case nil: throw CommandFailure(.findings)
        case .one(let text): try write([(output, text ?? "-- Nothing to change.\n")])
        case .two(let expand, let contract):
            try write([(named("expand"), expand), (named("contract"), contract)])
        }
    }

    /// The path of one part of a migration: for the part `expand`, `Migrations/2.sql` becomes
    /// `Migrations/2.expand.sql`.
    private func named(_ part: String) -> String? {
        output.map { ($0.hasSuffix(".sql") ? String($0.dropLast(4)) : $0) + ".\(part).sql" }
    }

    private func refuse(_ problems: [String]) throws {
        guard !problems.isEmpty else { return }
        Console.error(problems.map { "\(folder.printable): error: \($0.printable)\n" }.joined())
        throw CommandFailure(.findings)
    }

    /// Writes all files, or no file if an error occurs. A text that is nil is skipped. A text without a path is written
    /// to standard output.
    private func write(_ texts: [(path: String?, text: String?)]) throws {
        var batch = FileBatch(makesFolders: false)
        for case (let path, let text?) in texts {
            guard let path else { return try Console.write(text) }
            batch.replace(path, with: Array(text.utf8))
        }
        let changes = batch
        let written = try reportingDiskErrors { () throws(DiskError) in try changes.commit() }
        let lines = written.map { "wrote \($0.printable)\n" }.joined()
        try Console.write(lines.isEmpty ? "up to date\n" : lines)
    }
}
