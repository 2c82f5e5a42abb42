import Foundation

/// Puts the first schema into a folder that has none.
public struct SchemaStarter {
    private let folder: String
    private let manager = FileManager.default

    public init(folder: String) {
        self.folder = folder
    }

    /// Where the schema is written to.
    public var path: String {
        folder.hasSuffix("/") ? folder + StarterSchema.fileName : "\(folder)/\(StarterSchema.fileName)"
    }

    /// Schema files that are there already, and a file that stands where the folder belongs.
    public func obstacles() -> [String] {
        var isFolder: ObjCBool = false
        guard manager.fileExists(atPath: folder, isDirectory: &isFolder) else { return [] }
        guard isFolder.boolValue else { return [folder] }
        let names = (try? manager.subpathsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".yaml") && $0 != ConfigurationFinder.name }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            .map { folder.hasSuffix("/") ? folder + $0 : "\(folder)/\($0)" }
    }

    /// Writes the schema; a file that has come up meanwhile is not overwritten.
    public func write() throws(DiskError) {
        do {
            try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw DiskError(path: folder, reason: "the folder cannot be made")
        }
        do {
            try Data(StarterSchema.text.utf8).write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
        } catch {
            throw DiskError(path: path, reason: "the file cannot be written")
        }
    }
}
