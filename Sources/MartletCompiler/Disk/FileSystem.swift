import Foundation
import MartletSchema

/// Reads files and folders with system calls, because Foundation supports only UTF-8 paths.
///
/// Paths are encoded as in `FileName`.
public enum FileSystem {
    /// The kind of a file system item.
    package enum Kind: Equatable {
        case file
        case folder
        case link
        /// Another kind. The associated value names it in messages, such as `a device`.
        case other(String)
    }

    /// Whether the path is a folder or a symbolic link to a folder.
    public static func isFolder(_ path: String) -> Bool { kind(of: path) == .folder }

    /// Whether the path is a folder and not a symbolic link.
    public static func isRealFolder(_ path: String) -> Bool { kind(of: path, followingLinks: false) == .folder }

    /// Whether an item exists at the path. For a symbolic link, this means that its target exists.
    public static func exists(_ path: String) -> Bool { kind(of: path) != nil }

    /// Throws an error if no item exists at the path.
    ///
    /// - Parameter absence: the error's reason if no item exists. If the path cannot be examined, the reason is the
    ///   system's error.
    public static func requireExists(_ path: String, or absence: String) throws(DiskError) {
        var status = stat()
        let (_, code) = path.withSystemPath { path in call { stat(path, &status) } }
        switch code {
        case 0: return
        case ENOENT, ENOTDIR: throw DiskError(path: path, reason: absence)
        default: throw DiskError(path: path, failure: "the path cannot be examined", code: code)
        }
    }

    /// The names in a folder except `.` and `..`, sorted by their bytes.
    public static func names(in folder: String) throws(DiskError) -> [String] {
        let opened = folder.withSystemPath { path in
            errno = 0
            return (stream: opendir(path), code: errno)
        }
        guard let stream = opened.stream else {
            throw DiskError(path: folder, failure: "the folder cannot be read", code: opened.code)
        }
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                let code = errno
                guard code == 0 else {
                    throw DiskError(path: folder, failure: "the folder cannot be read", code: code)
                }
                break
            }
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let start = UnsafeRawPointer(entry) + offset
            let length = strlen(start.assumingMemoryBound(to: CChar.self))
            names.append(Array(UnsafeRawBufferPointer(start: start, count: length)))
        }
        return names.filter { $0 != [0x2E] && $0 != [0x2E, 0x2E] }
            .sorted { $0.lexicographicallyPrecedes($1) }.map(FileName.text)
    }

    /// The contents of a file, up to `limit` bytes.
    public static func bytes(of path: String, upTo limit: Int = .max) throws(DiskError) -> [UInt8] {
        let (descriptor, code) = path.withSystemPath { path in
            call { open(path, O_RDONLY | O_CLOEXEC) }
        }
        guard descriptor >= 0 else {
            if code == ENOENT { throw DiskError(path: path, reason: "no such file") }
            throw DiskError(path: path, failure: "the file cannot be read", code: code)
        }
        defer { close(descriptor) }
        var status = stat()
        let size = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
        var result: [UInt8] = []
        var isAtEnd = false
        while !isAtEnd, result.count < limit {
            // The first call normally reads the whole file, and the second call reports the end of the file. Below the
            // limit, each call requests at least 64 KiB, because the file may be longer than `fstat` reports.
            let wanted = min(limit - result.count, max(1 << 16, size - result.count + 1))
            var failure: CInt = 0
            result += [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                let (length, code) = call { read(descriptor, buffer.baseAddress, wanted) }
                (count, failure) = (max(0, length), code)
                isAtEnd = length <= 0
            }
            guard failure == 0 else { throw DiskError(path: path, failure: "the file cannot be read", code: failure) }
        }
        return result
    }

    /// The absolute path without `.` and `..`. Symbolic links are resolved in the part of the path that exists on disk.
    public static func realPath(_ path: String) -> String {
        var head = absolute(path)
        var tail: [String] = []
        while true {
            if let real = head.withSystemPath({ realpath($0, nil) }) {
                defer { free(real) }
                let text = FileName.text(of: UnsafeRawBufferPointer(start: real, count: strlen(real)))
                return tail.reversed().reduce(text, join)
            }
            let last = name(of: head)
            guard !last.isEmpty else { return absolute(path) }
            tail.append(last)
            head = parent(of: head)
        }
    }

    /// The absolute path without `.`, `..` and empty components, computed without access to the disk.
    public static func absolute(_ path: String) -> String {
        var steps: [String] = []
        let full = isAbsolute(path) ? path : currentFolder + "/" + path
        for step in self.components(of: full) where step != "." {
            if step == ".." { _ = steps.popLast() } else { steps.append(step) }
        }
        return "/" + steps.joined(separator: "/")
    }

    /// The current working directory, the base of relative paths.
    public static var currentFolder: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return FileName.text(of: UnsafeRawBufferPointer(start: path, count: strlen(path)))
    }

    /// The kind of the item at a path; nil if it does not exist or cannot be examined.
    package static func kind(of path: String, followingLinks: Bool = true) -> Kind? {
        status(of: path, followingLinks: followingLinks).map(kind)
    }

    static func kind(_ status: stat) -> Kind {
        switch status.st_mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        case S_IFLNK: .link
        case S_IFIFO: .other("a pipe")
        case S_IFSOCK: .other("a socket")
        default: .other("a device")
        }
    }

    static func status(of path: String, followingLinks: Bool = true) -> stat? {
        var status = stat()
        let (result, _) = path.withSystemPath { path in
            call { followingLinks ? stat(path, &status) : lstat(path, &status) }
        }
        return result == 0 ? status : nil
    }

    // MARK: Text

    package static func join(_ folder: String, _ name: String) -> String {
        folder.isEmpty ? name : folder.utf8.last == UInt8(ascii: "/") ? folder + name : "\(folder)/\(name)"
    }

    /// The parent folder of a path.
    package static func parent(of path: String) -> String {
        let parent = components(of: path).dropLast().joined(separator: "/")
        return isAbsolute(path) ? "/" + parent : parent.isEmpty ? "." : parent
    }

    /// The last component of a path.
    public static func name(of path: String) -> String { components(of: path).last ?? "" }

    /// The path components. The path is split by bytes, because a slash and a following combining mark form one
    /// character, which does not equal a slash.
    package static func components(of path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    package static func isAbsolute(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "/") }

    // MARK: Calls

    /// Performs a system call, and repeats the call if a signal interrupts it. Returns the result and the `errno`,
    /// which is 0 on success.
    static func call<Result: SignedInteger>(_ body: () -> Result) -> (Result, CInt) {
        while true {
            let result = body()
            let code = errno
            if result >= 0 { return (result, 0) }
            if code != EINTR { return (result, code) }
        }
    }
}

extension String {
    /// Calls `body` with the path as a C string.
    func withSystemPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        let bytes = FileName.bytes(of: self).map(CChar.init(bitPattern:)) + [0]
        return bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return "".withCString(body) }
            return body(start)
        }
    }
}
