import SwiftSyntax

/// Reads the lines of the documentation comment of a declaration.
enum DocumentationReader {
    static func read(_ trivia: Trivia) -> [String] {
        var lines: [String] = []
        var newlines = 0
        for piece in trivia {
            switch piece {
            case .newlines(let count), .carriageReturns(let count), .carriageReturnLineFeeds(let count):
                newlines += count
            case .docLineComment(let text):
                if newlines > 1 { lines = [] }
                lines.append(line(String(text.dropFirst(3))))
                newlines = 0
            case .docBlockComment(let text):
                if newlines > 1 { lines = [] }
                lines += block(text)
                newlines = 0
            case .lineComment, .blockComment: newlines = 0
            default: break
            }
        }
        return trimmed(lines)
    }

    /// Removes one space after the slashes, white space at the end, and characters that are invalid in schema files.
    private static func line(_ text: String) -> String {
        let plain = YAMLText.plain(text)
        let body = plain.hasPrefix(" ") ? plain.dropFirst() : plain[...]
        return String(body.reversed().drop { $0.isWhitespace }.reversed())
    }

    private static func block(_ text: String) -> [String] {
        let body = text.dropFirst(3).dropLast(text.hasSuffix("*/") ? 2 : 0)
        let lines = body.split(omittingEmptySubsequences: false) { $0.isNewline }.map { raw in
            let start = raw.drop { $0 == " " || $0 == "\t" }
            let hasStar = start.hasPrefix("* ") || start == "*"
            return line(hasStar ? String(start.dropFirst()) : " " + String(raw))
        }
        let indent = lines.dropFirst().filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.enumerated().map { index, text in
            index == 0 ? String(text.drop { $0 == " " }) : String(text.dropFirst(indent))
        }
    }

    private static func trimmed(_ lines: [String]) -> [String] {
        let start = lines.drop(while: \.isEmpty)
        return Array(start.reversed().drop(while: \.isEmpty).reversed())
    }
}
