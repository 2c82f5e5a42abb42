import Foundation

/// Gives a file other bytes, whole or not at all.
public enum FileReplacer {
    /// Writes to a file beside it and renames that, so that no reader sees half of it; permissions are kept, and a
    /// symbolic link still leads to the file. A file whose bytes are right already is not touched.
    ///
    /// - Returns: whether anything was written.
    public static func replace(_ path: String, with bytes: [UInt8]) throws(DiskError) -> Bool {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let content = Data(bytes)
        if let current = try? Data(contentsOf: target), current == content { return false }
        let manager = FileManager.default
        let process = ProcessInfo.processInfo.processIdentifier
        let temporary = target.deletingLastPathComponent()
            .appendingPathComponent(".\(target.lastPathComponent).\(process)")
        do {
            try content.write(to: temporary)
            let attributes = try? manager.attributesOfItem(atPath: target.path)
            if let permissions = attributes?[.posixPermissions] {
                try manager.setAttributes([.posixPermissions: permissions], ofItemAtPath: temporary.path)
            }
            guard rename(temporary.path, target.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? manager.removeItem(at: temporary)
            throw DiskError(path: path, reason: "the file cannot be written")
        }
        return true
    }
}
