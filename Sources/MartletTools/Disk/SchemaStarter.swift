public import MartletCompiler

/// Writes the schema of `StarterSchema` into a folder that contains no schema files.
public struct SchemaStarter {
    private let folder: String

    public init(folder: String) {
        self.folder = folder
    }

    /// The path of the new schema file.
    public var path: String { FileSystem.join(folder, StarterSchema.fileName) }

    /// The files because of which the new schema file is not written. They are the schema files in the folder, or a
    /// file at the path of the folder.
    public func conflictingFiles() -> [String] {
        guard FileSystem.exists(folder) else { return [] }
        guard FileSystem.isFolder(folder) else { return [folder] }
        return schemaFiles(in: folder, "").sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            .map { FileSystem.join(folder, $0) }
    }

    /// The paths of the schema files, relative to the schema folder. Symbolic links to folders are not followed. Names
    /// that begin with a dot are skipped, as in `SourceLoader`.
    private func schemaFiles(in folder: String, _ relative: String) -> [String] {
        let names = (try? FileSystem.names(in: folder)) ?? []
        return names.filter { !$0.hasPrefix(".") }.flatMap { name in
            let relativePath = relative.isEmpty ? name : "\(relative)/\(name)"
            let path = FileSystem.join(folder, name)
            let kind = FileSystem.kind(of: path, followingLinks: false)
            let isSchema = name.hasSuffix(".yaml") && relativePath != SourceLoader.configurationName
            return (isSchema ? [relativePath] : []) + (kind == .folder ? schemaFiles(in: path, relativePath) : [])
        }
    }

    /// Creates the folder and writes the schema file. If one of these steps fails, the disk is unchanged. An existing
    /// file is not overwritten.
    public func write() throws(DiskError) {
        var batch = FileBatch()
        batch.create(path, with: Array(StarterSchema.text.utf8))
        _ = try batch.commit()
    }
}
