/// An error for text that cannot be parsed.
public struct InvalidText: Error, Sendable, CustomStringConvertible {
    /// The text that could not be parsed.
    public let text: String
    /// What was expected instead.
    public let expected: String

    /// A message with the text and what was expected.
    public var description: String { "'\(text)' cannot be read: expected \(expected)" }
}
