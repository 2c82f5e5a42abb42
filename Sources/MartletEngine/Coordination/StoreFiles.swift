import CMartletRuntime
import Foundation

/// The files that make up one database. Never opened here: only looked at and, when nobody uses them, deleted.
package enum StoreFiles {
    package static let suffixes = ["", "-wal", "-shm", ".lock"]

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The size of the write-ahead log, looked up without opening it.
    static func logBytes(_ path: String) -> Int {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? Int(status.st_size) : 0
    }

    /// Deletes the database and the files beside it; true if there was a database.
    @discardableResult
    package static func remove(_ path: String) -> Bool {
        let existed = exists(path)
        for suffix in suffixes { unlink(path + suffix) }
        return existed
    }

    /// A path for a Realm that lives in memory: a file system in memory where there is one.
    package static func temporaryPath(identifier: String) -> String {
        var name = "martlet-\(getpid())-"
        for byte in identifier.utf8 { name += byteIsPlain(byte) ? String(UnicodeScalar(byte)) : "%\(byte)" }
        let folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory()
        return "\(folder)/\(name.prefix(200)).realm"
    }

    private static func byteIsPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// True on a network file system, where locks and shared memory do not work as the log needs them.
    static func isOnNetwork(_ path: String) -> Bool {
        let folder = (path as NSString).deletingLastPathComponent
        return cmartlet_is_on_network(folder.isEmpty ? "." : folder) == 1
    }
}
