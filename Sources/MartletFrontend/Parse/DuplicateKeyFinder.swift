import MartletSchema

/// Finds duplicate keys in one mapping.
struct DuplicateKeyFinder {
    /// The first 16 different keys. In a small mapping, a linear search is faster than a dictionary.
    private var firstKeys: [YAMLScalar] = []
    /// The source range of the first occurrence of each key. The dictionary is empty as long as `firstKeys` contains
    /// all keys.
    private var firstSpans: [String: SourceSpan] = [:]
    /// The index of each duplicate key in `duplicates`.
    private var duplicateIndexes: [String: Int] = [:]
    /// The second occurrence of each duplicate key, and the number of all occurrences after the first.
    private var duplicates: [(key: YAMLScalar, count: Int)] = []

    /// Adds a key.
    ///
    /// - Returns: false if the mapping already contains the key.
    mutating func insert(_ key: YAMLScalar) -> Bool {
        guard firstSpan(of: key.text) != nil else {
            add(key)
            return true
        }
        if let index = duplicateIndexes[key.text] {
            duplicates[index].count += 1
        } else {
            duplicateIndexes[key.text] = duplicates.count
            duplicates.append((key, 1))
        }
        return false
    }

    private func firstSpan(of text: String) -> SourceSpan? {
        firstSpans.isEmpty ? firstKeys.first { $0.text == text }?.span : firstSpans[text]
    }

    private mutating func add(_ key: YAMLScalar) {
        if firstSpans.isEmpty, firstKeys.count < 16 {
            firstKeys.append(key)
            return
        }
        if firstSpans.isEmpty {
            for key in firstKeys { firstSpans[key.text] = key.span }
        }
        firstSpans[key.text] = key.span
    }

    func report(into findings: inout LimitedFindings) {
        for duplicate in duplicates {
            let key = duplicate.key
            guard findings.storesFindings(at: key.span) else {
                findings.recordDropped(at: key.span, isError: true)
                continue
            }
            let others = duplicate.count - 1
            let more = others == 0 ? "" : others == 1 ? ", and once more below" : ", and \(others) more times below"
            findings.append(
                Diagnostic(
                    .duplicateKey,
                    "'\(key.text.shortened)' occurs more than once in this mapping; rename or remove all but one",
                    at: key.span, label: "again here" + more,
                    notes: [DiagnosticNote("'\(key.text.shortened)' occurs here first", at: firstSpan(of: key.text))]))
        }
    }
}
