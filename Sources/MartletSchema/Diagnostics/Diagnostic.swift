/// One finding for the author of a schema: collected, never thrown. All of its words are printable.
public struct Diagnostic: Hashable, Sendable {
    /// What a file of wrong names has tens of thousands of is shared by the copies.
    private final class Words: Hashable, Sendable {
        let message: String
        let label: String?
        let notes: [DiagnosticNote]
        let help: String?
        let fixes: [Fix]

        init(message: String, label: String?, notes: [DiagnosticNote], help: String?, fixes: [Fix]) {
            self.message = message
            self.label = label
            self.notes = notes
            self.help = help
            self.fixes = fixes
        }

        static func == (left: Words, right: Words) -> Bool {
            left === right
                || (left.message == right.message && left.label == right.label && left.notes == right.notes
                    && left.help == right.help && left.fixes == right.fixes)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(message) }
    }

    public let code: DiagnosticCode
    public var severity: Severity
    /// The very token at fault; nil when there is no file to point into.
    public let span: SourceSpan?
    private let words: Words

    public init(
        _ code: DiagnosticCode, _ message: String, at span: SourceSpan?, label: String? = nil,
        severity: Severity? = nil, notes: [DiagnosticNote] = [], help: String? = nil, fixes: [Fix] = []
    ) {
        self.code = code
        self.severity = severity ?? code.severity
        self.span = span
        words = Words(
            message: message.printable, label: label?.printable, notes: notes, help: help?.printable, fixes: fixes)
    }

    /// Lower case, no full stop, the thing in quotes, then the mend.
    public var message: String { words.message }
    /// Stands beside the carets.
    public var label: String? { words.label }
    public var notes: [DiagnosticNote] { words.notes }
    /// What to do, as a sentence: `did you mean 'String'?`.
    public var help: String? { words.help }
    /// The first is the best; all are alternatives.
    public var fixes: [Fix] { words.fixes }

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
