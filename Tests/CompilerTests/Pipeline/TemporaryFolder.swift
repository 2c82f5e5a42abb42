import Foundation

/// A temporary folder that is deleted when the instance is released.
final class TemporaryFolder {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func write(_ text: String, to name: String) throws {
        let url = URL(fileURLWithPath: path).appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func read(_ name: String) throws -> String {
        try String(contentsOf: URL(fileURLWithPath: path).appendingPathComponent(name), encoding: .utf8)
    }

    func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path + "/" + folder)) ?? []).sorted()
    }

    /// Returns the contents of all files by path, including hidden files. A folder is an entry without content, and its
    /// path ends with `/`. The files to which `Executable` writes the output of the process are omitted.
    func tree() -> [String: Data] {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        return Dictionary(
            uniqueKeysWithValues: names.filter { $0 != ".output" && $0 != ".errors" }.map { name in
                let content = FileManager.default.contents(atPath: path + "/" + name)
                var isFolder: ObjCBool = false
                _ = FileManager.default.fileExists(atPath: path + "/" + name, isDirectory: &isFolder)
                return (name + (isFolder.boolValue ? "/" : ""), isFolder.boolValue ? Data() : content ?? Data())
            })
    }

    func modified(_ name: String) throws -> Date? {
        try FileManager.default.attributesOfItem(atPath: path + "/" + name)[.modificationDate] as? Date
    }

    /// Sets the modification date of a file to 1970, so that a test can see whether the file is written afterwards.
    func setOld(_ name: String) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1000)], ofItemAtPath: path + "/" + name)
    }
}
