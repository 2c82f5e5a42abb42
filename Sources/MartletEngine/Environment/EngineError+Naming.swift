import MartletSQLite

extension EngineError {
    /// Runs `body` and names whatever it throws in the words of a user of the file.
    static func naming<R>(_ path: String, _ body: () throws -> R) throws(EngineError) -> R {
        do {
            return try body()
        } catch {
            throw named(error, path: path)
        }
    }

    package static func named(_ error: any Error, path: String) -> EngineError {
        if let error = error as? EngineError { return error }
        if let error = error as? SQLiteError { return EngineError(error, path: path) }
        return EngineError(.inputOutput, path: path, "the file could not be used: \(error)")
    }

    /// What SQL functions say of the elements of a collection that are none.
    package static let unreadableCollection = "the elements of a collection cannot be read"

    /// Part of the file cannot be what the engine wrote.
    package static func damaged(_ what: String, path: String) -> EngineError {
        EngineError(
            .corrupt, path: path,
            "\(what): the file is damaged; it was left as it is; restore a backup or work on a copy")
    }
}
