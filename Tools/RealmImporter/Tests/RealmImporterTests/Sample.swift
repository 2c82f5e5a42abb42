import MartletCompiler
import MartletSchema
import MartletTools
import RealmImporter
import Testing

/// The result of importing Swift text. The initializer also checks that the schema compiles.
struct Sample {
    /// The content of all schema files, one after another.
    let yaml: String
    /// The findings in the form `line:column severity: message`.
    let findings: [String]
    let result: Import

    init(_ texts: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        let sources = texts.enumerated().map { number, text in
            SourceText(file: SourceFileID(number), path: "File\(number + 1).swift", text: text)
        }
        result = try Importer.run(sources)
        yaml = result.outputs.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
        findings = FindingPrinter(sources: sources).text(result.findings).split(separator: "\n").map { line in
            let parts = line.split(separator: ":", maxSplits: 3)
            return "\(parts[1]):\(parts[2])\(parts[3])"
        }
        if !result.outputs.isEmpty { expectCompiles(result, sourceLocation: sourceLocation) }
    }

    /// Returns the lines below `properties:` in the schema of a class `Thing` that has the given members.
    static func properties(_ members: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> [String] {
        let sample = try Sample("class Thing: Object {\n\(members)\n}\n" + surroundings, sourceLocation: sourceLocation)
        let lines = sample.yaml.split(separator: "\n").drop { $0 != "  Thing:" }
        return lines.dropFirst().filter { $0.hasPrefix("      ") || $0.hasPrefix("    ignored") }
            .prefix { !$0.hasPrefix("      unrelated") }.map { $0.drop { $0 == " " } }.map(String.init)
    }

    private static let surroundings = """
        class Other: Object { @Persisted var unrelated: Int; @Persisted var thing: Thing? }
        class Part: EmbeddedObject { @Persisted var unrelated: Int }
        enum Color: String, PersistableEnum { case red, green = "g" }
        enum Level: Int, PersistableEnum { case low = 1, high }
        """
}

/// Checks that the schema compiles, and that the compiler generates a Swift file for each schema file, and the registry
/// file.
func expectCompiles(_ result: Import, sourceLocation: SourceLocation = #_sourceLocation) {
    let sources = result.outputs.enumerated().map { number, output in
        SourceText(
            file: SourceFileID(number), relativePath: output.path, displayPath: output.path, bytes: output.bytes)
    }
    let compilation = Compiler.lintAndCompile(SchemaInput(sources: sources))
    let errors = compilation.diagnostics.filter(\.isError).map(\.message)
    #expect(errors.isEmpty, sourceLocation: sourceLocation)
    #expect(compilation.outputs.count == sources.count + 1, sourceLocation: sourceLocation)
}
