/// Text that is not the value it should be.
public struct InvalidText: Error, Sendable, CustomStringConvertible {
    /// The text as given.
    public let text: String
    /// What was expected instead.
    public let expected: String

    /// The text and what was expected.
    public var description: String { "'\(text)' cannot be read: expected \(expected)" }
}
