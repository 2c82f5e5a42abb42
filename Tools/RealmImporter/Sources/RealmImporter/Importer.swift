import MartletCompiler
public import MartletSchema

/// What becomes of a Realm model.
public struct Import: Sendable {
    /// A schema file.
    public struct Output: Hashable, Sendable {
        /// Below the schema folder, with `/`.
        public let path: String
        public let bytes: [UInt8]
    }

    /// In the order of the Swift files; empty where one of them is no Swift.
    public let outputs: [Output]
    /// By file and place.
    public let findings: [Finding]
    public let typeCount: Int

    /// `imported 20 types into 7 files; 3 warnings, 1 note`.
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

/// A mistake of this tool.
public struct ImportFault: Error {
    public let message: String
}

/// From Swift files to schema files: pure values, no disk.
public enum Importer {
    /// - Parameter single: the path of the one file to write; nil gives each Swift file one of its own.
    public static func run(_ sources: [SourceText], single: String? = nil) throws(ImportFault) -> Import {
        let files = sources.map(SourceReader.read)
        let errors = files.flatMap(\.findings.findings).filter { $0.severity == .error }
        guard errors.isEmpty else { return Import(outputs: [], findings: errors.sortedByPlace(), typeCount: 0) }
        let (resolved, resolving) = Resolver.resolve(files)
        var mender = DraftMender(resolved)
        do {
            try mender.mend()
        } catch {
            throw ImportFault(message: error.message)
        }
        var findings = FindingList()
        // Conditions in files without models are none of our business.
        for (file, draft) in zip(files, resolved.files) where !draft.isEmpty { findings.add(file.findings.findings) }
        findings.add(resolving)
        findings.add(mender.findings.findings)
        return Import(
            outputs: try outputs(mender.draft, single: single), findings: findings.findings.sortedByPlace(),
            typeCount: mender.draft.files.map(\.typeCount).reduce(0, +))
    }

    private static func outputs(_ draft: SchemaDraft, single: String?) throws(ImportFault) -> [Import.Output] {
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

    /// In the layout that `martlet format` gives.
    private static func output(
        _ file: FileDraft, of draft: SchemaDraft, _ path: String
    ) throws(ImportFault) -> Import.Output {
        let text = DraftWriter(draft).write(file).text
        let layout = Compiler.format(SourceText(file: SourceFileID(0), path: path, text: text))
        guard let bytes = layout.bytes else {
            throw ImportFault(message: layout.diagnostics.first?.message ?? "a schema file cannot be laid out")
        }
        return Import.Output(path: path, bytes: bytes)
    }
}
