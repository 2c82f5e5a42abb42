import Foundation
import MartletSchema
import Testing

/// The headings, tables and examples of `Documentation/SchemaReference.md`.
struct SchemaReferencePage {
    /// A YAML code block.
    struct Example: CustomTestStringConvertible, Sendable {
        let text: String
        let line: Int

        /// The comment in the first line, such as `wrong: MRT0302, since …`; empty if the first line is not a comment.
        private var remark: Substring {
            guard text.hasPrefix("# ") else { return "" }
            return text.dropFirst(2).prefix { $0 != "\n" }
        }

        var isWrong: Bool { remark.hasPrefix("wrong: ") }

        /// The diagnostic code in the comment.
        var code: DiagnosticCode? { DiagnosticCode(rawValue: String(remark.dropFirst(7).prefix { $0 != "," })) }

        var isConfiguration: Bool { remark == "martlet.yaml" }

        var testDescription: String { "line \(line)" }
    }

    /// A table row, without its outer bars.
    struct Row {
        let cells: [String]

        /// The first code span of the first cell.
        var key: String { SchemaReferencePage.code(in: cells[0]).first ?? "" }
    }

    private let lines: [String]
    private(set) var examples: [Example] = []

    static let shared = (try? SchemaReferencePage()) ?? SchemaReferencePage(text: "")

    private init() throws {
        let url = Repository.root.appending(path: "Documentation/SchemaReference.md")
        self.init(text: try String(contentsOf: url, encoding: .utf8))
    }

    private init(text: String) {
        lines = text.components(separatedBy: "\n")
        var start: Int?
        for (index, line) in lines.enumerated() where line.hasPrefix("```") {
            if let first = start {
                let text = lines[first..<index].map { $0 + "\n" }.joined()
                if lines[first - 1] == "```yaml" { examples.append(Example(text: text, line: first + 1)) }
                start = nil
            } else {
                start = index + 1
            }
        }
    }

    /// Returns the lines between a heading of level 2 and the next heading of level 2.
    func section(_ heading: String) throws -> ArraySlice<String> {
        let start = try #require(lines.firstIndex(of: "## " + heading), "no heading '\(heading)'")
        let rest = lines[(start + 1)...]
        return rest[..<(rest.firstIndex { $0.hasPrefix("## ") } ?? rest.endIndex)]
    }

    /// Returns the rows of tables in a section. A table is included if the name of its first column is `column`.
    func rows(_ heading: String, column: String) throws -> [Row] {
        var rows: [Row] = []
        var isInside = false
        for line in try section(heading) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
            if cells.isEmpty {
                isInside = false
            } else if cells[0] == column {
                isInside = true
            } else if isInside, cells[0] != "---" {
                rows.append(Row(cells: cells))
            }
        }
        return rows
    }

    /// Returns the code spans of a text.
    static func code(in text: String) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
    }
}
