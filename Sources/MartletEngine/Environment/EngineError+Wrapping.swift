import MartletSQLite

extension EngineError {
    /// Runs `body` and converts every error to an `EngineError`. An `EngineError` is rethrown unchanged. Any other
    /// error gets the given path.
    static func wrapping<R>(_ path: String, _ body: () throws -> R) throws(EngineError) -> R {
        do {
            return try body()
        } catch {
            throw wrap(error, path: path)
        }
    }

    package static func wrap(_ error: any Error, path: String) -> EngineError {
        if let error = error as? EngineError { return error }
        if let error = error as? SQLiteError { return EngineError(error, path: path) }
        return EngineError(.inputOutput, path: path, "the file could not be used: \(error)")
    }

    /// True for an `EngineError` or a `SQLiteError`, for which `wrap` creates a meaningful message. For any other
    /// error, this message contains only the description of the error.
    package static func describes(_ error: any Error) -> Bool { error is EngineError || error is SQLiteError }

    /// True if SQLite refused a row because of a constraint.
    package static func isConstraint(_ error: any Error) -> Bool { (error as? SQLiteError)?.primary == .constraint }

    /// True if a SQL function could not decode the elements of a collection.
    package static func isUnreadableCollection(_ error: any Error) -> Bool {
        (error as? SQLiteError)?.message.contains(unreadableCollection) ?? false
    }

    /// True if a SQL function found an invalid number of links from one row to another.
    package static func isMiscountedLink(_ error: any Error) -> Bool {
        (error as? SQLiteError)?.message.contains(miscountedLink) ?? false
    }

    /// The messages of the errors of SQL functions. The first is for an invalid stored number of links from one row to
    /// another. The second is for elements that cannot be decoded.
    package static let miscountedLink = "the stored count of a link is less than 1 or too large"
    package static let unreadableCollection = "the elements of a collection cannot be read"

    /// An error for a part of the file that the engine cannot have written.
    package static func damaged(_ what: String, path: String) -> EngineError {
        EngineError(
            .corrupt, path: path,
            "\(what): the file is damaged; it was left as it is; restore a backup or work on a copy")
    }
}
