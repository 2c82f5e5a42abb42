import MartletSchema

/// The keys of one mapping; finds those that stand there more than once.
struct KeyRegister {
    private var first: [String: SourceSpan] = [:]
    private var repeated: [String: Int] = [:]
    private var duplicates: [(key: YAMLScalar, count: Int)] = []

    /// False when the key stands there already.
    mutating func insert(_ key: YAMLScalar) -> Bool {
        guard first[key.text] != nil else {
            first[key.text] = key.span
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

    func diagnostics() -> [Diagnostic] {
        duplicates.map { duplicate in
            let key = duplicate.key
            let more = duplicate.count > 1 ? ", and \(duplicate.count - 1) more times below" : ""
            return Diagnostic(
                .duplicateKey, "'\(key.text.shortened)' stands twice in this mapping; rename or remove one", at: key.span,
                label: "again here" + more,
                notes: [DiagnosticNote("'\(key.text.shortened)' stands here first", at: first[key.text])])
        }
    }
}
