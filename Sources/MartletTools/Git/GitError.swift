/// An error when reading a schema from the git history.
public struct GitError: Error, Equatable, CustomStringConvertible {
    /// In lower case, without a full stop: the faulty item in quotes, then the fix.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
