/// Where the schema of each Swift file goes.
enum OutputPaths {
    /// `Models/Dog.swift` becomes `Models/Dog.yaml`; where two would meet, the later one is numbered.
    static func paths(for swiftPaths: [String]) -> [String] {
        var taken: Set<String> = []
        return swiftPaths.map { path in
            let stem = path.hasSuffix(".swift") ? String(path.dropLast(6)) : path
            var candidate = stem
            var number = 2
            // The Swift files that come of them stand in one folder, where case may not count.
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
