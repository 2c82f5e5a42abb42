import Foundation

/// The files that a command may write: those in the schema folders that were named, and beside files that were named.
///
/// By their real paths: a link inside a folder may lead out of it.
public struct OwnedFiles {
    /// With `/` at the end.
    private let folders: [String]

    public init(_ paths: [String]) {
        folders = paths.map { path in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            let url = URL(fileURLWithPath: path).standardizedFileURL
            let folder = exists && isFolder.boolValue ? url : url.deletingLastPathComponent()
            let real = Self.realPath(folder.path)
            return real.hasSuffix("/") ? real : real + "/"
        }
    }

    public func contains(_ path: String) -> Bool {
        let real = Self.realPath(path)
        return folders.contains { real.hasPrefix($0) }
    }

    static func realPath(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }
}
