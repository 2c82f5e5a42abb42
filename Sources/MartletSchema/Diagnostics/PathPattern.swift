/// A pattern for paths in the schema folder. `*` matches any characters within one path component, and `**` matches any
/// number of components. A pattern for a folder matches everything inside it.
public struct PathPattern: Hashable, Sendable {
    private let parts: [[UInt8]]

    public init(_ text: String) {
        parts = text.utf8.split(separator: UInt8(ascii: "/")).map { Array($0) }.filter { $0 != [UInt8(ascii: ".")] }
    }

    public func matches(_ path: String) -> Bool {
        guard !parts.isEmpty else { return false }
        let path = path.utf8.split(separator: UInt8(ascii: "/")).map { Array($0) }
        return Self.matches(parts[...], path[...])
    }

    private static func matches(_ pattern: ArraySlice<[UInt8]>, _ path: ArraySlice<[UInt8]>) -> Bool {
        // All components of the pattern match, so it is a pattern for the path, or for a folder that contains it.
        guard let first = pattern.first else { return true }
        if first == Array("**".utf8) {
            if pattern.count == 1 { return !path.isEmpty }
            return path.indices.contains { matches(pattern.dropFirst(), path[$0...]) }
        }
        guard let part = path.first, matchesPart(first, part) else { return false }
        return matches(pattern.dropFirst(), path.dropFirst())
    }

    /// Whether a component of a path matches a component of a pattern. There is no recursion: After a mismatch, the
    /// loop lets the last `*` match one more byte.
    private static func matchesPart(_ pattern: [UInt8], _ text: [UInt8]) -> Bool {
        let star = UInt8(ascii: "*")
        var place = 0
        var index = 0
        var retry: (place: Int, index: Int)?
        while index < text.count {
            if place < pattern.count, pattern[place] == star {
                retry = (place + 1, index)
                place += 1
            } else if place < pattern.count, pattern[place] == text[index] {
                place += 1
                index += 1
            } else if let last = retry {
                retry = (last.place, last.index + 1)
                place = last.place
                index = last.index + 1
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == star }
    }
}
