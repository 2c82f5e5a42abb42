import MartletSchema

/// Finds duplicate keys in one mapping.
struct DuplicateKeyFinder {
    /// The keys of a small mapping, where a linear search is faster than a dictionary.
    private var few: [YAMLScalar] = []
    private var first: [String: SourceSpan] = [:]
    private var repeated: [String: Int] = [:]
    private var duplicates: [(key: YAMLScalar, count: Int)] = []

    /// Adds a key.
    ///
    /// - Returns: false if the mapping already contains the key.
    mutating func insert(_ key: YAMLScalar) -> Bool {
        guard place(of: key.text) != nil else {
            add(key)
            return true
        }
        if let index = repeated[key.text] {
            duplicates[index].count += 1
        } else {
            repeated[key.text] = duplicates.count
            duplicates.append((key, 1))
        }
        return false
    }

    private func place(of text: String) -> SourceSpan? {
        first.isEmpty ? few.first { $0.text == text }?.span : first[text]
    }

    private mutating func add(_ key: YAMLScalar) {
        if first.isEmpty, few.count < 16 {
            few.append(key)
            return
        }
        if first.isEmpty {
            for key in few { first[key.text] = key.span }
        }
        first[key.text] = key.span
    }

    func report(into findings: inout LimitedFindings) {
        for duplicate in duplicates {
            let key = duplicate.key
            guard findings.storesFindings(at: key.span) else {
                findings.count(at: key.span, isError: true)
                continue
            }
            let others = duplicate.count - 1
            let more = others == 0 ? "" : others == 1 ? ", and once more below" : ", and \(others) more times below"
            findings.append(
                Diagnostic(
                    .duplicateKey, "'\(key.text.shortened)' occurs twice in this mapping; rename or remove one",
                    at: key.span, label: "again here" + more,
                    notes: [DiagnosticNote("'\(key.text.shortened)' occurs here first", at: place(of: key.text))]))
        }
    }
}
