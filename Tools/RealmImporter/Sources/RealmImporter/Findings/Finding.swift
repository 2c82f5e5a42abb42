public import MartletSchema

/// Something that the schema says otherwise than the Swift did, or not at all, and how to mend it by hand.
public struct Finding: Hashable, Sendable {
    /// A warning changes what is stored or is called; a note is about code that moves elsewhere.
    public let severity: Severity
    /// Lower case, no full stop, the thing in quotes, then the mend.
    public let message: String
    /// In a Swift file.
    public let span: SourceSpan

    public init(_ severity: Severity, _ message: String, at span: SourceSpan) {
        self.severity = severity
        self.message = message
        self.span = span
    }
}

/// Collects findings; what an inherited property gives again in each subclass counts once.
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
    /// By file and place; those of one place in the order they were found in.
    func sortedByPlace() -> [Finding] {
        enumerated().sorted { left, right in
            (left.element.span.file, left.element.span.start, left.offset)
                < (right.element.span.file, right.element.span.start, right.offset)
        }.map(\.element)
    }
}
