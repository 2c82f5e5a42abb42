/// Identifies one file of a schema by its position in the compiler's input.
public struct SourceFileID: Hashable, Comparable, Sendable {
    public let index: Int

    public init(_ index: Int) {
        self.index = index
    }

    public static func < (left: SourceFileID, right: SourceFileID) -> Bool {
        left.index < right.index
    }
}

/// A half-open range of bytes in one file.
public struct SourceSpan: Hashable, Comparable, Sendable {
    public let file: SourceFileID
    public let start: Int
    public let end: Int

    public init(file: SourceFileID, start: Int, end: Int) {
        self.file = file
        self.start = start
        self.end = Swift.max(start, end)
    }

    public var isEmpty: Bool { start == end }

    /// An empty span before the first byte of this span.
    public var beginning: SourceSpan { SourceSpan(file: file, start: start, end: start) }

    /// An empty span after the last byte of this span.
    public var ending: SourceSpan { SourceSpan(file: file, start: end, end: end) }

    /// The smallest span that contains both spans.
    public func union(_ other: SourceSpan) -> SourceSpan {
        SourceSpan(file: file, start: Swift.min(start, other.start), end: Swift.max(end, other.end))
    }

    public static func < (left: SourceSpan, right: SourceSpan) -> Bool {
        (left.file.index, left.start, left.end) < (right.file.index, right.start, right.end)
    }
}

/// A value that was read from the schema, and its source range.
public struct Spanned<Value: Sendable>: Sendable {
    public let value: Value
    public let span: SourceSpan

    public init(_ value: Value, _ span: SourceSpan) {
        self.value = value
        self.span = span
    }
}

extension Spanned: Equatable where Value: Equatable {}
extension Spanned: Hashable where Value: Hashable {}
