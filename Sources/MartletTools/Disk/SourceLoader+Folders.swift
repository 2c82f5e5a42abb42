public import MartletCompiler
import MartletSchema

/// Loads the `.yaml` files of schema folders in sorted order. Symbolic links are followed. A loop of links is an error.
extension SourceLoader {
    private static let maximumFiles = 2000

    /// Loads one folder, or several files that together form one schema. For files, the configuration is the
    /// `martlet.yaml` that is nearest to the first file.
    public func load(_ paths: [String]) throws(DiskError) -> SchemaInput {
        if let folder = paths.first, paths.count == 1, FileSystem.isFolder(folder) { return try load(folder: folder) }
        if let folder = paths.first(where: FileSystem.isFolder) {
            throw DiskError(path: folder, reason: "pass either one folder, or only files")
        }
        let isConfiguration = { FileSystem.name(of: $0) == Self.configurationName }
        let files = paths.filter { !isConfiguration($0) }
        guard let first = files.first else {
            var input = try read([], configuration: paths[0])
            input.isConfigurationOnly = true
            return input
        }
        let nearest = ConfigurationFinder().nearest(to: first)
        let root = nearest.map { FileSystem.absolute($0.schemaFolder) + "/" }
        let named = files.map { path in
            let full = FileSystem.absolute(path)
            let isInside = root.map { full.hasPrefix($0) } == true
            return (relative: isInside ? String(full.dropFirst(root?.count ?? 0)) : path, display: path)
        }
        return try read(named, configuration: nearest?.path)
    }

    /// Loads the schema of a folder, and the `martlet.yaml` in the folder or beside it.
    public func load(folder: String) throws(DiskError) -> SchemaInput {
        try FileSystem.requireExists(folder, or: "no such folder")
        guard FileSystem.isFolder(folder) else {
            throw DiskError(path: folder, reason: "this is a file; name the schema folder")
        }
        var contents = FolderContents()
        try walk(folder, relative: "", visited: [], into: &contents)
        var input = try read(
            contents.files.filter { $0.relative != Self.configurationName },
            configuration: ConfigurationFinder().path(of: folder))
        input.skippedFiles = contents.skippedFiles
        return input
    }

    private struct FolderContents {
        var files: [(relative: String, display: String)] = []
        var skippedFiles: [String] = []
    }

    private func walk(
        _ folder: String, relative: String, visited: Set<String>, into contents: inout FolderContents
    ) throws(DiskError) {
        let real = FileSystem.realPath(folder)
        guard !visited.contains(real) else {
            throw DiskError(path: folder, reason: "a symbolic link leads back to a folder above it; remove the link")
        }
        for name in try FileSystem.names(in: folder) where !name.hasPrefix(".") {
            let path = FileSystem.join(folder, name)
            let below = relative.isEmpty ? name : "\(relative)/\(name)"
            let kind = FileSystem.kind(of: path)
            if kind == .folder {
                try walk(path, relative: below, visited: visited.union([real]), into: &contents)
            } else if name.hasSuffix(".yaml") {
                // Pipes and devices are errors, because their content may be endless. The kind of a link with a missing
                // target is nil. Reading this link fails later.
                guard kind == nil || kind == .file else {
                    throw DiskError(path: path, reason: "this is not a regular file; remove it")
                }
                contents.files.append((below, path))
                guard contents.files.count <= Self.maximumFiles else {
                    throw DiskError(path: folder, reason: "more than 2000 schema files; name a subfolder")
                }
            } else if [".yml", ".yaml"].contains(where: name.lowercased().hasSuffix) {
                contents.skippedFiles.append(path)
            }
        }
    }
}
