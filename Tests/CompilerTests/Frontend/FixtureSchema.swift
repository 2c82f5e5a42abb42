import Foundation
import MartletCompiler
import MartletSchema
import Testing

/// A schema with mistakes and its expected findings, in the format of the fixture files.
///
/// Lines that begin with `#~` are not part of the schema. `rendered` returns the schema with the actual findings in the
/// same format. A fixture file must be equal to this result, so the tests compare every detail of a finding.
struct FixtureSchema: CustomTestStringConvertible, Sendable {
    struct File: Sendable {
        let path: String
        var lines: [String] = []
    }

    static let configurationPath = "martlet.yaml"

    /// The path relative to `Fixtures/Bad`.
    let name: String
    let text: String
    private var head: [String] = []
    private(set) var files: [File] = []

    var testDescription: String { name }

    /// The folder of the fixture: a code, or `Clean` for schemas that look wrong but are correct.
    var folder: String { String(name.prefix { $0 != "/" }) }

    init(name: String, text: String) {
        self.name = name
        self.text = text
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            add(String(line))
        }
    }

    private mutating func add(_ line: String) {
        if line.hasPrefix("#~ about ") {
            head.append(line)
        } else if line.hasPrefix("#~ file ") {
            files.append(File(path: String(line.dropFirst(8))))
        } else if !line.hasPrefix("#~") {
            if files.isEmpty { files.append(File(path: "Schema.yaml")) }
            files[files.count - 1].lines.append(line)
        }
    }

    func input(lineEnd: String = "\n", mark: Bool = false) -> SchemaInput {
        var input = SchemaInput(sources: [])
        for (index, file) in files.enumerated() {
            let text = file.lines.map { $0 + lineEnd }.joined()
            let bytes = (mark ? [0xEF, 0xBB, 0xBF] : []) + Array(text.utf8)
            let source = SourceText(
                file: SourceFileID(index), relativePath: file.path, displayPath: file.path, bytes: bytes)
            if file.path == Self.configurationPath {
                input.configuration = source
            } else {
                input.sources.append(source)
            }
        }
        return input
    }

    /// The options of the compilation. A configuration in the fixture selects the rules. Otherwise, all are enabled.
    var options: CompilerOptions {
        CompilerOptions(preset: files.contains { $0.path == Self.configurationPath } ? nil : .strict)
    }

    /// All fixtures, sorted by path.
    static let all: [FixtureSchema] = {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
        return paths.filter { $0.hasSuffix(".yaml") }.sorted().compactMap { path in
            let text = try? String(contentsOf: folder.appending(path: path), encoding: .utf8)
            return text.map { FixtureSchema(name: path, text: $0) }
        }
    }()

    static let folder = Repository.root.appending(path: "Tests/CompilerTests/Fixtures/Bad")

    // MARK: Rendering

    /// Returns the text of the fixture with these findings, each below its line.
    func rendered(_ findings: [Diagnostic], _ input: SchemaInput) -> String {
        let places = FixtureRenderer(input.allSources)
        var result = head
        result += findings.filter { $0.span == nil }.flatMap { places.lines(of: $0) }
        for (index, file) in files.enumerated() {
            if files.count > 1 || file.path != "Schema.yaml" { result.append("#~ file \(file.path)") }
            let here = findings.filter { $0.span?.file == SourceFileID(index) }
            let byLine = Dictionary(grouping: here) { places.position($0.span).line }
            for (line, text) in file.lines.enumerated() {
                result.append(text)
                result += (byLine[line + 1] ?? []).flatMap { places.lines(of: $0) }
            }
            result += (byLine[file.lines.count + 1] ?? []).flatMap { places.lines(of: $0, isAtEnd: true) }
        }
        return result.map { $0 + "\n" }.joined()
    }
}

/// Renders findings in the format of the fixture files.
struct FixtureRenderer {
    private let sources: [SourceFileID: SourceText]

    init(_ sources: [SourceText]) {
        self.sources = Dictionary(sources.map { ($0.file, $0) }) { first, _ in first }
    }

    func position(_ span: SourceSpan?) -> SourcePosition {
        guard let span, let source = sources[span.file] else { return SourcePosition(line: 0, column: 0) }
        return source.position(at: span.start)
    }

    func lines(of finding: Diagnostic, isAtEnd: Bool = false) -> [String] {
        var head = "#~ nowhere"
        if let span = finding.span, let source = sources[span.file] {
            let start = source.position(at: span.start)
            let end = source.position(at: span.end)
            let place = place(span, from: finding.span, isAtEnd: isAtEnd)
            if start.line == end.line, start.column > 2, end.column > start.column {
                head = "#~" + String(repeating: " ", count: start.column - 3)
                head += String(repeating: "^", count: end.column - start.column)
            } else {
                head = "#~ @\(place)"
            }
        }
        var result = ["\(head) \(finding.severity.rawValue) \(finding.code.rawValue): \(finding.message)"]
        for note in finding.notes {
            result.append("#~  note \(note.span.map { "@\(place($0, from: finding.span)) " } ?? "")\(note.message)")
        }
        if let help = finding.help { result.append("#~  help \(help)") }
        result += finding.fixes.map { "#~  \($0.applicability.rawValue) \(text(of: $0, finding.span))" }
        return result
    }

    /// Returns the replacement text of each edit. The location of the edit precedes the text if it is not `span`, the
    /// location of the finding.
    private func text(of fix: Fix, _ span: SourceSpan?) -> String {
        fix.edits.map { edit in
            let place = edit.span == span ? "" : "@\(place(edit.span, from: span)) "
            let quoted = edit.replacement.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                .replacing("\r\n", with: "\\n").replacing("\n", with: "\\n")
            return "\(place)\"\(quoted)\""
        }.joined(separator: ", ")
    }

    /// Returns the location of `span`: `column+length` if `span` is in one line, otherwise `column-line:column`. If
    /// `other` begins on another line, the text begins with the number of the first line. If `other` is in another
    /// file, the text begins with the path and this line number. If `isAtEnd` is true, `end` replaces the first column.
    /// Lines that begin with `#~` are not counted.
    private func place(_ span: SourceSpan, from other: SourceSpan?, isAtEnd: Bool = false) -> String {
        guard let source = sources[span.file] else { return "?" }
        let start = source.position(at: span.start)
        let end = source.position(at: span.end)
        var text = ""
        if span.file != other?.file { text += source.relativePath + ":" }
        if span.file != other?.file || start.line != position(other).line { text += "\(start.line):" }
        text += isAtEnd ? "end" : "\(start.column)"
        return text + (start.line == end.line ? "+\(end.column - start.column)" : "-\(end.line):\(end.column)")
    }
}
