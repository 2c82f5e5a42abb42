public import MartletCompiler
public import MartletSchema

/// Reads Swift files. A path names a Swift file, or a folder whose Swift files are read in the order of their paths.
public struct SwiftLoader {
    public init() {}

    public func load(_ paths: [String]) throws(DiskError) -> [SourceText] {
        var sources: [SourceText] = []
        var known: Set<String> = []
        for path in paths {
            for file in try files(at: path) where known.insert(FileSystem.realPath(file.display)).inserted {
                sources.append(
                    SourceText(
                        file: SourceFileID(sources.count), relativePath: file.relative, displayPath: file.display,
                        bytes: try FileSystem.bytes(of: file.display)))
            }
        }
        return sources
    }

    private func files(at path: String) throws(DiskError) -> [(relative: String, display: String)] {
        try FileSystem.requireExists(path, or: "no such file or folder")
        guard FileSystem.isFolder(path) else { return [(FileSystem.name(of: path), path)] }
        let folder = path.hasSuffix("/") ? String(path.dropLast()) : path
        return try files(below: folder, "").sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            .map { ($0, "\(folder)/\($0)") }
    }

    /// Returns the Swift files in a folder and its subfolders. Symbolic links to folders are not followed.
    private func files(below folder: String, _ relative: String) throws(DiskError) -> [String] {
        var found: [String] = []
        // Hidden folders contain fetched packages and build products.
        for name in try FileSystem.names(in: "\(folder)/\(relative)") where !name.hasPrefix(".") {
            let below = relative + name
            if FileSystem.isRealFolder("\(folder)/\(below)") {
                found += try files(below: folder, below + "/")
            } else if name.hasSuffix(".swift") {
                found.append(below)
            }
        }
        return found
    }
}
