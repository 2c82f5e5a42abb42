import Foundation
import MartletSchema
import MartletTools
import ModelTesting

/// Changes only the white space of a schema, at random. Formatting must undo the change.
///
/// This type supports only the syntax of the schemas in `GoodText`, in which no scalar and no bracket spans several
/// lines.
struct WhitespaceRandomizer {
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    mutating func bytes(of text: String) -> [UInt8] {
        let step = number(1...5)
        let lineEnd = number(0...2) == 0 ? "\r\n" : "\n"
        var lines: [String] = []
        for line in text.components(separatedBy: "\n").dropLast() {
            if line.isEmpty {
                lines += (0..<number(1...3)).map { _ in blanks(0...3) }
            } else {
                lines.append(changed(line, step: step) + blanks(0...2))
            }
        }
        let mark: [UInt8] = number(0...3) == 0 ? [0xEF, 0xBB, 0xBF] : []
        let ends = String(repeating: lineEnd, count: number(0...3))
        return mark + Array((lines.joined(separator: lineEnd) + ends).utf8)
    }

    private mutating func changed(_ line: String, step: Int) -> String {
        let indentation = line.prefix { $0 == " " }.count
        let (code, comment) = WhitespaceRandomizer.parts(of: String(line.dropFirst(indentation)))
        var result = String(repeating: " ", count: indentation / 2 * step) + spread(code, step: step)
        if !comment.isEmpty { result += code.isEmpty ? comment : blanks(1...9) + comment }
        return result
    }

    /// Inserts spaces after the colon of the key. Inside brackets, inserts spaces, and line breaks after commas and
    /// opening brackets.
    private mutating func spread(_ code: String, step: Int) -> String {
        guard let colon = code.firstRange(of: ": ") else { return code }
        let key = code[..<colon.lowerBound] + ":" + blanks(1...4)
        let value = code[colon.upperBound...]
        guard value.hasPrefix("[") || value.hasPrefix("{"), !value.contains("\"") else { return key + value }
        var result = key
        for sign in value {
            if "]}".contains(sign) { result += blanks(0...2) }
            result.append(sign)
            if "[{,".contains(sign) { result += number(0...4) == 0 ? "\n" + blanks(20...30) : blanks(0...2) }
        }
        return result.replacing(":  ", with: ": ")
    }

    /// Splits a line into its code and its comment.
    private static func parts(of line: String) -> (code: String, comment: String) {
        if line.hasPrefix("#") { return ("", line) }
        guard let range = line.range(of: " +#", options: .regularExpression), !line[..<range.lowerBound].contains("\"")
        else { return (line, "") }
        return (String(line[..<range.lowerBound]), String(line[range].drop { $0 == " " } + line[range.upperBound...]))
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func blanks(_ range: ClosedRange<Int>) -> String { String(repeating: " ", count: number(range)) }
}
