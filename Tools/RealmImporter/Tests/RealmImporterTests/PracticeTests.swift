import Foundation
import MartletCompiler
import MartletSchema
import MartletTools
import RealmImporter
import Testing

/// The model of a veterinary practice, with its expected schema and findings.
///
/// After a change of the importer, `MARTLET_RECORD=1 swift test --filter Practice` writes the expected files again.
@Suite("Practice: a complete model")
struct PracticeTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Fixtures/Practice")

    private static func sources() throws -> [SourceText] {
        let folder = folder.appending(path: "Swift")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try names.sorted().enumerated().map { number, name in
            let data = try Data(contentsOf: folder.appending(path: name))
            return SourceText(file: SourceFileID(number), relativePath: name, displayPath: name, bytes: Array(data))
        }
    }

    @Test("the schema equals the expected one, byte for byte S51")
    func schema() throws {
        let result = try Importer.run(Self.sources())
        let folder = Self.folder.appending(path: "Expected")
        if ProcessInfo.processInfo.environment["MARTLET_RECORD"] != nil { try record(result, in: folder) }
        let expected = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".yaml")
        }
        #expect(expected.sorted() == result.outputs.map(\.path).sorted())
        for output in result.outputs {
            let text = try String(contentsOf: folder.appending(path: output.path), encoding: .utf8)
            #expect(
                String(decoding: output.bytes, as: UTF8.self) == text, "\(output.path) differs from the expected file")
        }
    }

    @Test("the findings equal the expected ones")
    func findings() throws {
        let sources = try Self.sources()
        let result = try Importer.run(sources)
        let text =
            FindingPrinter(sources: sources).text(result.findings) + result.summary + "\n"
        let expected = Self.folder.appending(path: "Expected/Findings.txt")
        if ProcessInfo.processInfo.environment["MARTLET_RECORD"] != nil {
            try Data(text.utf8).write(to: expected)
        }
        #expect(try String(contentsOf: expected, encoding: .utf8) == text)
    }

    @Test("the schema compiles, and is formatted as by 'martlet format'")
    func compiles() throws {
        let result = try Importer.run(Self.sources())
        expectCompiles(result)
        for output in result.outputs {
            let source = SourceText(
                file: SourceFileID(0), relativePath: output.path, displayPath: output.path, bytes: output.bytes)
            #expect(Compiler.format(source).bytes == output.bytes)
        }
    }

    @Test("the model uses both styles, has at least twenty classes, and yields at least twenty object types")
    func size() throws {
        let texts = try Self.sources().map { String(decoding: $0.bytes, as: UTF8.self) }
        let classes = texts.map { $0.matches(of: /class \w+(<.*>)?: \w+/).count }.reduce(0, +)
        #expect(classes >= 20)
        #expect(texts.contains { $0.contains("@Persisted") } && texts.contains { $0.contains("@objc dynamic") })
        let model = try #require(compiled(Importer.run(Self.sources())))
        #expect(model.objects.count >= 20)
    }

    @Test("a single file contains the same types as several files")
    func single() throws {
        let result = try Importer.run(Self.sources(), single: "All.yaml")
        #expect(result.outputs.map(\.path) == ["All.yaml"])
        let many = try #require(compiled(Importer.run(Self.sources())))
        let one = try #require(compiled(result))
        #expect(one.objects.map(\.name).sorted() == many.objects.map(\.name).sorted())
        #expect(one.enums.map(\.name).sorted() == many.enums.map(\.name).sorted())
        #expect(one.projections.map(\.name).sorted() == many.projections.map(\.name).sorted())
    }

    @Test("importing is deterministic")
    func deterministic() throws {
        let first = try Importer.run(Self.sources())
        for _ in 0..<5 {
            let again = try Importer.run(Self.sources())
            #expect(again.outputs == first.outputs)
            #expect(again.findings == first.findings)
        }
    }

    @Test("truncated files are rejected or produce a schema that compiles")
    func truncated() throws {
        var schemas = 0
        for source in try Self.sources() {
            for length in stride(from: 0, to: source.bytes.count, by: 61) {
                let text = SourceText(
                    file: SourceFileID(0), relativePath: "A.swift", displayPath: "A.swift",
                    bytes: Array(source.bytes.prefix(length)))
                let result = try Importer.run([text])
                let isRejected = result.findings.contains { $0.severity == .error }
                #expect(!isRejected || result.outputs.isEmpty)
                if result.outputs.isEmpty { continue }
                schemas += 1
                expectCompiles(result)
            }
        }
        #expect(schemas > 0)
    }

    private func compiled(_ result: Import) -> SchemaModel? {
        let sources = result.outputs.enumerated().map { number, output in
            SourceText(
                file: SourceFileID(number), relativePath: output.path, displayPath: output.path, bytes: output.bytes)
        }
        return Compiler.lintAndCompile(SchemaInput(sources: sources)).model
    }

    private func record(_ result: Import, in folder: URL) throws {
        for name in (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
        where name.hasSuffix(".yaml") {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        for output in result.outputs {
            let file = folder.appending(path: output.path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(output.bytes).write(to: file)
        }
    }
}
