import Foundation
import MartletEngine
import MartletFrontend
import MartletLint
import MartletSchema
import ModelTesting
import Testing

@testable import MartletBackend

/// Compares the compiler with the runtime: the command `breaking` reports lost data if and only if the runtime refuses
/// to open a file of the old schema.
@Suite("Breaking: agreement with the runtime")
struct RuntimeAgreementTests {
    @Test(
        "the runtime refuses a schema change if and only if 'breaking' reports that it loses data S43",
        arguments: 0..<4 as Range<UInt64>)
    func agreement(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var outcomes: [Bool: Int] = [:]
        for _ in 0..<750 {
            let texts = (SampleSchema.text(&random), SampleSchema.text(&random))
            guard let old = model(texts.0, SourceFileID(1)), let new = model(texts.1, SourceFileID(0)) else { continue }
            let difference = SchemaDiff(stored: facts(of: old), declared: facts(of: new))
            let isRefused = !difference.migrationReasons.isEmpty
            // The runtime accepts that a type is no longer declared: its objects stay in the file.
            let lost = BreakingChanges.between(old, new).filter {
                $0.level == .data && !$0.message.contains("its stored objects cannot be read")
            }
            #expect(
                isRefused == !lost.isEmpty,
                "\(texts.0)\n\(texts.1)\n\(difference.migrationReasons)\n\(lost.map(\.message))")
            outcomes[isRefused, default: 0] += 1
        }
        // The test is significant only if both outcomes occur often.
        #expect(outcomes[true, default: 0] > 300)
        #expect(outcomes[false, default: 0] > 10)
    }

    @Test(
        "a change that loses data is refused with the old schema version, and migrated with a higher one S43")
    func migrations() throws {
        var random = SeededRandom(seed: 9)
        var outcomes: [Bool: Int] = [:]
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("agreement-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for number in 0..<120 {
            let texts = (SampleSchema.text(&random), SampleSchema.text(&random))
            guard let old = model(texts.0, SourceFileID(1)), let new = model(texts.1, SourceFileID(0)) else { continue }
            let needsVersion = BreakingChanges.between(old, new).contains {
                $0.level == .data && !$0.message.contains("its stored objects cannot be read")
            }
            let path = folder.appendingPathComponent("\(number).realm").path
            _ = try open(path, facts(of: old), version: 0)
            if needsVersion {
                #expect(throws: EngineError.self, "\(texts)") { _ = try open(path, facts(of: new), version: 0) }
            }
            let declared = facts(of: new)
            let schema = try open(path, declared, version: needsVersion ? 1 : 0).schema
            for type in declared { #expect(schema[type.name]?.type == type, "\(texts)") }
            outcomes[needsVersion, default: 0] += 1
        }
        #expect(outcomes[true, default: 0] > 20)
        #expect(outcomes[false, default: 0] > 0)
    }

    @Test("the runtime reads every fact that the compiler writes, and writes the same text S53")
    func sameFacts() throws {
        let model = try #require(Frontend.analyze(GoodSchema.sources).model)
        for object in model.objects {
            let text = SchemaFactsEmitter.lines(for: object).joined(separator: "\n")
            let type = try #require(SchemaFactsParser.storedType(text), "\(text)")
            #expect(SchemaFactsWriter.facts(type) == text)
        }
    }

    private func open(_ path: String, _ types: [ObjectTypeSchema], version: UInt64) throws -> StoreCoordinator {
        var options = StoreOptions(
            path: path, types: types.map { type in TypeDeclaration(type) { TableLayout.zeroRow(type) } })
        options.schemaVersion = version
        options.durability = .off
        return try StoreRegistry.coordinator(options)
    }

    private func model(_ text: String, _ file: SourceFileID) -> SchemaModel? {
        Frontend.analyze([SourceText(file: file, path: "A.yaml", text: text)]).model
    }

    /// Parses the schema descriptions that generated classes contain.
    private func facts(of schema: SchemaModel) -> [ObjectTypeSchema] {
        schema.objects.compactMap { object in
            SchemaFactsParser.objectType(SchemaFactsEmitter.lines(for: object).joined(separator: "\n"))
        }
    }
}

/// Random small schemas that have much in common with each other. Few of them contain errors.
private enum SampleSchema {
    private static let types = ["Ant", "Bee", "Cat", "Dog"]
    private static let properties = ["p", "q", "r"]

    static func text(_ random: inout SeededRandom) -> String {
        var names = types.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
        if names.isEmpty { names = ["Ant"] }
        let embedded = names.count > 1 && Int.random(in: 0..<5, using: &random) == 0 ? names.removeLast() : nil
        let size = Int.random(in: 0..<6, using: &random) == 0 ? "{raw: Int, cases: {x: 1}}" : "[x]"
        var text = "enums:\n  Size: \(size)\n  Height: [x]\nobjects:\n"
        for name in names { text += object(name, links: names, embedded, &random) }
        if let embedded { text += "embedded:\n" + object(embedded, links: names, nil, &random) }
        return text
    }

    private static func object(
        _ name: String, links: [String], _ embedded: String?, _ random: inout SeededRandom
    ) -> String {
        var choices = [
            "Int", "Int?", "Int64", "String", "List<Int>", "List<Int?>", "Set<Int>", "Map<Int>", "Size", "Height",
            "Size?",
        ]
        for link in links { choices += ["\(link)?", "List<\(link)>", "Map<\(link)?>"] }
        if let embedded { choices += ["\(embedded)?", "List<\(embedded)>"] }
        var list: [String] = []
        for (name, usual) in zip(properties, ["Int", "Int?", "Size"]) where Int.random(in: 0..<5, using: &random) > 0 {
            let type =
                Int.random(in: 0..<3, using: &random) > 0 ? usual : choices.randomElement(using: &random) ?? usual
            list.append("\(name): {\(rename(properties, &random))type: \(type)}")
        }
        let isKeyed =
            links.contains(name) && list.first?.hasSuffix("type: Int}") == true
            && Int.random(in: 0..<8, using: &random) == 0
        let key = isKeyed ? "primaryKey: \(list[0].prefix(1)), " : ""
        return "  \(name): {\(rename(types, &random))\(key)properties: {\(list.joined(separator: ", "))}}\n"
    }

    private static func rename(_ names: [String], _ random: inout SeededRandom) -> String {
        guard Int.random(in: 0..<4, using: &random) == 0, let name = names.randomElement(using: &random) else {
            return ""
        }
        return "renamedFrom: \(name), "
    }
}
