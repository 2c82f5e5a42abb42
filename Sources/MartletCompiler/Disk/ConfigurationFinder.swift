import Foundation

/// Finds the `martlet.yaml` of a schema.
struct ConfigurationFinder {
    static let name = "martlet.yaml"

    private let manager = FileManager.default

    /// Of a schema folder: in it or beside it, as the folder was named.
    func path(of folder: String) throws(DiskError) -> String? {
        let places = [Self.join(folder, Self.name), Self.join(Self.parent(of: folder), Self.name)]
        let found = places.filter { manager.fileExists(atPath: $0) }
        guard found.count < 2 else {
            throw DiskError(path: found[0], reason: "there is one beside the schema folder too; keep one")
        }
        return found.first
    }

    /// Of a single file: the nearest one above it, and the schema folder that it is for. Not beyond the package or
    /// repository that the file is in.
    func nearest(to file: String) -> (path: String, schemaFolder: String)? {
        let start = URL(fileURLWithPath: file).standardizedFileURL.deletingLastPathComponent()
        var folder = start
        while true {
            let candidate = folder.appendingPathComponent(Self.name)
            if manager.fileExists(atPath: candidate.path) {
                return (candidate.path, schemaFolder(at: folder, above: start))
            }
            let isTop = ["Package.swift", ".git"].contains {
                manager.fileExists(atPath: folder.appendingPathComponent($0).path)
            }
            guard !isTop, folder.path != "/" else { return nil }
            folder.deleteLastPathComponent()
        }
    }

    /// The folder itself where it holds schema files, else the one in it that leads to the file.
    private func schemaFolder(at folder: URL, above file: URL) -> String {
        let names = (try? manager.contentsOfDirectory(atPath: folder.path)) ?? []
        let holdsSchemas = names.contains { $0.hasSuffix(".yaml") && $0 != Self.name }
        let below = file.pathComponents.dropFirst(folder.pathComponents.count)
        guard !holdsSchemas, let first = below.first else { return folder.path }
        return folder.appendingPathComponent(first).path
    }

    /// The folder that a folder is in, in the words in which it was named where they tell.
    private static func parent(of folder: String) -> String {
        var parts = folder.split(separator: "/", omittingEmptySubsequences: true)
        while parts.last == "." { parts.removeLast() }
        guard let last = parts.popLast(), last != ".." else { return join(folder, "..") }
        let parent = parts.joined(separator: "/")
        return folder.hasPrefix("/") ? "/" + parent : parent
    }

    private static func join(_ folder: String, _ name: String) -> String {
        folder.isEmpty ? name : folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }
}
