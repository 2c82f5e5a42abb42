import CMartletMemoryVFS

/// The files of Realms in memory. They are stored in the memory of this process and not on a file system. So no other
/// process can open them, and they disappear when the process ends.
package enum MemoryFiles {
    /// The prefix of the paths of these files. Paths on a disk are absolute, so none of them begins with this prefix.
    package static let prefix = "memory:"

    /// True if a path is the path of a file in memory, whether or not the file exists.
    package static func contains(_ path: String) -> Bool { path.hasPrefix(prefix) }

    /// The VFS that opens a path. Nil for SQLite's default.
    package static func vfsName(of path: String) -> String? {
        contains(path) ? String(cString: cmartlet_memory_vfs_name()) : nil
    }

    /// A number that identifies the file. No other file of this process has had this number. Nil if there is no file.
    package static func number(_ path: String) -> UInt64? {
        let number = cmartlet_memory_file_number(path)
        return number == 0 ? nil : number
    }

    /// The size of a file in bytes. Nil if there is no file.
    package static func size(_ path: String) -> Int? {
        let size = cmartlet_memory_file_size(path)
        return size < 0 ? nil : Int(size)
    }

    /// Deletes a file. Connections that have it open can still read it.
    package static func remove(_ path: String) { cmartlet_memory_file_remove(path) }

    /// Renames a file, unless a file with the new name exists.
    package static func rename(_ path: String, to newPath: String) -> Bool {
        cmartlet_memory_file_rename(path, newPath)
    }

    /// The number of all files of this process, open or not, and the size in bytes of the memory blocks of their
    /// contents.
    package static var usage: (files: Int, bytes: Int) {
        (Int(cmartlet_memory_file_count()), Int(cmartlet_memory_byte_count()))
    }

    /// The URI of a path, with the name of its VFS. A connection that uses another VFS needs this URI to open the path.
    static func uri(_ path: String) -> String {
        var escaped = ""
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."):
                escaped += String(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16)
                escaped += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return "file:\(escaped)?vfs=\(vfsName(of: path) ?? String(cString: cmartlet_default_vfs_name()))"
    }
}
