public import MartletSchema

/// A difference between the schema and the Swift code, and how to handle it.
public struct Finding: Hashable, Sendable {
    /// An error prevents the import, a warning is about stored data or names, and a note is about code that must move.
    public let severity: Severity
    /// The message names its subject in quotes, and then says what to do. It has no initial capital and no full stop.
    public let message: String
    /// The location in a Swift file.
    public let span: SourceSpan

    public init(_ severity: Severity, _ message: String, at span: SourceSpan) {
        self.severity = severity
        self.message = message
        self.span = span
    }
}

/// Collects findings without duplicates. There are duplicates because an inherited property causes an equal finding in
/// each subclass.
struct FindingList {
    private(set) var findings: [Finding] = []
    private var known: Set<Finding> = []

    mutating func add(_ severity: Severity, _ message: String, at span: SourceSpan) {
        let finding = Finding(severity, message, at: span)
        if known.insert(finding).inserted { findings.append(finding) }
    }

    mutating func warn(_ message: String, at span: SourceSpan) { add(.warning, message, at: span) }

    mutating func note(_ message: String, at span: SourceSpan) { add(.note, message, at: span) }

    mutating func add(_ others: [Finding]) {
        for finding in others where known.insert(finding).inserted { findings.append(finding) }
    }
}

extension [Finding] {
    /// Returns the findings sorted by file and location. Findings of one location keep their order.
    func sortedByLocation() -> [Finding] {
        enumerated().sorted { left, right in
            (left.element.span.file, left.element.span.start, left.offset)
                < (right.element.span.file, right.element.span.start, right.offset)
        }.map(\.element)
    }
}
