import MartletSchema

/// The `martlet:ignore` comments of a schema. The table also records which comments have silenced a finding, so that
/// the linter can report the unused comments.
struct IgnoreTable {
    private struct Key: Hashable {
        let file: SourceFileID
        /// The line to which the comment applies; nil for the whole file.
        let line: Int?
        let code: String
    }

    private let entries: [(key: Key, span: SourceSpan)]
    private let keys: Set<Key>
    private var used: Set<Key> = []

    init(_ schema: SchemaModel) {
        entries = schema.files.flatMap { file in
            file.ignores.map { (Key(file: file.file, line: $0.line, code: $0.code.value), $0.code.span) }
        }
        keys = Set(entries.map(\.key))
    }

    /// Whether a comment silences the finding. The comment is recorded as used. If a comment for the line and a comment
    /// for the whole file both silence the finding, only the comment for the line is recorded.
    mutating func silences(_ code: DiagnosticCode, file: SourceFileID, line: Int) -> Bool {
        for line in [line, nil] {
            let key = Key(file: file, line: line, code: code.rawValue)
            guard keys.contains(key) else { continue }
            used.insert(key)
            return true
        }
        return false
    }

    /// Findings about the comments that have not silenced any finding.
    func unused() -> [Diagnostic] {
        entries.filter { !used.contains($0.key) }.map { entry in
            // The findings about comments are created after all comments were applied, so no comment can silence them.
            guard entry.key.code != DiagnosticCode.uselessIgnore.rawValue else {
                return Diagnostic(
                    .uselessIgnore,
                    "a comment cannot silence '\(entry.key.code)'; remove it, or write '\(entry.key.code): off' below "
                        + "'lint:' and 'rules:' in 'martlet.yaml'", at: entry.span)
            }
            return Diagnostic(
                .uselessIgnore, "'martlet:ignore \(entry.key.code)' silences nothing; remove it", at: entry.span,
                label: entry.key.line == nil ? "no such finding in this file" : "no such finding on its line")
        }
    }
}
