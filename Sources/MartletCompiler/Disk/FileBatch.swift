import Foundation
import MartletSchema

/// Changes of files, all of which happen or none.
///
/// New bytes go to files beside those that they are for, and are renamed when all of them are written. What fails later is
/// undone: earlier files get their bytes back, new files and folders go. So a full disk leaves no file empty, cut off or
/// newer than the others, and no reader sees half of a file.
///
///     var batch = FileBatch()
///     batch.replace("Out/Dog.swift", with: bytes)
///     batch.remove("Out/Cat.swift")
///     let changed = try batch.commit()
public struct FileBatch {
    enum Change {
        case replace([UInt8])
        /// Nothing may stand there.
        case create([UInt8])
        case remove
    }

    private var changes: [(path: String, change: Change)] = []
    private let isReproducible: Bool
    private let makesFolders: Bool
    /// Asked before each call that changes the disk; another number than 0 is the `errno` of a call that fails. For tests.
    private let failure: (() -> CInt)?

    /// - Parameters:
    ///   - isReproducible: the bytes can be made again, so that no command waits for the disk.
    ///   - makesFolders: whether folders that are missing are made; else it is an error that they are.
    public init(isReproducible: Bool = false, makesFolders: Bool = true) {
        self.init(isReproducible: isReproducible, makesFolders: makesFolders, failure: nil)
    }

    init(isReproducible: Bool = false, makesFolders: Bool = true, failure: (() -> CInt)?) {
        self.isReproducible = isReproducible
        self.makesFolders = makesFolders
        self.failure = failure
    }

    /// Gives a file other bytes, or makes it. Permissions are kept, and a symbolic link still
    /// leads to the file. A file whose bytes are right already is not touched.
    public mutating func replace(_ path: String, with bytes: [UInt8]) {
        changes.append((path, .replace(bytes)))
    }

    /// Makes a file; one that has come up meanwhile is not overwritten.
    public mutating func create(_ path: String, with bytes: [UInt8]) {
        changes.append((path, .create(bytes)))
    }

    /// Removes a file.
    public mutating func remove(_ path: String) {
        changes.append((path, .remove))
    }

    /// Makes the changes.
    ///
    /// Signals that end a program wait until it is done.
    ///
    /// - Returns: the paths of the files that have changed.
    /// - Throws: when a change fails; then none was made.
    public func commit() throws(DiskError) -> [String] {
        var signals = sigset_t()
        var former = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        var commit = FileCommit(isReproducible: isReproducible, makesFolders: makesFolders, failure: failure)
        do throws(DiskError) {
            for (path, change) in changes { try commit.prepare(path, change) }
            return try commit.perform()
        } catch {
            throw commit.undo(after: error)
        }
    }

    /// One file in a folder that is there, whole or not at all.
    ///
    /// - Returns: whether anything was written.
    public static func replace(_ path: String, with bytes: [UInt8]) throws(DiskError) -> Bool {
        var batch = FileBatch(makesFolders: false)
        batch.replace(path, with: bytes)
        return try !batch.commit().isEmpty
    }
}
