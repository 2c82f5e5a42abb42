/// Finds the `martlet.yaml` of a schema.
struct ConfigurationFinder {
    static let name = "martlet.yaml"

    /// Of a schema folder: in it or beside it, as the folder was named.
    func path(of folder: String) throws(DiskError) -> String? {
        let places = [FileSystem.join(folder, Self.name), FileSystem.join(Self.parent(of: folder), Self.name)]
        let found = places.filter(FileSystem.exists)
        guard found.count < 2 else {
            throw DiskError(path: found[0], reason: "there is one beside the schema folder too; keep one")
        }
        return found.first
    }

    /// Of a single file: the nearest one above it, and the schema folder that it is for. Not beyond the package or
    /// repository that the file is in.
    func nearest(to file: String) -> (path: String, schemaFolder: String)? {
        let start = FileSystem.parent(of: FileSystem.absolute(file))
        var folder = start
        while true {
            let candidate = FileSystem.join(folder, Self.name)
            if FileSystem.exists(candidate) { return (candidate, schemaFolder(at: folder, above: start)) }
            let isTop = ["Package.swift", ".git"].contains { FileSystem.exists(FileSystem.join(folder, $0)) }
            guard !isTop, folder != "/" else { return nil }
            folder = FileSystem.parent(of: folder)
        }
    }

    /// The folder itself where it holds schema files, else the one in it that leads to the file.
    private func schemaFolder(at folder: String, above file: String) -> String {
        let names = (try? FileSystem.names(in: folder)) ?? []
        let holdsSchemas = names.contains { $0.hasSuffix(".yaml") && $0 != Self.name }
        let below = FileSystem.steps(of: file).dropFirst(FileSystem.steps(of: folder).count)
        guard !holdsSchemas, let first = below.first else { return folder }
        return FileSystem.join(folder, first)
    }

    /// The folder that a folder is in, in the words in which it was named where they tell.
    private static func parent(of folder: String) -> String {
        var parts = folder.split(separator: "/", omittingEmptySubsequences: true)
        while parts.last == "." { parts.removeLast() }
        guard let last = parts.popLast(), last != ".." else { return FileSystem.join(folder, "..") }
        let parent = parts.joined(separator: "/")
        return folder.hasPrefix("/") ? "/" + parent : parent
    }
}
