public import MartletSchema

/// One difference between two schemas that somebody may stumble over.
public struct BreakingChange: Hashable, Sendable {
    public let level: BreakingLevel
    /// Lower case, no full stop, the thing in quotes, then the mend.
    public let message: String
    /// In the new schema; nil when nothing is left there to point at.
    public let span: SourceSpan?
    public let label: String?
    /// In the old schema, mostly.
    public let notes: [DiagnosticNote]
    /// What may be the new name of the thing that is gone, the likeliest first.
    public let renames: [RenameCandidate]
    /// Another way to mend it than the message names.
    public let advice: String?

    public init(
        _ level: BreakingLevel, _ message: String, at span: SourceSpan?, label: String? = nil,
        was old: SourceSpan? = nil, renames: [RenameCandidate] = [], advice: String? = nil
    ) {
        self.level = level
        self.message = message
        self.span = renames.first?.nameSpan ?? span
        self.label = renames.isEmpty ? label : "this is new"
        notes = old.map { [DiagnosticNote("it stood here before", at: $0)] } ?? []
        self.renames = renames
        self.advice = advice
    }

    /// The finding: an error from `level` on, else a note.
    ///
    /// - Parameter sources: the files of the new schema, which mends are written into.
    public func diagnostic(failingFrom level: BreakingLevel, sources: [SourceText]) -> Diagnostic {
        let fixes = renames.compactMap { rename in
            rename.edit(in: sources).map {
                Fix("write 'renamedFrom: \(rename.oldName)' for '\(rename.newName)'", .suggested, [$0])
            }
        }
        return Diagnostic(
            .breakingChange, "breaks \(self.level.rawValue): \(message)", at: span, label: label,
            severity: self.level >= level ? .error : .note, notes: notes, help: help, fixes: fixes)
    }

    private var help: String? {
        guard let first = renames.first else { return advice }
        let names = renames.map { "'\($0.newName)'" }.joined(separator: " or ")
        return "if \(names) is the new name of '\(first.oldName)', write 'renamedFrom: \(first.oldName)' there"
    }
}
