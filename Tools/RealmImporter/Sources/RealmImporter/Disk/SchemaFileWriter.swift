public import MartletCompiler

/// Brings schema files to disk: all of them, or none where one would be written over or cannot be written.
public struct SchemaFileWriter {
    public init() {}

    /// - Parameter folder: what the paths count from; nil takes them as they are.
    /// - Returns: the paths that were written; a file whose bytes are right already is left alone.
    public func write(
        _ outputs: [Import.Output], to folder: String?, isForced: Bool
    ) throws(DiskError) -> [String] {
        let files = outputs.map { (path: path($0.path, in: folder), bytes: $0.bytes) }
        var batch = FileBatch()
        for file in files {
            if !isForced, FileSystem.exists(file.path), (try? FileSystem.bytes(of: file.path)) != file.bytes {
                throw DiskError(
                    path: file.path, reason: "there is such a file; move it away, or write over it with '--force'")
            }
            batch.replace(file.path, with: file.bytes)
        }
        return try batch.commit()
    }

    private func path(_ path: String, in folder: String?) -> String {
        guard let folder else { return path }
        return folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)"
    }
}
