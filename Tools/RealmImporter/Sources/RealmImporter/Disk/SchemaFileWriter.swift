import Foundation
public import MartletCompiler

/// Brings schema files to disk: all of them, or none where one would be written over.
public struct SchemaFileWriter {
    private let manager = FileManager.default

    public init() {}

    /// - Parameter folder: what the paths count from; nil takes them as they are.
    /// - Returns: the paths that were written; a file whose bytes are right already is left alone.
    public func write(
        _ outputs: [Import.Output], to folder: String?, isForced: Bool
    ) throws(DiskError) -> [String] {
        let files = outputs.map { (path: path($0.path, in: folder), bytes: $0.bytes) }
        if !isForced {
            for file in files {
                if let existing = manager.contents(atPath: file.path), Array(existing) != file.bytes {
                    throw DiskError(
                        path: file.path, reason: "there is such a file; move it away, or write over it with '--force'")
                }
            }
        }
        var written: [String] = []
        for file in files {
            let parent = URL(fileURLWithPath: file.path).deletingLastPathComponent()
            do {
                try manager.createDirectory(at: parent, withIntermediateDirectories: true)
            } catch {
                throw DiskError(path: parent.path, reason: "the folder cannot be made")
            }
            if try FileReplacer.replace(file.path, with: file.bytes) { written.append(file.path) }
        }
        return written
    }

    private func path(_ path: String, in folder: String?) -> String {
        guard let folder else { return path }
        return folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)"
    }
}
