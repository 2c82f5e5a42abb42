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
        var status = stat()
        let isThere = stat(target.path, &status) == 0
        if isThere, status.st_size == bytes.count, (try? Data(contentsOf: target)) == Data(bytes) { return false }
        let process = ProcessInfo.processInfo.processIdentifier
        let temporary = target.deletingLastPathComponent()
            .appendingPathComponent(".\(target.lastPathComponent).\(process)")
        do {
            if isReproducible { try write(bytes, temporary.path) } else { try Data(bytes).write(to: temporary) }
            if isThere, chmod(temporary.path, status.st_mode & 0o7777) != 0 { throw CocoaError(.fileWriteUnknown) }
            guard rename(temporary.path, target.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            throw DiskError(path: path, reason: "the file cannot be written")
        }
        return true
    }

    // Foundation flushes each file to the disk.
    private static func write(_ bytes: [UInt8], _ path: String) throws {
        guard let file = fopen(path, "wb") else { throw CocoaError(.fileWriteUnknown) }
        let written = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, written == bytes.count else { throw CocoaError(.fileWriteUnknown) }
    }
}
