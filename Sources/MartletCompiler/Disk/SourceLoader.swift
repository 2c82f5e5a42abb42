import Foundation
import MartletSchema

/// Reads schema folders from disk: every `.yaml` file, sorted, links followed and loops refused.
public struct SourceLoader {
    /// The largest file that is read at all; a larger one becomes a finding through its first bytes.
    private static let maximumBytes = (1 << 20) + 1
    private static let maximumFiles = 2000

    private let manager = FileManager.default

    public init() {}

    /// A folder is one schema; so are single files together, with the `martlet.yaml` nearest to the first of them.
    public func load(_ paths: [String]) throws(DiskError) -> SchemaInput {
        if let folder = paths.first, paths.count == 1, isFolder(folder) { return try load(folder: folder) }
        if let folder = paths.first(where: isFolder) {
            throw DiskError(path: folder, reason: "name one folder, or files")
        }
        let isConfiguration = { URL(fileURLWithPath: $0).lastPathComponent == ConfigurationFinder.name }
        let files = paths.filter { !isConfiguration($0) }
        guard let first = files.first else {
            var input = try read([], configuration: paths[0])
            input.isConfigurationAlone = true
            return input
        }
        let nearest = ConfigurationFinder().nearest(to: first)
        let root = nearest.map { URL(fileURLWithPath: $0.schemaFolder).standardizedFileURL.path + "/" }
        let named = files.map { path in
            let full = URL(fileURLWithPath: path).standardizedFileURL.path
            let isInside = root.map { full.hasPrefix($0) } == true
            return (relative: isInside ? String(full.dropFirst(root?.count ?? 0)) : path, display: path)
        }
        return try read(named, configuration: nearest?.path)
    }

    /// The schema of a folder, with the `martlet.yaml` in it or beside it.
    public func load(folder: String) throws(DiskError) -> SchemaInput {
        guard manager.fileExists(atPath: folder) else { throw DiskError(path: folder, reason: "no such folder") }
        guard isFolder(folder) else { throw DiskError(path: folder, reason: "this is a file; name the schema folder") }
        var walk = Walk()
        try self.walk(folder, relative: "", visited: [], into: &walk)
        var input = try read(
            walk.files.filter { $0.relative != ConfigurationFinder.name },
            configuration: ConfigurationFinder().path(of: folder))
        input.overlooked = walk.overlooked
        return input
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

    private struct Walk {
        var files: [(relative: String, display: String)] = []
        var overlooked: [String] = []
    }

    private func walk(
        _ folder: String, relative: String, visited: Set<String>, into walk: inout Walk
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
                try self.walk(path, relative: below, visited: visited.union([real]), into: &walk)
            } else if name.hasSuffix(".yaml") {
                guard isReadable(path) else {
                    throw DiskError(path: path, reason: "this is no file that could be read to its end; remove it")
                }
                walk.files.append((below, path))
                guard walk.files.count <= Self.maximumFiles else {
                    throw DiskError(path: folder, reason: "more than 2000 schema files; name a folder further down")
                }
            } else if [".yml", ".yaml"].contains(where: name.lowercased().hasSuffix) {
                walk.overlooked.append(path)
            }
        }
    }

    /// Pipes and devices may have no end. A link that leads nowhere is left to the reading.
    private func isReadable(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
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
                file: SourceFileID(sources.count), relativePath: ConfigurationFinder.name, displayPath: configuration,
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
