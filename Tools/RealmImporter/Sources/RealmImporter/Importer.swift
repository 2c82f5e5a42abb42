import MartletCompiler
public import MartletSchema
import MartletTools

/// The result of importing a Realm model.
public struct Import: Sendable {
    /// A schema file.
    public struct Output: Hashable, Sendable {
        /// The path relative to the schema folder, with `/` as separator.
        public let path: String
        public let bytes: [UInt8]
    }

    /// The schema files, in the order of the Swift files; empty if a Swift file has a syntax error.
    public let outputs: [Output]
    /// The findings, sorted by file and location.
    public let findings: [Finding]
    public let typeCount: Int

    /// A line such as `imported 20 types into 7 files; 3 warnings, 1 note`.
    public var summary: String {
        let list = [Severity.error, .warning, .note].compactMap { severity in
            Self.counted(findings.count { $0.severity == severity }, severity.rawValue)
        }
        let types = Self.counted(typeCount, "type") ?? "no types"
        let files = Self.counted(outputs.count, "file").map { " into \($0)" } ?? ""
        return "imported \(types)\(files)" + (list.isEmpty ? "" : "; " + list.joined(separator: ", "))
    }

    private static func counted(_ count: Int, _ word: String) -> String? {
        count == 0 ? nil : "\(count) \(word)\(count == 1 ? "" : "s")"
    }
}

/// An internal error, which is a bug of this tool.
public struct ImporterError: Error {
    public let message: String
}

/// Converts Swift files to schema files without accessing the disk.
public enum Importer {
    /// - Parameter single: the path of the only file to write; nil writes one schema file for each Swift file.
    public static func run(_ sources: [SourceText], single: String? = nil) throws(ImporterError) -> Import {
        let files = sources.map(SourceReader.read)
        let errors = files.flatMap(\.findings.findings).filter { $0.severity == .error }
        guard errors.isEmpty else { return Import(outputs: [], findings: errors.sortedByLocation(), typeCount: 0) }
        let (draft, resolverFindings) = Resolver.resolve(files)
        var fixer = DraftFixer(draft)
        do {
            try fixer.fix()
        } catch {
            throw ImporterError(message: error.message)
        }
        var findings = FindingList()
        // Findings of the reader, such as those about `#if`, are irrelevant in files without models.
        for (file, fileDraft) in zip(files, draft.files) where !fileDraft.isEmpty {
            findings.add(file.findings.findings)
        }
        findings.add(resolverFindings)
        findings.add(fixer.findings.findings)
        return Import(
            outputs: try outputs(fixer.draft, single: single), findings: findings.findings.sortedByLocation(),
            typeCount: fixer.draft.files.map(\.typeCount).reduce(0, +))
    }

    private static func outputs(_ draft: SchemaDraft, single: String?) throws(ImporterError) -> [Import.Output] {
        let files = draft.files.filter { !$0.isEmpty }
        guard let first = files.first else { return [] }
        guard let single else {
            let paths = OutputPaths.paths(for: files.map(\.source.relativePath))
            var outputs: [Import.Output] = []
            for (file, path) in zip(files, paths) { outputs.append(try output(file, of: draft, path)) }
            return outputs
        }
        var all = FileDraft(source: first.source)
        for file in files {
            all.enums += file.enums
            all.objects += file.objects
            all.projections += file.projections
        }
        return [try output(all, of: draft, single)]
    }

    /// Returns a schema file in the format of `martlet format`.
    private static func output(
        _ file: FileDraft, of draft: SchemaDraft, _ path: String
    ) throws(ImporterError) -> Import.Output {
        let text = DraftWriter(draft).write(file).text
        let layout = Compiler.format(SourceText(file: SourceFileID(0), path: path, text: text))
        guard let bytes = layout.bytes else {
            throw ImporterError(message: layout.diagnostics.first?.message ?? "a schema file cannot be formatted")
        }
        return Import.Output(path: path, bytes: bytes)
    }
}
