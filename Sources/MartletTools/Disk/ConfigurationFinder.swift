import MartletCompiler

/// Finds the configuration file `martlet.yaml` of a schema.
struct ConfigurationFinder {
    /// The path of the configuration file of a schema folder. The file is in the folder or beside it. The result is a
    /// relative path if `folder` is a relative path, and nil if there is no configuration file.
    func path(of folder: String) throws(DiskError) -> String? {
        let places = [folder, Self.parent(of: folder)].map { FileSystem.join($0, SourceLoader.configurationName) }
        let found = places.filter(FileSystem.exists)
        guard found.count < 2 else {
            throw DiskError(path: found[0], reason: "another 'martlet.yaml' is beside the schema folder; keep one")
        }
        return found.first
    }

    /// The nearest configuration file in the folders that contain a file, and the schema folder to which it applies.
    /// The search ends at the root of the package or repository.
    func nearest(to file: String) -> (path: String, schemaFolder: String)? {
        let start = FileSystem.parent(of: FileSystem.absolute(file))
        var folder = start
        while true {
            let candidate = FileSystem.join(folder, SourceLoader.configurationName)
            if FileSystem.exists(candidate) { return (candidate, schemaFolder(at: folder, ofFilesIn: start)) }
            let isTop = ["Package.swift", ".git"].contains { FileSystem.exists(FileSystem.join(folder, $0)) }
            guard !isTop, folder != "/" else { return nil }
            folder = FileSystem.parent(of: folder)
        }
    }

    /// The folder itself if it contains schema files. Otherwise the subfolder of it that contains `fileFolder`.
    private func schemaFolder(at folder: String, ofFilesIn fileFolder: String) -> String {
        let names = (try? FileSystem.names(in: folder)) ?? []
        let holdsSchemas = names.contains { $0.hasSuffix(".yaml") && $0 != SourceLoader.configurationName }
        let below = FileSystem.components(of: fileFolder).dropFirst(FileSystem.components(of: folder).count)
        guard !holdsSchemas, let first = below.first else { return folder }
        return FileSystem.join(folder, first)
    }

    /// The parent of a folder. If the path ends with the name of the folder, the result is the path without this name.
    /// Otherwise `..` is added to the path.
    private static func parent(of folder: String) -> String {
        var parts = folder.split(separator: "/", omittingEmptySubsequences: true)
        while parts.last == "." { parts.removeLast() }
        guard let last = parts.popLast(), last != ".." else { return FileSystem.join(folder, "..") }
        let parent = parts.joined(separator: "/")
        return folder.hasPrefix("/") ? "/" + parent : parent
    }
}
