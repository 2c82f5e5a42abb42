/// One finding for the author of a schema: collected, never thrown. All of its words are printable.
public struct Diagnostic: Hashable, Sendable {
    public let code: DiagnosticCode
    public var severity: Severity
    /// Lower case, no full stop, the thing in quotes, then the mend.
    public let message: String
    /// The very token at fault; nil when there is no file to point into.
    public let span: SourceSpan?
    /// Stands beside the carets.
    public let label: String?
    public let notes: [DiagnosticNote]
    /// What to do, as a sentence: `did you mean 'String'?`.
    public let help: String?
    /// The first is the best; all are alternatives.
    public let fixes: [Fix]

    public init(
        _ code: DiagnosticCode, _ message: String, at span: SourceSpan?, label: String? = nil,
        severity: Severity? = nil, notes: [DiagnosticNote] = [], help: String? = nil, fixes: [Fix] = []
    ) {
        self.code = code
        self.severity = severity ?? code.severity
        self.message = message.printable
        self.span = span
        self.label = label?.printable
        self.notes = notes
        self.help = help?.printable
        self.fixes = fixes
    }

    public var isError: Bool { severity == .error }

    /// The message, with the help behind it unless it says the same again.
    public var sentence: String {
        guard let help, !message.hasSuffix(help) else { return message }
        return message + "; " + help
    }
}

/// A place related to a finding.
public struct DiagnosticNote: Hashable, Sendable {
    public let message: String
    public let span: SourceSpan?

    public init(_ message: String, at span: SourceSpan? = nil) {
        self.message = message.printable
        self.span = span
    }
}

/// A mend of the schema text.
public struct Fix: Hashable, Sendable {
    public enum Applicability: String, Sendable {
        /// May be applied without asking.
        case safe
        /// For a person to choose.
        case suggested
    }

    public let title: String
    public let applicability: Applicability
    public let edits: [Edit]

    public init(_ title: String, _ applicability: Applicability, _ edits: [Edit]) {
        self.title = title.printable
        self.applicability = applicability
        self.edits = edits
    }
}

/// Replaces a range of a file by other text.
public struct Edit: Hashable, Sendable {
    public let span: SourceSpan
    public let replacement: String

    public init(_ span: SourceSpan, _ replacement: String) {
        self.span = span
        self.replacement = replacement
    }
}

extension [Diagnostic] {
    /// By file and place, then code: the order of every report, whatever the order of the stages was.
    public func sortedByPlace() -> [Diagnostic] {
        // Findings are large, so their places are sorted in their stead.
        let keys = indices.map { index in
            let span = self[index].span
            return (
                file: span?.file.index ?? Int.min, start: span?.start ?? 0, end: span?.end ?? 0, code: self[index].code,
                index: index
            )
        }
        return keys.sorted { left, right in
            if (left.file, left.start, left.end) != (right.file, right.start, right.end) {
                return (left.file, left.start, left.end) < (right.file, right.start, right.end)
            }
            return left.code == right.code ? left.index < right.index : left.code < right.code
        }.map { self[$0.index] }
    }
}
