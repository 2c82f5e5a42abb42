/// An error for text that cannot be parsed.
public struct InvalidText: Error, Sendable, CustomStringConvertible {
    /// The text as given.
    public let text: String
    /// What was expected instead.
    public let expected: String

    /// The text and what was expected.
    public var description: String { "'\(text)' cannot be read: expected \(expected)" }
}
