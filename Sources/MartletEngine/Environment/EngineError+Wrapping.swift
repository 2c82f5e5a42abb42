import MartletSQLite

extension EngineError {
    /// Runs `body` and converts every error to an `EngineError` whose message names the file.
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

    /// Messages of SQL functions for an invalid stored count of a link, and for elements that cannot be decoded.
    package static let miscountedLink = "a link is counted less than once or too often"
    package static let unreadableCollection = "the elements of a collection cannot be read"

    /// An error for a part of the file that the engine cannot have written.
    package static func damaged(_ what: String, path: String) -> EngineError {
        EngineError(
            .corrupt, path: path,
            "\(what): the file is damaged; it was left as it is; restore a backup or work on a copy")
    }
}
