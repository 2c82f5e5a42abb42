import MartletCompiler

/// The files that a command may write: files in the given schema folders, and files in the folders that contain the
/// given files.
///
/// The real paths are compared, since a symbolic link inside a folder can lead out of it.
public struct WritableFiles {
    /// Each path ends with `/`.
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
