import Foundation
import MartletSchema
import Testing

/// A schema with mistakes and the findings expected of it, as a fixture file writes them.
struct MarkedSchema: CustomTestStringConvertible, Sendable {
    struct Expectation: Hashable, Comparable, Sendable {
        let path: String
        let line: Int
        let column: Int
        let length: Int
        let code: String
        let message: String

        var text: String { "\(path):\(line):\(column)+\(length) \(code) \(message)" }

        static func < (left: Expectation, right: Expectation) -> Bool { left.text < right.text }
    }

    let name: String
    var files: [(path: String, lines: [String])] = []
    var expected: [Expectation] = []

    var testDescription: String { name }

    func sources(lineEnd: String = "\n", mark: Bool = false) -> [SourceText] {
        files.enumerated().map { index, file in
            let text = file.lines.map { $0 + lineEnd }.joined()
            let bytes = (mark ? [0xEF, 0xBB, 0xBF] : []) + Array(text.utf8)
            return SourceText(
                file: SourceFileID(index), relativePath: file.path, displayPath: file.path, bytes: bytes)
        }
    }

    /// Every case of every fixture file.
    static let all: [MarkedSchema] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/Bad")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().flatMap { name -> [MarkedSchema] in
            let text = (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
            return parse(text)
        }
    }()

    static func parse(_ text: String) -> [MarkedSchema] {
        var cases: [MarkedSchema] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if line.hasPrefix("#~ case ") {
                cases.append(MarkedSchema(name: String(line.dropFirst(8))))
            } else if !cases.isEmpty {
                cases[cases.count - 1].add(String(line))
            }
        }
        return cases
    }

    private mutating func add(_ line: String) {
        if line.hasPrefix("#~ file ") {
            files.append((String(line.dropFirst(8)), []))
        } else if line.hasPrefix("#~") {
            expect(line)
        } else {
            if files.isEmpty { files.append(("Schema.yaml", [])) }
            files[files.count - 1].lines.append(line)
        }
    }

    private mutating func expect(_ line: String) {
        let file = files[files.count - 1]
        let scalars = Array(line.unicodeScalars)
        var column: Int
        var length: Int
        var rest: String
        if line.hasPrefix("#~ @") {
            let parts = line.dropFirst(4).split(separator: " ", maxSplits: 1)
            let place = parts[0].split(separator: "+")
            column = Int(place[0]) ?? 0
            length = Int(place[1]) ?? 0
            rest = String(parts[1])
        } else {
            let start = scalars.firstIndex(of: "^") ?? 0
            var end = start
            while end < scalars.count, scalars[end] == "^" { end += 1 }
            column = start + 1
            length = end - start
            rest = String(String.UnicodeScalarView(scalars[end...]))
        }
        rest = rest.trimmingCharacters(in: .whitespaces)
        expected.append(
            Expectation(
                path: file.path, line: file.lines.count, column: column, length: length,
                code: String(rest.prefix(7)), message: String(rest.dropFirst(8))))
    }
}

extension Diagnostic {
    /// The finding as a fixture writes it; the length is of the first line alone.
    func expectation(in sources: [SourceText]) -> MarkedSchema.Expectation {
        guard let span, let source = sources.first(where: { $0.file == span.file }) else {
            return MarkedSchema.Expectation(
                path: "", line: 0, column: 0, length: 0, code: code.rawValue, message: message)
        }
        let start = source.position(at: span.start)
        let end = source.position(at: min(span.end, source.lineRange(start.line - 1).upperBound))
        return MarkedSchema.Expectation(
            path: source.relativePath, line: start.line, column: start.column,
            length: max(1, end.column - start.column),
            code: code.rawValue, message: message)
    }
}
