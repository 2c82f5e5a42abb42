/// The names of generated files: a pure function of the relative paths of schema files.
public enum OutputNames {
    /// The ending of every generated file.
    public static let ending = ".martlet.swift"

    /// The file that makes all types of a module known to the runtime.
    public static let registry = "MartletSchema" + ending

    /// `Sub/Dog.yaml` gives `Sub_Dog.martlet.swift`.
    ///
    /// It works on bytes: a slash followed by a combining mark is one character that no longer equals a slash.
    public static func name(forPath path: String) -> String {
        var stem = Array(path.utf8)
        if stem.suffix(5).elementsEqual(".yaml".utf8) { stem.removeLast(5) }
        let parts = stem.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        return parts.joined(separator: "_") + ending
    }

    /// Pairs of paths that give one name, or names that a file system may take for one; the registry's own name counts.
    public static func collisions(among paths: [String]) -> [(first: String?, second: String)] {
        var owners: [String: String?] = [registry.lowercased(): nil]
        var collisions: [(first: String?, second: String)] = []
        for path in paths {
            let key = name(forPath: path).lowercased()
            if let owner = owners[key] {
                collisions.append((owner, path))
            } else {
                owners[key] = path
            }
        }
        return collisions
    }
}
