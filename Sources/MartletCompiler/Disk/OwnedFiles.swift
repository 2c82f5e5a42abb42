/// The files that a command may write: those in the schema folders that were named, and beside files that were named.
///
/// By their real paths: a link inside a folder may lead out of it.
public struct OwnedFiles {
    /// With `/` at the end.
    private let folders: [String]

    public init(_ paths: [String]) {
        folders = paths.map { path in
            let folder = FileSystem.isFolder(path) ? path : FileSystem.parent(of: path)
            let real = FileSystem.realPath(folder)
            return real.hasSuffix("/") ? real : real + "/"
        }
    }

    public func contains(_ path: String) -> Bool {
        let real = FileSystem.realPath(path)
        return folders.contains { real.utf8.starts(with: $0.utf8) }
    }
}
