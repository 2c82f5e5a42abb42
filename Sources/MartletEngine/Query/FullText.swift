import MartletSQLite
import MartletValues

extension QueryCompiler {
    /// SQL that is true if the text at the end of a path matches a full-text search.
    mutating func fullText(_ scoped: ScopedOperand, _ search: FullTextSearch) throws -> String {
        guard case .path(let path) = scoped.operand, case .row(let table, let alias) = scoped.scope else {
            throw QueryFailure("a full-text search needs a property")
        }
        let resolved = try ResolvedPath(path, from: table, in: schema)
        guard let end = resolved.end,
            let index = schema[end.table].layout.fullTextIndexes.first(where: { $0.property == end.property })?.table
        else {
            throw QueryFailure("'\(path.text)' has no full-text index: declare it with 'fullText: true'")
        }
        searchesFullText = true
        let key = try rowKey(resolved, end.table, alias)
        func rows(_ pattern: String) -> String {
            "(SELECT w.rowid FROM \(index) w WHERE w.text MATCH \(bind(.text(pattern))))"
        }
        let excluded = search.excluded
        guard let required = search.required else {
            guard let excluded else { return "0" }
            let text = try term(scoped.operand, scoped.scope).sql
            return "(\(text) IS NOT NULL AND \(key) NOT IN \(rows(excluded)))"
        }
        guard let excluded else { return "\(key) IN \(rows(required))" }
        return "(\(key) IN \(rows(required)) AND \(key) NOT IN \(rows(excluded)))"
    }
}

extension FullTextSearch {
    // Every word is quoted, so FTS5 does not interpret any part of a word as an operator.
    private func pattern(_ words: [Word], _ separator: String) -> String? {
        words.isEmpty
            ? nil
            : words.map { "\"\($0.text.replacingQuotes)\"" + ($0.isPrefix ? "*" : "") }.joined(separator: separator)
    }

    fileprivate var required: String? { pattern(words.filter { !$0.isExcluded }, " AND ") }
    fileprivate var excluded: String? { pattern(words.filter(\.isExcluded), " OR ") }
}

extension String {
    // Doubles each quote. The code compares bytes, because a quote and a following combining mark are one `Character`.
    fileprivate var replacingQuotes: String {
        String(decoding: utf8.flatMap { $0 == UInt8(ascii: "\"") ? [$0, $0] : [$0] }, as: UTF8.self)
    }
}
