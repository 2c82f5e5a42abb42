import MartletEngine

/// Parses the stages after the condition: `SORT(…) DISTINCT(…) LIMIT(…)`.
extension QueryParser {
    private static let maximumStageCount = 32

    mutating func stages() throws(QuerySyntaxError) -> [QuerySyntax.Stage] {
        var stages: [QuerySyntax.Stage] = []
        while startsStage {
            guard stages.count < Self.maximumStageCount else {
                throw failure("expected at most \(Self.maximumStageCount) of 'SORT', 'DISTINCT' and 'LIMIT'")
            }
            stages.append(try stage())
        }
        return stages
    }

    /// True if a stage such as 'SORT' begins at the current token.
    var startsStage: Bool {
        guard isWord("SORT", "DISTINCT", "LIMIT"), position + 1 < tokens.count else { return false }
        return tokens[position + 1].kind == .symbol("(")
    }

    private mutating func stage() throws(QuerySyntaxError) -> QuerySyntax.Stage {
        let word = word(current)
        advance()
        try expect(symbol: "(")
        let stage: QuerySyntax.Stage
        switch word {
        case "LIMIT":
            guard case .number(.integer(let count)) = current.kind else { throw failure("expected a whole number") }
            advance()
            stage = .limit(Int(count))
        case "DISTINCT":
            var paths = [try path()]
            while isSymbol(",") {
                advance()
                paths.append(try path())
            }
            stage = .distinct(paths)
        default:
            var terms = [try sortTerm()]
            while isSymbol(",") {
                advance()
                terms.append(try sortTerm())
            }
            stage = .sort(terms)
        }
        try expect(symbol: ")")
        return stage
    }

    private mutating func sortTerm() throws(QuerySyntaxError) -> (QuerySyntax.Path, ascending: Bool) {
        let path = try path()
        if isWord("ASC", "ASCENDING") {
            advance()
        } else if isWord("DESC", "DESCENDING") {
            advance()
            return (path, false)
        }
        return (path, true)
    }
}
