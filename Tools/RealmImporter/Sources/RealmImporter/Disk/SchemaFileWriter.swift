public import MartletCompiler

/// Writes schema files. If a file would be overwritten, or cannot be written, no file is written.
public struct SchemaFileWriter {
    public init() {}

    /// - Parameter folder: the folder that the paths are relative to; nil uses the paths unchanged.
    /// - Returns: the paths of the written files. A file whose content does not change is not written.
    public func write(
        _ outputs: [Import.Output], to folder: String?, isForced: Bool
    ) throws(DiskError) -> [String] {
        let files = outputs.map { (path: path($0.path, in: folder), bytes: $0.bytes) }
        var batch = FileBatch()
        for file in files {
            if !isForced, FileSystem.exists(file.path), (try? FileSystem.bytes(of: file.path)) != file.bytes {
                throw DiskError(
                    path: file.path, reason: "the file exists; move it, or overwrite it with '--force'")
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
