/// One diagnostic for the author of a schema. The compiler collects diagnostics, and never throws them. Their texts
/// contain escapes instead of control characters and other invisible characters.
public struct Diagnostic: Hashable, Sendable {
    /// The texts of a diagnostic. All copies of the diagnostic share one instance, because one file can produce tens of
    /// thousands of diagnostics.
    private final class Texts: Hashable, Sendable {
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

        static func == (left: Texts, right: Texts) -> Bool {
            left === right
                || (left.message == right.message && left.label == right.label && left.notes == right.notes
                    && left.help == right.help && left.fixes == right.fixes)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(message) }
    }

    public let code: DiagnosticCode
    public var severity: Severity
    /// The range that the message is about; nil if there is none, for example if a folder contains no schema.
    public let span: SourceSpan?
    private let texts: Texts

    public init(
        _ code: DiagnosticCode, _ message: String, at span: SourceSpan?, label: String? = nil,
        severity: Severity? = nil, notes: [DiagnosticNote] = [], help: String? = nil, fixes: [Fix] = []
    ) {
        self.code = code
        self.severity = severity ?? code.severity
        self.span = span
        texts = Texts(
            message: message.printable, label: label?.printable, notes: notes, help: help?.printable, fixes: fixes)
    }

    /// A text that begins in lower case and has no full stop. It quotes the faulty text, and then says how to correct
    /// it.
    public var message: String { texts.message }
    /// The text beside the carets that mark the range in a report; nil if there is none.
    public var label: String? { texts.label }
    public var notes: [DiagnosticNote] { texts.notes }
    /// A suggestion, such as `did you mean 'String'?`.
    public var help: String? { texts.help }
    /// Alternative fixes, the best one first.
    public var fixes: [Fix] { texts.fixes }

    public var isError: Bool { severity == .error }

    /// The message, followed by the help. The help is left out if the message already ends with it.
    public var messageWithHelp: String {
        guard let help, !message.hasSuffix(help) else { return message }
        return message + "; " + help
    }
}

/// A message about a related place in the sources.
public struct DiagnosticNote: Hashable, Sendable {
    public let message: String
    public let span: SourceSpan?

    public init(_ message: String, at span: SourceSpan? = nil) {
        self.message = message.printable
        self.span = span
    }
}

/// A change of the schema text that removes a diagnostic.
public struct Fix: Hashable, Sendable {
    public enum Applicability: String, Sendable {
        /// A command can apply the fix without asking the author.
        case safe
        /// The author has to decide whether the fix is right.
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

/// A replacement of a range of a file with new text.
public struct Edit: Hashable, Sendable {
    public let span: SourceSpan
    public let replacement: String

    public init(_ span: SourceSpan, _ replacement: String) {
        self.span = span
        self.replacement = replacement
    }
}

extension [Diagnostic] {
    /// The diagnostics, sorted by file, range and code. The order of a report therefore does not depend on the order in
    /// which the compiler stages run.
    public func sortedByLocation() -> [Diagnostic] {
        // A diagnostic is large, so this function sorts small keys, and builds the result from the indices in them.
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
