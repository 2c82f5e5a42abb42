import MartletCompiler
import MartletSchema
import MartletTools

/// A report with difficult content. The text contains non-ASCII characters before the finding, CRLF, a byte-order mark,
/// and special characters of the formats. Some findings have no location, span several lines, or have notes and
/// fix-its.
enum ReportSamples {
    static let oddPath = "Schemas/Größe/100%, <a&b>.yaml"

    /// Lines with four errors. One error has a fix-it, one has a note at another line, and one spans two lines.
    static let linesWithUnusualCharacters = [
        "objects:",
        "  Dog:",
        "    properties:",
        "      first: Int",
        "      a: {doc: \"é🦅é\", type: Strng}",
        "      b: {doc: \"🦅 <&> '{0}' [x](y) 100%\", type: 'Str<\"&\">'}",
        "      first: Int",
        "    index: {",
        "      name: x}",
    ]

    static let warningLines = [
        "enums:",
        "  ## Wie groß ein Tier wird: 🐈.",
        "  Size: [small, large]",
        "objects:",
        "  ## Katze.",
        "  Cat: {primaryKey: id, properties: {id: {type: Int, doc: \"🐈\"}, friend: {type: List<Cat>}}}",
        "  Kitten:",
        "    properties: {name: {type: String, doc: \"🐈🐈\", deprecated: true}}",
    ]

    static let strict = "lint:\n  preset: strict\n"

    static func source(
        _ lines: [String], _ path: String, _ index: Int = 0, lineEnd: String = "\r\n", mark: Bool = true
    ) -> SourceText {
        let text = lines.map { $0 + lineEnd }.joined()
        return SourceText(
            file: SourceFileID(index), relativePath: path, displayPath: path,
            bytes: (mark ? [0xEF, 0xBB, 0xBF] : []) + Array(text.utf8))
    }

    /// Returns one report of three schemas.
    static func report() -> Report {
        var report = Report(pathsFrom: "/home/author")
        add(
            SchemaInput(sources: [
                source(linesWithUnusualCharacters, oddPath),
                source(["enums:", "  Size: [small]"], "/home/author/Schemas/Größe/Clean.yaml", 1),
            ]), named: "Schemas/Größe", to: &report)
        add(
            SchemaInput(
                sources: [source(warningLines, "./Schemas/Cattery/Cat.yaml")],
                configuration: SourceText(file: SourceFileID(1), path: "martlet.yaml", text: strict)),
            named: "Schemas/Cattery", to: &report)
        add(SchemaInput(sources: []), named: "./Schemas/Empty/", to: &report)
        return report
    }

    static func add(_ input: SchemaInput, named name: String, to report: inout Report) {
        report.add(Compiler.lint(input).diagnostics, of: input.allSources, named: name)
    }
}
