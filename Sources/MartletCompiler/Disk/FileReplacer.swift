import Foundation

/// Gives a file other bytes, whole or not at all.
public enum FileReplacer {
    /// Writes to a file beside it and renames that, so that no reader sees half of it; permissions are kept, and a
    /// symbolic link still leads to the file. A file whose bytes are right already is not touched.
    ///
    /// - Parameter isReproducible: the bytes can be made again, so that nobody waits for the disk.
    /// - Returns: whether anything was written.
    public static func replace(
        _ path: String, with bytes: [UInt8], isReproducible: Bool = false
    ) throws(DiskError) -> Bool {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let content = Data(bytes)
        if let current = try? Data(contentsOf: target), current == content { return false }
        let manager = FileManager.default
        let process = ProcessInfo.processInfo.processIdentifier
        let temporary = target.deletingLastPathComponent()
            .appendingPathComponent(".\(target.lastPathComponent).\(process)")
        do {
            if isReproducible { try write(content, temporary.path) } else { try content.write(to: temporary) }
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

    // Foundation flushes each file to the disk.
    private static func write(_ content: Data, _ path: String) throws {
        guard let file = fopen(path, "wb") else { throw CocoaError(.fileWriteUnknown) }
        let written = content.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
        guard fclose(file) == 0, written == content.count else { throw CocoaError(.fileWriteUnknown) }
    }
}
