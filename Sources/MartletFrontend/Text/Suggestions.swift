/// Finds names that are similar to a misspelled name.
///
/// The total work of an instance is limited, so that even a megabyte of unknown names takes only a few milliseconds.
/// After the limit is reached, the instance returns no more suggestions.
struct Suggestions {
    /// The remaining work. Each comparison of two names reduces it by about the product of their lengths.
    private var budget = 4_000_000

    /// The most similar candidates, at most three, in descending order of similarity. Equally similar candidates keep
    /// their order.
    ///
    /// - Parameter isLegal: whether a candidate may be suggested. The function can be slow, because it is called only
    ///   for similar candidates.
    mutating func nearest(
        to name: String, among candidates: [String], where isLegal: (String) -> Bool = { _ in true }
    ) -> [String] {
        let wanted = Array(name.asciiLowercased.utf8)
        guard !wanted.isEmpty, wanted.count <= 63 else { return [] }
        let limit = wanted.count <= 4 ? 1 : wanted.count <= 8 ? 2 : 3
        var found: [(distance: Int, name: String)] = []
        for candidate in candidates {
            guard budget > 0 else { break }
            budget -= 4
            let length = candidate.utf8.count
            guard abs(length - wanted.count) <= limit, length <= 63, candidate != name else { continue }
            budget -= (length + 1) * (wanted.count + 1)
            let distance = Suggestions.distance(wanted, candidate.utf8.map(\.lowercased))
            if distance <= limit, distance < max(length, wanted.count), isLegal(candidate) {
                found.append((distance, candidate))
            }
        }
        var result: [String] = []
        for rank in 0...limit {
            for item in found where item.distance == rank && !result.contains(item.name) {
                result.append(item.name)
            }
        }
        return Array(result.prefix(3))
    }

    /// The restricted Damerau–Levenshtein distance (optimal string alignment distance): the number of insertions,
    /// deletions, substitutions and transpositions of adjacent bytes.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        var row = beforeLast
        for i in 1...left.count {
            row[0] = i
            for j in 1...right.count {
                let cost = left[i - 1] == right[j - 1] ? 0 : 1
                row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
                if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
                    row[j] = min(row[j], beforeLast[j - 2] + 1)
                }
            }
            (beforeLast, last, row) = (last, row, beforeLast)
        }
        return last[right.count]
    }

    /// A question in the form `did you mean 'a', 'b' or 'c'?`; nil if there are no names.
    static func question(_ names: [String]) -> String? {
        guard let last = names.last else { return nil }
        let quoted = names.dropLast().map { "'\($0)'" }.joined(separator: ", ")
        return quoted.isEmpty ? "did you mean '\(last)'?" : "did you mean \(quoted) or '\(last)'?"
    }
}

extension Frontend {
    /// A question in the form `did you mean 'a', 'b' or 'c'?`, for a word that does not come from a schema. nil if no
    /// candidate is similar.
    public static func suggestion(for word: String, among candidates: [String]) -> String? {
        var suggestions = Suggestions()
        return Suggestions.question(suggestions.nearest(to: word, among: candidates))
    }
}
