import Foundation
import MartletSchema

/// A group of file changes that are applied completely or not at all.
///
/// New contents are first written to temporary files in the folders of their targets. After all temporary files are
/// written, they are renamed to their targets. If a later step fails, the earlier steps are undone: replaced files get
/// their previous contents, and new files and folders are removed. If the disk is full, no file is therefore empty or
/// truncated, and all files have their previous contents. No reader sees a partial file.
///
///     var batch = FileBatch()
///     batch.replace("Out/Dog.swift", with: bytes)
///     batch.remove("Out/Cat.swift")
///     let changed = try batch.commit()
public struct FileBatch {
    enum Change {
        case replace([UInt8])
        /// The file must not exist.
        case create([UInt8])
        case remove
    }

    private var changes: [(path: String, change: Change)] = []
    private let isReproducible: Bool
    private let makesFolders: Bool
    /// Tests set this closure to make system calls fail. It is called before each system call that applies a change. If
    /// its result is not 0, the system call is not made, and fails with this `errno`.
    private let injectedError: (() -> CInt)?

    /// - Parameters:
    ///   - isReproducible: whether the contents can be generated again. If so, `commit` does not call `fsync`.
    ///   - makesFolders: whether missing folders are created. Otherwise a missing folder is an error.
    public init(isReproducible: Bool = false, makesFolders: Bool = true) {
        self.init(isReproducible: isReproducible, makesFolders: makesFolders, injectedError: nil)
    }

    init(isReproducible: Bool = false, makesFolders: Bool = true, injectedError: (() -> CInt)?) {
        self.isReproducible = isReproducible
        self.makesFolders = makesFolders
        self.injectedError = injectedError
    }

    /// Replaces the contents of a file, or creates the file. Permissions are kept, and a symbolic link continues to
    /// refer to its target. A file that already has these contents is not written.
    public mutating func replace(_ path: String, with bytes: [UInt8]) {
        changes.append((path, .replace(bytes)))
    }

    /// Creates a file. If a file exists at the path when the batch is committed, the commit fails and leaves this file
    /// unchanged.
    public mutating func create(_ path: String, with bytes: [UInt8]) {
        changes.append((path, .create(bytes)))
    }

    /// Removes a file.
    public mutating func remove(_ path: String) {
        changes.append((path, .remove))
    }

    /// Applies the changes.
    ///
    /// The signals SIGINT, SIGTERM and SIGHUP are blocked until the call returns, so that they cannot end the process
    /// between two changes.
    ///
    /// - Returns: the paths of the changed files.
    /// - Throws: an error if a change fails. The earlier changes are then undone. If a file cannot be restored, the
    ///   error names this file, and the backup file that contains its old contents.
    public func commit() throws(DiskError) -> [String] {
        var signals = sigset_t()
        var former = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        var commit = FileCommit(
            isReproducible: isReproducible, makesFolders: makesFolders, injectedError: injectedError)
        do throws(DiskError) {
            for (path, change) in changes { try commit.prepare(path, change) }
            return try commit.perform()
        } catch {
            throw commit.undo(after: error)
        }
    }

    /// Replaces one file in an existing folder, completely or not at all.
    ///
    /// - Returns: whether the file was written.
    public static func replace(_ path: String, with bytes: [UInt8]) throws(DiskError) -> Bool {
        var batch = FileBatch(makesFolders: false)
        batch.replace(path, with: bytes)
        return try !batch.commit().isEmpty
    }
}
