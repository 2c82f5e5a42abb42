import MartletBackend
import MartletCompiler
import MartletSchema
import MartletTools
import Testing

@testable import MartletFrontend

/// Checks that the schema reference agrees with the compiler. The tests compile the examples of the reference, and
/// compare its tables with the tables of the compiler.
@Suite("Schema reference")
struct SchemaReferenceTests {
    static let page = SchemaReferencePage.shared
    static let good = page.examples.filter { !$0.isWrong && !$0.isConfiguration }
    static let wrong = page.examples.filter(\.isWrong)
    static let configurations = page.examples.filter(\.isConfiguration)

    /// Compiles the good examples as one schema, together with an additional file if `text` is not nil.
    private func compile(adding text: String? = nil, configuration: String? = nil) -> Compilation {
        let texts = Self.good.map(\.text) + [text].compactMap(\.self)
        var input = SchemaInput(
            sources: texts.enumerated().map { index, text in
                SourceText(file: SourceFileID(index), path: "Example\(index).yaml", text: text)
            })
        input.configuration = configuration.map {
            SourceText(file: SourceFileID(texts.count), path: "martlet.yaml", text: $0)
        }
        return Compiler.lintAndCompile(input, options: CompilerOptions(preset: configuration == nil ? .minimal : nil))
    }

    private func texts(_ compilation: Compilation) -> [String] {
        compilation.diagnostics.map { "\($0.code.rawValue) \($0.message)" }
    }

    @Test("the valid examples of the reference compile as one schema S1 S2")
    func goodExamples() {
        let compilation = compile()
        #expect(texts(compilation) == [])
        #expect(compilation.outputs.count == Self.good.count + 1)
        #expect(Self.good.count >= 6)
    }

    @Test("each wrong example of the reference has only findings of the stated code S1 S2", arguments: wrong)
    func wrongExample(_ example: SchemaReferencePage.Example) throws {
        let code = try #require(example.code, "name the code: '# wrong: MRT0302, since …'")
        let compilation = compile(adding: example.text)
        #expect(Set(compilation.diagnostics.map(\.code)) == [code], "\(texts(compilation))")
        #expect(compilation.outputs.isEmpty)
    }

    @Test("the configurations of the reference are valid S7", arguments: configurations)
    func usableConfigurations(_ example: SchemaReferencePage.Example) throws {
        let reading = Frontend.readConfiguration(
            SourceText(file: SourceFileID(0), path: "martlet.yaml", text: example.text))
        #expect(reading.diagnostics.map(\.message) == [])
        #expect(compile(configuration: example.text).outputs.contains { $0.text.contains("nonisolated package ") })
    }

    @Test("every default in the reference is valid S1")
    func defaults() throws {
        let rows = try Self.page.rows("Defaults", column: "type")
        let examples = rows.flatMap { SchemaReferencePage.code(in: $0.cells[2]) }
        #expect(rows.allSatisfy { !SchemaReferencePage.code(in: $0.cells[2]).isEmpty })
        for example in examples {
            let text = "objects:\n  Sample:\n    properties:\n      \(example)\n"
            #expect(texts(compile(adding: text)) == [], "\(example)")
        }
        let named = Set(rows.flatMap { SchemaReferencePage.code(in: $0.cells[0]) })
        // One row names 'Int', 'Int8' and 'Int64', and abbreviates the types between them.
        let abbreviated: Set<ScalarKind> = [.int16, .int32]
        #expect(named == Set(ScalarKind.allCases.filter { !abbreviated.contains($0) }.map(\.rawValue)))
    }

    @Test("the reference names every built-in type S1")
    func types() throws {
        let words = Set(SchemaReferencePage.code(in: try Self.page.section("Properties").joined(separator: " ")))
        for kind in ScalarKind.allCases { #expect(words.contains(kind.rawValue), "\(kind.rawValue)") }
    }

    // MARK: Keys

    struct KeyTable: CustomTestStringConvertible, Sendable {
        let heading: String
        let kind: MappingKind
        /// The prefix of the keys of this kind of mapping in the table.
        var prefix = ""

        var testDescription: String { kind.name }
    }

    static let tables = [
        KeyTable(heading: "Files", kind: .file), KeyTable(heading: "Objects", kind: .object),
        KeyTable(heading: "Properties", kind: .property), KeyTable(heading: "Enums", kind: .enumeration),
        KeyTable(heading: "Projections", kind: .projection),
        KeyTable(heading: "`martlet.yaml`", kind: .configuration),
        KeyTable(heading: "`martlet.yaml`", kind: .lint, prefix: "lint."),
        KeyTable(heading: "`martlet.yaml`", kind: .lintOverride, prefix: "lint.overrides."),
    ]

    @Test("the tables of the reference list exactly the keys of the compiler S2 S7", arguments: tables)
    func sameKeys(_ table: KeyTable) throws {
        let rows = try Self.page.rows(table.heading, column: "key")
        let keys = rows.map(\.key).filter { $0.hasPrefix(table.prefix) }.map { key in
            String(key.dropFirst(table.prefix.count).prefix { $0 != "." })
        }
        #expect(Set(keys) == Set(table.kind.entries.map(\.name)))
    }

    @Test("the tables of the reference mark required keys and list every keyword S2 S7", arguments: tables)
    func values(_ table: KeyTable) throws {
        let rows = try Self.page.rows(table.heading, column: "key")
        for entry in table.kind.entries {
            guard let row = rows.first(where: { $0.key == table.prefix + entry.name }) else { continue }
            #expect((row.cells[2] == "required") == entry.isRequired, "\(row.key)")
            #expect(!row.cells[1].isEmpty && !row.cells[2].isEmpty, "\(row.key)")
            guard case .choices(let words) = entry.content else { continue }
            #expect(Set(words).isSubset(of: SchemaReferencePage.code(in: row.cells[1])), "\(row.key)")
        }
    }

    @Test("the examples of the reference use every key S2 S7", arguments: tables)
    func keyExamples(_ table: KeyTable) throws {
        let used = try UsedKeys(Self.good.map(\.text), configurations: Self.configurations.map(\.text))
        let names = Set(table.kind.entries.map(\.name))
        #expect(names.subtracting(used[table.kind.name]) == [])
    }
}

/// The keys that the mappings in YAML texts contain, grouped by the name of the kind of mapping.
private struct UsedKeys {
    private var keys: [String: Set<String>] = [:]

    subscript(kind: String) -> Set<String> { keys[kind] ?? [] }

    init(_ texts: [String], configurations: [String]) throws {
        for text in texts {
            let file = mapping(try CoreValues.value(of: text))
            insert(file, MappingKind.file)
            for section in ["objects", "embedded"] {
                for object in mapping(file[section]).values.map(mapping) {
                    insert(object, MappingKind.object)
                    for property in mapping(object["properties"]).values {
                        insert(mapping(property), MappingKind.property)
                    }
                }
            }
            for item in mapping(file["enums"]).values { insert(mapping(item), MappingKind.enumeration) }
            for item in mapping(file["projections"]).values { insert(mapping(item), MappingKind.projection) }
        }
        for text in configurations {
            let file = mapping(try CoreValues.value(of: text))
            insert(file, MappingKind.configuration)
            let lint = mapping(file["lint"])
            insert(lint, MappingKind.lint)
            for item in lint["overrides"] as? [Any] ?? [] { insert(mapping(item), MappingKind.lintOverride) }
        }
    }

    private func mapping(_ value: Any?) -> [String: Any] { value as? [String: Any] ?? [:] }

    private mutating func insert(_ mapping: [String: Any], _ kind: MappingKind) {
        keys[kind.name, default: []].formUnion(mapping.keys)
    }
}
