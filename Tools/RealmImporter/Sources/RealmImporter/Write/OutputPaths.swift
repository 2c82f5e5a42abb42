/// Computes the path of the schema file for each Swift file.
enum OutputPaths {
    /// Returns `Models/Dog.yaml` for `Models/Dog.swift`. The schema compiler later generates one Swift file from each
    /// schema file. If two generated files would have the same name, the later schema file gets a number.
    static func paths(for swiftPaths: [String]) -> [String] {
        var taken: Set<String> = []
        return swiftPaths.map { path in
            let stem = path.hasSuffix(".swift") ? String(path.dropLast(6)) : path
            var candidate = stem
            var number = 2
            // The generated files are in one folder, and its file system may ignore case.
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
