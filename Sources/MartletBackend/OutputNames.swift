/// The names of generated files. They depend only on the relative paths of the schema files.
public enum OutputNames {
    /// The suffix of all generated file names.
    public static let suffix = ".martlet.swift"

    /// The name of the file that registers all types of a module with the runtime.
    public static let registry = "MartletSchema" + suffix

    /// The output name for a schema file: `Sub/Dog.yaml` becomes `Sub_Dog.martlet.swift`.
    ///
    /// The path is processed as bytes, because a slash and a following combining mark form one character, which does
    /// not equal a slash.
    public static func name(forPath path: String) -> String {
        var stem = Array(path.utf8)
        if stem.suffix(5).elementsEqual(".yaml".utf8) { stem.removeLast(5) }
        let parts = stem.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        return parts.joined(separator: "_") + suffix
    }

    /// Pairs of paths whose output names are equal. The comparison ignores case, because some file systems do not
    /// distinguish names that differ only in case. `first` is nil if the second path has the output name of the
    /// registry file.
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
