import Foundation
public import MartletCompiler
public import MartletSchema

/// Reads Swift files, and all those below folders, in the order of their paths.
public struct SwiftLoader {
    private let manager = FileManager.default

    public init() {}

    public func load(_ paths: [String]) throws(DiskError) -> [SourceText] {
        var sources: [SourceText] = []
        var known: Set<String> = []
        for path in paths {
            for file in try files(at: path) where known.insert(realPath(file.display)).inserted {
                guard let data = manager.contents(atPath: file.display) else {
                    throw DiskError(path: file.display, reason: "the file cannot be read")
                }
                sources.append(
                    SourceText(
                        file: SourceFileID(sources.count), relativePath: file.relative, displayPath: file.display,
                        bytes: Array(data)))
            }
        }
        return sources
    }

    private func realPath(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

    private func files(at path: String) throws(DiskError) -> [(relative: String, display: String)] {
        var isFolder: ObjCBool = false
        guard manager.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw DiskError(path: path, reason: "no such file or folder")
        }
        guard isFolder.boolValue else { return [(String(path.split(separator: "/").last ?? ""), path)] }
        guard let walk = manager.enumerator(atPath: path) else {
            throw DiskError(path: path, reason: "the folder cannot be read")
        }
        let folder = path.hasSuffix("/") ? String(path.dropLast()) : path
        var found: [String] = []
        for case let file as String in walk {
            // Packages that were fetched, and what was built.
            if file.split(separator: "/").last?.hasPrefix(".") == true {
                walk.skipDescendants()
            } else if file.hasSuffix(".swift") {
                found.append(file)
            }
        }
        return found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { ($0, "\(folder)/\($0)") }
    }
}
