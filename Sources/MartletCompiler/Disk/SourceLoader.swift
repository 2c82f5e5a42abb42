import Foundation
import MartletSchema

/// Reads schema folders from disk: every `.yaml` file, sorted, links followed and loops refused.
public struct SourceLoader {
    /// The largest file that is read at all; a larger one becomes a finding through its first bytes.
    private static let maximumBytes = (1 << 20) + 1
    private static let maximumFiles = 2000
    static let configurationName = "martlet.yaml"

    private let manager = FileManager.default

    public init() {}

    /// A folder is one schema; so are single files together.
    public func load(_ paths: [String]) throws(DiskError) -> SchemaInput {
        if let folder = paths.first, paths.count == 1, isFolder(folder) { return try load(folder: folder) }
        var files: [(relative: String, display: String)] = []
        for path in paths {
            guard !isFolder(path) else { throw DiskError(path: path, reason: "name one folder, or files") }
            files.append((path, path))
        }
        return try read(files, configuration: nil)
    }

    /// The schema of a folder, with the `martlet.yaml` in it or beside it.
    public func load(folder: String) throws(DiskError) -> SchemaInput {
        guard manager.fileExists(atPath: folder) else { throw DiskError(path: folder, reason: "no such folder") }
        guard isFolder(folder) else { return try load([folder]) }
        var files: [(relative: String, display: String)] = []
        try walk(folder, relative: "", visited: [], into: &files)
        return try read(
            files.filter { $0.relative != Self.configurationName }, configuration: configuration(of: folder))
    }

    /// Named files, whose paths count from `root`; for the build tool, which knows its files already.
    public func load(
        files: [String], root: String, configuration: String?
    ) throws(DiskError) -> SchemaInput {
        let base = URL(fileURLWithPath: root).standardizedFileURL.pathComponents
        var named: [(relative: String, display: String)] = []
        for file in files {
            var parts = URL(fileURLWithPath: file).standardizedFileURL.pathComponents
            if parts.starts(with: base) { parts.removeFirst(base.count) }
            if parts.count > 1, parts.first == "Schemas" { parts.removeFirst() }
            named.append((parts.joined(separator: "/"), file))
        }
        return try read(named, configuration: configuration)
    }

    // MARK: Folders

    private func walk(
        _ folder: String, relative: String, visited: Set<String>,
        into files: inout [(relative: String, display: String)]
    ) throws(DiskError) {
        let real = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        guard !visited.contains(real) else {
            throw DiskError(path: folder, reason: "a symbolic link leads back to a folder above it; remove the link")
        }
        let names: [String]
        do {
            names = try manager.contentsOfDirectory(atPath: real).filter { !$0.hasPrefix(".") }
        } catch {
            throw DiskError(path: folder, reason: "the folder cannot be read")
        }
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
            let below = relative.isEmpty ? name : "\(relative)/\(name)"
            if isFolder(path) {
                try walk(path, relative: below, visited: visited.union([real]), into: &files)
            } else if name.hasSuffix(".yaml") {
                files.append((below, path))
                guard files.count <= Self.maximumFiles else {
                    throw DiskError(path: folder, reason: "more than 2000 schema files; name a folder further down")
                }
            }
        }
    }

    private func configuration(of folder: String) throws(DiskError) -> String? {
        let inside = URL(fileURLWithPath: folder).appendingPathComponent(Self.configurationName)
        let above = URL(fileURLWithPath: folder).standardizedFileURL.deletingLastPathComponent()
            .appendingPathComponent(Self.configurationName)
        let found = [inside, above].filter { manager.fileExists(atPath: $0.path) }
        guard found.count < 2 else {
            throw DiskError(path: found[0].path, reason: "there is one beside the schema folder too; keep one")
        }
        guard let url = found.first else { return nil }
        return url == inside ? "\(folder.hasSuffix("/") ? folder : folder + "/")\(Self.configurationName)" : url.path
    }

    private func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return manager.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    // MARK: Files

    private func read(
        _ files: [(relative: String, display: String)], configuration: String?
    ) throws(DiskError) -> SchemaInput {
        let sorted = files.sorted { $0.relative.utf8.lexicographicallyPrecedes($1.relative.utf8) }
        var sources: [SourceText] = []
        for (index, file) in sorted.enumerated() {
            sources.append(
                SourceText(
                    file: SourceFileID(index), relativePath: file.relative, displayPath: file.display,
                    bytes: try bytes(of: file.display)))
        }
        var input = SchemaInput(sources: sources)
        if let configuration {
            input.configuration = SourceText(
                file: SourceFileID(sources.count), relativePath: Self.configurationName, displayPath: configuration,
                bytes: try bytes(of: configuration))
        }
        return input
    }

    private func bytes(of path: String) throws(DiskError) -> [UInt8] {
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            return Array(try handle.read(upToCount: Self.maximumBytes) ?? Data())
        } catch {
            let reason = manager.fileExists(atPath: path) ? "the file cannot be read" : "no such file"
            throw DiskError(path: path, reason: reason)
        }
    }
}
