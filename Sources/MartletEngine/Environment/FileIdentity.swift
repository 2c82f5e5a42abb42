import Foundation

/// Identifies a file independently of its path.
struct FileIdentity: Hashable {
    let device: UInt64
    let inode: UInt64

    init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }

    init(_ status: stat) {
        self.init(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
    }

    /// The identity of the open file of a descriptor. Nil if the descriptor is not valid.
    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The identity of the file at a path; nil if there is none. If the path is a symbolic link, this is the identity
    /// of the link itself.
    init?(withoutFollowingLink path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}
