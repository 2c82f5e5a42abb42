import Foundation
import MartletSchema

/// The work of one `FileBatch`, with what it takes to undo it.
struct FileCommit {
    /// A file that is to change.
    private struct Step {
        /// As it was named.
        let path: String
        /// Behind the links.
        let target: String
        /// Holds the new bytes; nil where the file goes.
        let temporary: String?
        /// Whether there is a file to give back.
        let isThere: Bool
        let mustBeNew: Bool
    }

    private enum Undo {
        case removeFile(String)
        case removeFolder(String)
        /// What the file was before has this name meanwhile.
        case restore(String, from: String)
    }

    private let isReproducible: Bool
    private let makesFolders: Bool
    private let failure: (() -> CInt)?
    private var steps: [Step] = []
    private var undos: [Undo] = []
    /// The bytes that are on their way, by the real path: one file may be named in two ways.
    private var planned: [String: [UInt8]] = [:]
    private var nameCount = 0

    init(isReproducible: Bool, makesFolders: Bool, failure: (() -> CInt)?) {
        self.isReproducible = isReproducible
        self.makesFolders = makesFolders
        self.failure = failure
    }

    // MARK: Writing beside the files

    mutating func prepare(_ path: String, _ change: FileBatch.Change) throws(DiskError) {
        switch change {
        case .remove:
            steps.append(Step(path: path, target: path, temporary: nil, isThere: true, mustBeNew: false))
        case .create(let bytes):
            guard FileSystem.kind(of: path, followingLinks: false) == nil else {
                throw DiskError(path: path, failure: Self.unwritten, code: EEXIST)
            }
            try add(path, at: path, bytes, mode: nil, mustBeNew: true)
        case .replace(let bytes):
            let target = try target(of: path)
            let real = FileSystem.realPath(target)
            let status = FileSystem.status(of: target)
            guard try !isRight(path, target, status, bytes), planned[real] != bytes else { return }
            planned[real] = bytes
            try add(path, at: target, bytes, mode: status.map { $0.st_mode & 0o7777 }, mustBeNew: false)
        }
    }

    private func isRight(
        _ path: String, _ target: String, _ status: stat?, _ bytes: [UInt8]
    ) throws(DiskError) -> Bool {
        guard let status else { return false }
        switch FileSystem.kind(status) {
        case .file: return status.st_size == bytes.count && (try? FileSystem.bytes(of: target)) == bytes
        case .folder: throw DiskError(path: path, failure: Self.unwritten, code: EISDIR)
        case .link: throw DiskError(path: path, failure: Self.unwritten, code: ELOOP)
        case .other(let kind): throw DiskError(path: path, reason: "\(Self.unwritten): this is \(kind); name a file")
        }
    }

    /// Where the last links of a path lead to, whether anything is there or not.
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
        throw DiskError(path: path, failure: Self.unwritten, code: ELOOP)
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
            throw DiskError(path: path, failure: Self.unwritten, code: code)
        }
        steps.append(
            Step(path: path, target: target, temporary: temporary.name, isThere: mode != nil, mustBeNew: mustBeNew))
    }

    /// Returns an `errno`.
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

    // MARK: Putting them in place

    mutating func perform() throws(DiskError) -> [String] {
        var backups: [String] = []
        for (index, step) in steps.enumerated() {
            // Nothing comes behind the last that could fail.
            if step.isThere, index + 1 < steps.count { backups.append(try backUp(step)) }
            try put(step)
        }
        for backup in backups { _ = backup.withSystemPath { unlink($0) } }
        return steps.map(\.path)
    }

    private mutating func put(_ step: Step) throws(DiskError) {
        guard let temporary = step.temporary else {
            let code = step.target.withSystemPath { path in call { unlink(path) }.1 }
            // A file that could be kept under another name alone is gone already.
            guard code == 0 || code == ENOENT else {
                throw DiskError(path: step.path, failure: "the file cannot be removed", code: code)
            }
            return
        }
        if step.mustBeNew {
            try putNew(temporary, step)
        } else {
            let code = renaming(temporary, to: step.target)
            guard code == 0 else { throw DiskError(path: step.path, failure: Self.unwritten, code: code) }
        }
        if !step.isThere { undos.append(.removeFile(step.target)) }
    }

    /// A link is made only where nothing is, which renaming does not see to; some file systems have none.
    private func putNew(_ temporary: String, _ step: Step) throws(DiskError) {
        var code = linking(temporary, to: step.target)
        if code == 0 {
            _ = temporary.withSystemPath { unlink($0) }
        } else if code != EEXIST, FileSystem.kind(of: step.target, followingLinks: false) == nil {
            code = renaming(temporary, to: step.target)
        }
        guard code == 0 else { throw DiskError(path: step.path, failure: Self.unwritten, code: code) }
    }

    /// Gives what is there a second name, or where the file system has none a new one.
    private mutating func backUp(_ step: Step) throws(DiskError) -> String {
        let target = step.target
        do {
            let name = try makeTemporary(beside: target, step.path) { name in
                target.withSystemPath { link($0, name) }
            }.name
            undos.append(.restore(target, from: name))
            return name
        } catch {
            let name = temporaryName(beside: target)
            let code = renaming(target, to: name)
            guard code == 0 else { throw DiskError(path: step.path, failure: Self.unwritten, code: code) }
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

    private static let unwritten = "the file cannot be written"

    /// Short, so that it is allowed wherever the file's name is, and hidden from those that read the folder.
    private mutating func temporaryName(beside target: String) -> String {
        nameCount += 1
        return FileSystem.join(
            FileSystem.parent(of: target), ".martlet-\(ProcessInfo.processInfo.processIdentifier)-\(nameCount)")
    }

    /// Makes something under a name that nothing has.
    private mutating func makeTemporary(
        beside target: String, _ path: String, _ make: (UnsafePointer<CChar>) -> CInt
    ) throws(DiskError) -> (name: String, result: CInt) {
        while true {
            let name = temporaryName(beside: target)
            let (result, code) = name.withSystemPath { name in call { make(name) } }
            if result >= 0 { return (name, result) }
            guard code == EEXIST else { throw DiskError(path: path, failure: Self.unwritten, code: code) }
        }
    }

    // MARK: Undoing

    /// Brings back what was there.
    ///
    /// - Returns: the error, with what could not be brought back.
    func undo(after error: DiskError) -> DiskError {
        var lost: [String] = []
        for undo in undos.reversed() {
            switch undo {
            case .removeFile(let path): _ = path.withSystemPath { unlink($0) }
            case .removeFolder(let path): _ = path.withSystemPath { rmdir($0) }
            case .restore(let path, let backup):
                let isRestored = path.withSystemPath { path in backup.withSystemPath { rename($0, path) == 0 } }
                // Two names of one file are not renamed.
                if isRestored {
                    _ = backup.withSystemPath { unlink($0) }
                } else {
                    lost.append("'\(path.printable)' is left as '\(backup.printable)'")
                }
            }
        }
        guard !lost.isEmpty else { return error }
        return DiskError(path: error.path, reason: error.reason + "; " + lost.joined(separator: ", "))
    }

    /// A call that changes the disk; one that a signal interrupts is made again.
    private func call<Result: SignedInteger>(_ body: () -> Result) -> (Result, CInt) {
        if let code = failure?(), code != 0 { return (-1, code) }
        return FileSystem.call(body)
    }
}
