/// An error for text that cannot be parsed.
public struct InvalidText: Error, Sendable, CustomStringConvertible {
    /// The text that could not be parsed.
    public let text: String
    /// The format that was expected.
    public let expected: String

    /// A message with the text and what was expected.
    public var description: String { "'\(text)' cannot be read: expected \(expected)" }
}
