/// An error that occurred while a schema was read from the git history.
public struct GitError: Error, Equatable, CustomStringConvertible {
    /// A text without an uppercase first letter and without a full stop. It names the faulty item in quotes, and then
    /// the fix.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
