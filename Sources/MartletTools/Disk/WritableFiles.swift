import MartletCompiler

/// The files that a command may write. For each folder among the arguments of the command, these are all files in the
/// folder. For each file among the arguments, these are all files in the folder that contains the file.
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
