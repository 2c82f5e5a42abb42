/// What stands between a schema and its history.
public struct GitError: Error, Equatable, CustomStringConvertible {
    /// Lower case, no full stop, the thing in quotes, then the mend.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
