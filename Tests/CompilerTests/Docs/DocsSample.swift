import Foundation
import MartletCompiler
import MartletSchema
import MartletTools
import ModelTesting
import Testing

/// Schemas for diagrams and documentation pages.
enum DocsSample {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    /// Folders of schemas, relative to the root of the package.
    static let folders = [
        "Tests/CompilerTests/Fixtures/Hospital", "Tests/CompilerTests/Fixtures/Good", "Schemas/Kennel",
        "Schemas/Flights",
        "Schemas/Conformance",
    ]

    static func path(of folder: String) -> String {
        tests.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(folder).path
    }

    static func input(_ folder: String) throws -> SchemaInput { try SourceLoader().load(folder: path(of: folder)) }

    static func model(_ folder: String) throws -> SchemaModel {
        try #require(Compiler.check(input(folder)).model)
    }

    /// Texts with the special characters of all output formats.
    static let hostile = [
        "</script><script>alert(1)</script>", "</style></title></svg><b onload=x>", "\"'` onmouseover=\"x\" `a`b`",
        "]]> <!-- --> &amp; &#60; &quot;", "\\N \\\" \\n [label=\"x\"] ; } -> { a", "}\n    note \"x\"\n%%{init: {}}%%",
        "line\r\nfeed\u{85}next\u{2028}line\u{2029}end\n\nparagraph",
        "\u{0}\u{1}\u{1B}[31m\u{7F}\u{9B}\u{FFFE}\u{FFFF}",
        "\u{202E}reversed\u{2066}", "]\"]{<<x>>} : \"1\" --> y", "🦅 國 é",
    ]

    /// Returns a schema that contains `text` wherever a schema can contain text. `name` is the name of its object type,
    /// and may be a name that the compiler would reject.
    static func hostileModel(_ text: String, name: String = "Sample") -> SchemaModel {
        let kind = EnumModel(
            name: "Kind", nameSpan: Sample.span, documentation: text, raw: .string,
            cases: [EnumCaseModel(name: "one", nameSpan: Sample.span, documentation: text, rawValue: .string(text))],
            deprecation: Sample.deprecation(text))
        let property = Sample.property(
            "value", Sample.string, default: .string(text), doc: text, renamedFrom: name, deprecated: text)
        let object = Sample.object(
            name,
            [
                property, Sample.property("kind", Sample.type(.enumeration("Kind", raw: .string)), doc: text),
                Sample.property("next", Sample.link(name), doc: text),
            ], doc: text, deprecated: text)
        let label = ProjectionLabelModel(
            name: "shown", nameSpan: Sample.span, documentation: text,
            path: Sample.path("value", from: name, in: [object]))
        let projection = ProjectionModel(
            name: "Card", nameSpan: Sample.span, documentation: text, root: Sample.spanned(name), labels: [label])
        return Sample.model(
            [.enumeration(kind), .object(object), .projection(projection)],
            path: name == "Sample" ? "Sample.yaml" : "\(name).yaml")
    }

    /// Returns a schema whose object types link to each other at random. Some types are embedded, and some have linking
    /// objects.
    static func randomModel(seed: UInt64, count: Int, linksPerObject: Int) -> SchemaModel {
        var random = SeededRandom(seed: seed)
        let isEmbedded = (0..<count).map { _ in Int.random(in: 0..<6, using: &random) == 0 }
        var properties = (0..<count).map { _ in [Sample.property("id", Sample.int, key: true)] }
        for index in 0..<count {
            for number in 0..<Int.random(in: 0...2 * linksPerObject, using: &random) {
                let target = Int.random(in: 0..<count, using: &random)
                let kinds: [PropertyTypeModel.Kind] = [.single, .single, .list, .map]
                let kind = kinds[Int.random(in: 0..<4, using: &random)]
                let value = isEmbedded[target] ? ValueTypeModel.embedded("Type\(target)") : .link("Type\(target)")
                let name = "property\(number)"
                properties[index].append(
                    Sample.property(name, Sample.type(value, kind, optional: kind == .single)))
                guard !isEmbedded[target], !isEmbedded[index], Int.random(in: 0..<3, using: &random) == 0 else {
                    continue
                }
                let back = Sample.type(
                    .link("Type\(index)"), .linkingObjects(type: "Type\(index)", property: name))
                properties[target].append(Sample.property("back\(properties[target].count)", back))
            }
        }
        return Sample.model(
            (0..<count).map { .object(Sample.object("Type\($0)", properties[$0], embedded: isEmbedded[$0])) })
    }
}
