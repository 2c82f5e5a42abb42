import MartletCompiler

/// Finds the `martlet.yaml` of a schema.
struct ConfigurationFinder {
    /// The configuration of a schema folder, in the folder or beside it. The result is a relative path if `folder` is a
    /// relative path.
    func path(of folder: String) throws(DiskError) -> String? {
        let places = [folder, Self.parent(of: folder)].map { FileSystem.join($0, SourceLoader.configurationName) }
        let found = places.filter(FileSystem.exists)
        guard found.count < 2 else {
            throw DiskError(path: found[0], reason: "another 'martlet.yaml' is beside the schema folder; keep one")
        }
        return found.first
    }

    /// The nearest configuration in the folders above a file, and the schema folder that it applies to. The search ends
    /// at the root of the package or repository.
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

    /// The folder itself if it contains schema files, otherwise its subfolder on the path to `fileFolder`.
    private func schemaFolder(at folder: String, ofFilesIn fileFolder: String) -> String {
        let names = (try? FileSystem.names(in: folder)) ?? []
        let holdsSchemas = names.contains { $0.hasSuffix(".yaml") && $0 != SourceLoader.configurationName }
        let below = FileSystem.components(of: fileFolder).dropFirst(FileSystem.components(of: folder).count)
        guard !holdsSchemas, let first = below.first else { return folder }
        return FileSystem.join(folder, first)
    }

    /// The parent of a folder, computed from the path's text where possible.
    private static func parent(of folder: String) -> String {
        var parts = folder.split(separator: "/", omittingEmptySubsequences: true)
        while parts.last == "." { parts.removeLast() }
        guard let last = parts.popLast(), last != ".." else { return FileSystem.join(folder, "..") }
        let parent = parts.joined(separator: "/")
        return folder.hasPrefix("/") ? "/" + parent : parent
    }
}
