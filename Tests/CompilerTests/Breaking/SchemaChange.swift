import MartletFrontend
import MartletLint
import MartletSchema
import Testing

/// Two versions of a schema text. In the new text, the marks « and » enclose the expected locations of findings. In the
/// old text, they enclose the expected locations of the notes of these findings.
struct SchemaChange {
    let old: MarkedText
    let new: MarkedText
    let changes: [BreakingChange]

    init(_ old: String, _ new: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        self.old = MarkedText(old, file: SourceFileID(1))
        self.new = MarkedText(new, file: SourceFileID(0))
        changes = BreakingChanges.between(
            try self.old.model(sourceLocation), try self.new.model(sourceLocation))
    }

    /// Returns the findings sorted by location, as in a report.
    func findings(failingFrom level: BreakingLevel = .source) -> [Diagnostic] {
        changes.map { $0.diagnostic(failingFrom: level, sources: [new.source]) }.sortedByLocation()
    }

    /// Requires that exactly one finding has fix-its, and returns the new text with its first fix-it applied.
    func fixed(sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let fixes = findings().compactMap(\.fixes.first)
        try #require(fixes.count == 1, sourceLocation: sourceLocation)
        var bytes = new.source.bytes
        for edit in fixes[0].edits.reversed() {
            bytes.replaceSubrange(edit.span.start..<edit.span.end, with: Array(edit.replacement.utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A schema text without its marks, and the ranges that were marked.
struct MarkedText {
    let source: SourceText
    let marks: [SourceSpan]

    init(_ text: String, file: SourceFileID) {
        var bytes: [UInt8] = []
        var starts: [Int] = []
        var marks: [SourceSpan] = []
        for character in text {
            switch character {
            case "«": starts.append(bytes.count)
            case "»": marks.append(SourceSpan(file: file, start: starts.removeLast(), end: bytes.count))
            default: bytes += Array(String(character).utf8)
            }
        }
        source = SourceText(file: file, relativePath: "A.yaml", displayPath: "A.yaml", bytes: bytes)
        self.marks = marks
    }

    func model(_ sourceLocation: SourceLocation) throws -> SchemaModel {
        let result = Frontend.analyze([source])
        return try #require(
            result.model, "\(result.diagnostics.map(\.message))", sourceLocation: sourceLocation)
    }
}

/// Checks that the findings of a change equal `expected`. Each expected text has the form `level: message`, and the
/// texts are sorted by location. Also checks that the findings and their notes are located at the marks.
func check(
    _ old: String, _ new: String, _ expected: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let change = try SchemaChange(old, new, sourceLocation: sourceLocation)
    let findings = change.findings()
    let messages = findings.map { $0.message.replacing("breaks ", with: "", maxReplacements: 1) }
    #expect(messages == expected, sourceLocation: sourceLocation)
    let places = Set(findings.compactMap(\.span))
    #expect(places == Set(change.new.marks), "\(places.map(change.new.source.text))", sourceLocation: sourceLocation)
    let notes = Set(findings.flatMap(\.notes).compactMap(\.span))
    #expect(notes == Set(change.old.marks), "\(notes.map(change.old.source.text))", sourceLocation: sourceLocation)
}

/// Returns a schema with one object type that has these properties. `rest` contains further keys of the type.
func dog(_ properties: String, _ rest: String = "", name: String = "Dog") -> String {
    "objects:\n  \(name): {properties: {\(properties)}\(rest.isEmpty ? "" : ", " + rest)}\n"
}
