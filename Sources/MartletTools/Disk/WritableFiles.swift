import MartletCompiler

/// The files that a command may write. If the command was called with folders, these are the files in the folders. If
/// it was called with files, these are all files in the folders that contain them.
///
/// This type compares real paths, because a symbolic link inside a folder can lead out of the folder.
public struct WritableFiles {
    /// The real paths of the folders. Each path ends with `/`.
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
