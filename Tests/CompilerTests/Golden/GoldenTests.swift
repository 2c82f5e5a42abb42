import Foundation
import MartletBackend
import MartletFrontend
import MartletSchema
import Testing

/// The schemas of this repository and the Swift code that is committed for them.
///
/// If the generator changes, regenerate the committed code: `MARTLET_RECORD=1 swift test --filter Golden`.
@Suite("Golden: generated code")
struct GoldenTests {
    static let schemas = ["Kennel", "Conformance", "Flights"]

    @Test("the committed code equals the generated code, byte for byte S13", arguments: schemas)
    func committed(schema: String) throws {
        let outputs = try GoldenFolder(schema).generate()
        let folder = Repository.root.appending(path: "Generated/\(schema)")
        if ProcessInfo.processInfo.environment["MARTLET_RECORD"] != nil {
            try record(outputs, in: folder)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == outputs.map(\.name).sorted())
        for output in outputs {
            let committed = try Data(contentsOf: folder.appending(path: output.name))
            #expect(committed == Data(output.text.utf8), "\(output.name) has drifted")
        }
    }

    @Test("generation is deterministic and independent of the order of files S13", arguments: schemas)
    func deterministic(schema: String) throws {
        let folder = try GoldenFolder(schema)
        let outputs = try folder.generate()
        #expect(try folder.generate() == outputs)
        #expect(try folder.reversed().generate() == outputs)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5 {
            #expect(try folder.shuffled(using: &generator).generate() == outputs)
        }
    }

    @Test("a change of one schema changes only its own Swift file S20")
    func locality() throws {
        let folder = try GoldenFolder("Flights")
        let before = Dictionary(uniqueKeysWithValues: try folder.generate().map { ($0.name, $0.text) })
        let edited = try folder.replacing("speed: Int?", with: "topSpeed: Int?")
        let changed = try edited.generate().filter { before[$0.name] != $0.text }.map(\.name)
        #expect(changed == ["Plane.martlet.swift"])
    }

    @Test("the output contains no local path S13", arguments: schemas)
    func clean(schema: String) throws {
        for output in try GoldenFolder(schema).generate() {
            #expect(!output.text.contains(Repository.root.path))
            #expect(!output.text.contains("Schemas/"))
        }
    }

    private func record(_ outputs: [OutputFile], in folder: URL) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where !outputs.contains(where: { $0.name == name }) {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        for output in outputs {
            try Data(output.text.utf8).write(to: folder.appending(path: output.name))
        }
    }
}

enum Repository {
    /// The folder that contains `Package.swift`.
    static let root: URL = {
        var folder = URL(filePath: #filePath).deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path)
        {
            folder.deleteLastPathComponent()
        }
        return folder
    }()
}

/// The schema texts of one folder.
struct GoldenFolder {
    private let files: [(path: String, text: String)]

    init(_ schema: String) throws {
        let folder = Repository.root.appending(path: "Schemas/\(schema)")
        files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".yaml") }
            .sorted()
            .map { ($0, try String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
        try #require(!files.isEmpty)
    }

    private init(files: [(path: String, text: String)]) {
        self.files = files
    }

    func reversed() -> GoldenFolder { GoldenFolder(files: files.reversed()) }

    func shuffled(using generator: inout some RandomNumberGenerator) -> GoldenFolder {
        GoldenFolder(files: files.shuffled(using: &generator))
    }

    func replacing(_ text: String, with other: String) throws -> GoldenFolder {
        let edited = files.map { ($0.path, $0.text.replacing(text, with: other)) }
        try #require(!edited.map(\.1).elementsEqual(files.map(\.text)))
        return GoldenFolder(files: edited)
    }

    func generate(_ options: GenerationOptions = GenerationOptions()) throws -> [OutputFile] {
        let sources = files.enumerated().map { index, file in
            SourceText(file: SourceFileID(index), path: file.path, text: file.text)
        }
        let (model, diagnostics) = Frontend.analyze(sources)
        let findings = diagnostics.map { "\($0.code.rawValue) \($0.message)" }
        return Backend.generate(try #require(model, "\(findings)"), options: options)
    }
}
