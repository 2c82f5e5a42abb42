/// Names one file of a schema; the number is its position in the list the compiler was given.
public struct SourceFileID: Hashable, Comparable, Sendable {
    public let index: Int

    public init(_ index: Int) {
        self.index = index
    }

    public static func < (left: SourceFileID, right: SourceFileID) -> Bool {
        left.index < right.index
    }
}

/// A half-open range of bytes in one file: where something stands.
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

    /// The place just before the first byte.
    public var beginning: SourceSpan { SourceSpan(file: file, start: start, end: start) }

    /// The place just behind the last byte.
    public var ending: SourceSpan { SourceSpan(file: file, start: end, end: end) }

    /// The smallest range that holds both.
    public func union(_ other: SourceSpan) -> SourceSpan {
        SourceSpan(file: file, start: Swift.min(start, other.start), end: Swift.max(end, other.end))
    }

    public static func < (left: SourceSpan, right: SourceSpan) -> Bool {
        (left.file.index, left.start, left.end) < (right.file.index, right.start, right.end)
    }
}

/// Something read from the schema together with the place it stands at.
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
