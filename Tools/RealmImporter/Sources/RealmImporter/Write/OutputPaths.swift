/// The path of the schema file for each Swift file.
enum OutputPaths {
    /// `Models/Dog.swift` becomes `Models/Dog.yaml`. If two generated Swift files would have the same name, the later
    /// path gets a number.
    static func paths(for swiftPaths: [String]) -> [String] {
        var taken: Set<String> = []
        return swiftPaths.map { path in
            let stem = path.hasSuffix(".swift") ? String(path.dropLast(6)) : path
            var candidate = stem
            var number = 2
            // The generated Swift files are in one folder, whose file system may ignore case.
            while !taken.insert(key(candidate)).inserted {
                candidate = "\(stem)\(number)"
                number += 1
            }
            return candidate + ".yaml"
        }
    }

    private static func key(_ stem: String) -> String {
        stem.split(separator: "/").joined(separator: "_").lowercased()
    }
}
