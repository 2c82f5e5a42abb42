public import MartletSchema

/// A difference between two schemas that breaks stored data, code or queries.
public struct BreakingChange: Hashable, Sendable {
    public let level: BreakingLevel
    /// Describes the change and then, after a semicolon, the fix. The text has no uppercase first letter and no full
    /// stop.
    public let message: String
    /// The affected range in the new schema. If an item was removed, this is the range of its most likely new name. If
    /// no new name is likely, this is the range of the name of the declaration that contained the item. nil if a whole
    /// declaration was removed, and no new name is likely.
    public let span: SourceSpan?
    public let label: String?
    /// Notes, which usually refer to the old schema.
    public let notes: [DiagnosticNote]
    /// Possible new names of the removed item, the most likely first.
    public let renames: [RenameCandidate]
    /// An alternative to the fix in the message. It is shown only if `renames` is empty.
    public let advice: String?

    public init(
        _ level: BreakingLevel, _ message: String, at span: SourceSpan?, label: String? = nil,
        was old: SourceSpan? = nil, renames: [RenameCandidate] = [], advice: String? = nil
    ) {
        self.level = level
        self.message = message
        self.span = renames.first?.nameSpan ?? span
        self.label = renames.isEmpty ? label : "this is new"
        notes = old.map { [DiagnosticNote("it was declared here", at: $0)] } ?? []
        self.renames = renames
        self.advice = advice
    }

    /// The diagnostic for this change.
    ///
    /// - Parameters:
    ///   - level: the lowest level that is an error. Changes of a lower level are notes.
    ///   - sources: the files of the new schema, to which the fixes apply.
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
