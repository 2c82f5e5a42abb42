import Foundation

/// The results of a run as text, Markdown and JSON.
struct Report {
    var outcomes: [Outcome]
    let sizes: [Int]

    /// The idioms that fail, in descending order of `excess`.
    var failing: [Outcome] {
        outcomes.filter(\.fails).sorted { ($0.excess, $1.idiom) > ($1.excess, $0.idiom) }
    }

    var summary: String {
        let wrong = outcomes.count { $0.failure != nil }
        let failures = failing.map { "  \($0.line)\n" }.joined()
        return """

            \(failures)
            \(outcomes.count) idioms: \(failing.count) fail, \(wrong) of them without a time or with a wrong answer

            """
    }

    var markdown: String {
        let passing = outcomes.filter { !$0.fails }
        return """
            # Everyday idioms

            `make bench-idioms ARGS="--markdown Documentation/Idioms.md"` writes this page.
            [Benchmarks.md](Benchmarks.md#everyday-idioms) explains the columns, and says where this was measured.

            Of \(outcomes.count) idioms, \(failing.count) fail. Those that are furthest above their limit come first.

            ## Idioms that fail

            \(Self.table(failing, sizes))

            ## Idioms that pass

            \(Self.table(passing, sizes))

            """
    }

    func writeFiles(_ options: Options) throws {
        if let url = options.json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(outcomes).write(to: url)
        }
        if let url = options.markdown { try Data(markdown.utf8).write(to: url) }
    }

    /// A Markdown table. The column `failure` is omitted if all its cells are empty.
    private static func table(_ outcomes: [Outcome], _ sizes: [Int]) -> String {
        let last = outcomes.contains { $0.failure != nil } ? ["failure"] : []
        let columns = ["idiom", "declared"] + sizes.map(grouped) + ["growth", "at most"] + last
        let rule = ["---", "---"] + sizes.map { _ in "--:" } + ["--:", "--:"] + last.map { _ in "---" }
        let rows = outcomes.map { Array($0.row.prefix(columns.count)) }
        return ([columns] + [rule] + rows).map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }
}
