import Foundation
import MartletSchema

/// Applies one `FileBatch`, and records how to undo it.
struct FileCommit {
    /// A file to change.
    private struct Step {
        /// The path that the caller specified.
        let path: String
        /// The path that is changed. If `path` is a symbolic link and the file is replaced, this is the target of the
        /// link. Otherwise it is `path`.
        let target: String
        /// The temporary file with the new contents; nil if the step removes the file.
        let temporary: String?
        /// Whether the file exists and has to be restored on failure.
        let existed: Bool
        let mustBeNew: Bool
    }

    private enum Undo {
        case removeFile(String)
        case removeFolder(String)
        /// Restores the previous file, which is kept under a temporary name.
        case restore(String, from: String)
    }

    /// Whether the contents can be generated again. If so, `fsync` is not called.
    private let isReproducible: Bool
    private let makesFolders: Bool
    private let injectedError: (() -> CInt)?
    private var steps: [Step] = []
    private var undos: [Undo] = []
    /// The new contents of each replaced file. The key is the real path, because two paths can refer to the same file.
    private var planned: [String: [UInt8]] = [:]
    private var nameCount = 0

    init(isReproducible: Bool, makesFolders: Bool, injectedError: (() -> CInt)?) {
        self.isReproducible = isReproducible
        self.makesFolders = makesFolders
        self.injectedError = injectedError
    }

    // MARK: Writing temporary files

    mutating func prepare(_ path: String, _ change: FileBatch.Change) throws(DiskError) {
        switch change {
        case .remove:
            steps.append(Step(path: path, target: path, temporary: nil, existed: true, mustBeNew: false))
        case .create(let bytes):
            guard FileSystem.kind(of: path, followingLinks: false) == nil else {
                throw DiskError(path: path, failure: Self.writeFailure, code: EEXIST)
            }
            try add(path, at: path, bytes, mode: nil, mustBeNew: true)
        case .replace(let bytes):
            let target = try target(of: path)
            let real = FileSystem.realPath(target)
            let status = FileSystem.status(of: target)
            guard try !alreadyHasContents(path, target, status, bytes), planned[real] != bytes else { return }
            planned[real] = bytes
            try add(path, at: target, bytes, mode: status.map { $0.st_mode & 0o7777 }, mustBeNew: false)
        }
    }

    private func alreadyHasContents(
        _ path: String, _ target: String, _ status: stat?, _ bytes: [UInt8]
    ) throws(DiskError) -> Bool {
        guard let status else { return false }
        switch FileSystem.kind(status) {
        case .file: return status.st_size == bytes.count && (try? FileSystem.bytes(of: target)) == bytes
        case .folder: throw DiskError(path: path, failure: Self.writeFailure, code: EISDIR)
        case .link: throw DiskError(path: path, failure: Self.writeFailure, code: ELOOP)
        case .other(let kind): throw DiskError(path: path, reason: "\(Self.writeFailure): this is \(kind); name a file")
        }
    }

    /// The path itself if its last component is not a symbolic link. Otherwise the target of the link, after further
    /// links have been resolved in the same way. The file at the resulting path can be missing.
    private func target(of path: String) throws(DiskError) -> String {
        var target = path
        for _ in 0..<40 {
            guard FileSystem.kind(of: target, followingLinks: false) == .link else { return target }
            let link = target.withSystemPath { path in
                var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
                let count = readlink(path, &buffer, buffer.count)
                return buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:))
            }
            let text = FileName.text(of: link)
            target = FileSystem.isAbsolute(text) ? text : FileSystem.join(FileSystem.parent(of: target), text)
        }
        throw DiskError(path: path, failure: Self.writeFailure, code: ELOOP)
    }

    private mutating func add(
        _ path: String, at target: String, _ bytes: [UInt8], mode: mode_t?, mustBeNew: Bool
    ) throws(DiskError) {
        if makesFolders { try makeFolder(FileSystem.parent(of: target)) }
        let temporary = try makeTemporary(beside: target, path) { name in
            open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
        }
        undos.append(.removeFile(temporary.name))
        let written = fill(temporary.result, with: bytes, mode: mode)
        let closed = close(temporary.result) == 0 ? 0 : errno
        if let code = [written, closed].first(where: { $0 != 0 }) {
            throw DiskError(path: path, failure: Self.writeFailure, code: code)
        }
        steps.append(
            Step(path: path, target: target, temporary: temporary.name, existed: mode != nil, mustBeNew: mustBeNew))
    }

    /// Writes the bytes.
    ///
    /// - Returns: the `errno` of the call that failed; 0 on success.
    private func fill(_ descriptor: CInt, with bytes: [UInt8], mode: mode_t?) -> CInt {
        var rest = bytes[...]
        while !rest.isEmpty {
            let (count, code) = call { rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } }
            if count < 0 { return code }
            rest = rest.dropFirst(count)
        }
        if let mode {
            let (_, code) = call { fchmod(descriptor, mode) }
            if code != 0 { return code }
        }
        return isReproducible ? 0 : call { fsync(descriptor) }.1
    }

    private mutating func makeFolder(_ folder: String) throws(DiskError) {
        guard !FileSystem.isFolder(folder) else { return }
        let parent = FileSystem.parent(of: folder)
        if parent != folder { try makeFolder(parent) }
        let (result, code) = folder.withSystemPath { path in call { mkdir(path, 0o777) } }
        if result == 0 {
            undos.append(.removeFolder(folder))
        } else if !FileSystem.isFolder(folder) {
            throw DiskError(path: folder, failure: "the folder cannot be made", code: code == EEXIST ? ENOTDIR : code)
        }
    }

    // MARK: Moving the new files into place

    mutating func perform() throws(DiskError) -> [String] {
        var backups: [String] = []
        for (index, step) in steps.enumerated() {
            // The last step needs no backup, because no step after it can fail.
            if step.existed, index + 1 < steps.count { backups.append(try backUp(step)) }
            try put(step)
        }
        for backup in backups { _ = backup.withSystemPath { unlink($0) } }
        return steps.map(\.path)
    }

    private mutating func put(_ step: Step) throws(DiskError) {
        guard let temporary = step.temporary else {
            let code = step.target.withSystemPath { path in call { unlink(path) }.1 }
            // If the backup was made by renaming the file, the file no longer exists at this path.
            guard code == 0 || code == ENOENT else {
                throw DiskError(path: step.path, failure: "the file cannot be removed", code: code)
            }
            return
        }
        if step.mustBeNew {
            try putNew(temporary, step)
        } else {
            let code = renaming(temporary, to: step.target)
            guard code == 0 else { throw DiskError(path: step.path, failure: Self.writeFailure, code: code) }
        }
        if !step.existed { undos.append(.removeFile(step.target)) }
    }

    /// Moves a temporary file to a target that must not exist. The function creates a hard link, because this fails if
    /// the target exists. A rename would replace the target. If the file system has no hard links, the function checks
    /// that the target does not exist, and renames the file.
    private func putNew(_ temporary: String, _ step: Step) throws(DiskError) {
        var code = linking(temporary, to: step.target)
        if code == 0 {
            _ = temporary.withSystemPath { unlink($0) }
        } else if code != EEXIST, FileSystem.kind(of: step.target, followingLinks: false) == nil {
            code = renaming(temporary, to: step.target)
        }
        guard code == 0 else { throw DiskError(path: step.path, failure: Self.writeFailure, code: code) }
    }

    /// Keeps the existing file under a temporary name. The name is a hard link to the file. If the file system has no
    /// hard links, the file is renamed instead.
    private mutating func backUp(_ step: Step) throws(DiskError) -> String {
        let target = step.target
        do {
            let name = try makeTemporary(beside: target, step.path) { name in
                target.withSystemPath { link($0, name) }
            }.name
            undos.append(.restore(target, from: name))
            return name
        } catch {
            var name = temporaryName(beside: target)
            // An earlier process that had the same identifier and was killed may have left a file with this name.
            while FileSystem.kind(of: name, followingLinks: false) != nil { name = temporaryName(beside: target) }
            let code = renaming(target, to: name)
            guard code == 0 else { throw DiskError(path: step.path, failure: Self.writeFailure, code: code) }
            undos.append(.restore(target, from: name))
            return name
        }
    }

    private func renaming(_ old: String, to new: String) -> CInt {
        old.withSystemPath { old in new.withSystemPath { new in call { rename(old, new) }.1 } }
    }

    private func linking(_ old: String, to new: String) -> CInt {
        old.withSystemPath { old in new.withSystemPath { new in call { link(old, new) }.1 } }
    }

    // MARK: Names

    private static let writeFailure = "the file cannot be written"

    /// A short hidden name. It does not contain the name of the target, so no file system refuses its length.
    private mutating func temporaryName(beside target: String) -> String {
        nameCount += 1
        return FileSystem.join(
            FileSystem.parent(of: target), ".martlet-\(ProcessInfo.processInfo.processIdentifier)-\(nameCount)")
    }

    /// Creates a file or link under an unused name. `make` receives the name, and fails with `EEXIST` if the name is in
    /// use.
    private mutating func makeTemporary(
        beside target: String, _ path: String, _ make: (UnsafePointer<CChar>) -> CInt
    ) throws(DiskError) -> (name: String, result: CInt) {
        while true {
            let name = temporaryName(beside: target)
            let (result, code) = name.withSystemPath { name in call { make(name) } }
            if result >= 0 { return (name, result) }
            guard code == EEXIST else { throw DiskError(path: path, failure: Self.writeFailure, code: code) }
        }
    }

    // MARK: Undoing

    /// Restores the previous files.
    ///
    /// - Returns: the error, extended by the files that could not be restored.
    func undo(after error: DiskError) -> DiskError {
        var lost: [String] = []
        for undo in undos.reversed() {
            switch undo {
            case .removeFile(let path): _ = path.withSystemPath { unlink($0) }
            case .removeFolder(let path): _ = path.withSystemPath { rmdir($0) }
            case .restore(let path, let backup):
                let isRestored = path.withSystemPath { path in backup.withSystemPath { rename($0, path) == 0 } }
                // If both paths are hard links of the same file, `rename` has no effect. Therefore, the temporary link
                // is removed separately.
                if isRestored {
                    _ = backup.withSystemPath { unlink($0) }
                } else {
                    lost.append(
                        "'\(path.printable)' could not be restored; its old contents are in '\(backup.printable)'")
                }
            }
        }
        guard !lost.isEmpty else { return error }
        return DiskError(path: error.path, reason: error.reason + "; " + lost.joined(separator: ", "))
    }

    /// Performs a system call, and repeats it if a signal interrupts it. Fails with the error that a test injects.
    private func call<Result: SignedInteger>(_ body: () -> Result) -> (Result, CInt) {
        if let code = injectedError?(), code != 0 { return (-1, code) }
        return FileSystem.call(body)
    }
}
