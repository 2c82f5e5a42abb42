import Foundation

/// Writes a file through one beside it and a rename, so that nobody ever reads half of it.
enum AtomicFile {
    /// Keeps the permissions of a file that is there already.
    static func write(_ data: Data, to target: URL) throws(DiskError) {
        let manager = FileManager.default
        let name = ".\(target.lastPathComponent).\(ProcessInfo.processInfo.processIdentifier)"
        let temporary = target.deletingLastPathComponent().appendingPathComponent(name)
        do {
            try data.write(to: temporary)
            let attributes = try? manager.attributesOfItem(atPath: target.path)
            if let permissions = attributes?[.posixPermissions] {
                try manager.setAttributes([.posixPermissions: permissions], ofItemAtPath: temporary.path)
            }
            guard rename(temporary.path, target.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? manager.removeItem(at: temporary)
            throw DiskError(path: target.path, reason: "the file cannot be written")
        }
    }
}
