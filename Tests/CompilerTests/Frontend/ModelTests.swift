import CompilerInvariants
import Foundation
import MartletFrontend
import MartletSchema
import Testing

/// The files in `Fixtures/Good`. Together they form one valid schema.
enum GoodSchema {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures/Good")

    static let sources: [SourceText] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().filter { $0.hasSuffix(".yaml") }.enumerated().map { index, name in
            let data = (try? Data(contentsOf: folder.appendingPathComponent(name))) ?? Data()
            return SourceText(
                file: SourceFileID(index), relativePath: name, displayPath: name, bytes: Array(data))
        }
    }()
}

@Suite("Frontend: models of good schemas")
struct ModelTests {
    @Test("a schema that uses every feature has the expected model S1 S2 S3 S4 S5 S52")
    func everything() throws {
        let result = Frontend.analyze(GoodSchema.sources)
        #expect(result.diagnostics.filter(\.isError).map(\.message) == [])
        let url = GoodSchema.folder.appendingPathComponent("model.txt")
        let dump = try #require(result.model).dump()
        if ProcessInfo.processInfo.environment["MARTLET_RECORD"] != nil { try Data(dump.utf8).write(to: url) }
        #expect(try dump == String(contentsOf: url, encoding: .utf8))
    }

    private func model(_ text: String) throws -> SchemaModel {
        let result = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: text)])
        return try #require(result.model, "\(result.diagnostics.map(\.message))")
    }

    @Test("documentation is the text of ## lines directly above a declaration, or of its key 'doc' S3")
    func documentation() throws {
        let schema = try model(
            """
            objects:
              ## First line.
              # private
              ##
              ## Last line.
              Dog:
                properties:
                  ## Far away.

                  name: String
                  # private
                  age: Int
                  text:
                    type: String
                    doc: |
                      ## not a comment
                      # martlet:ignore MRT0501

            """)
        let dog = try #require(schema.object(named: "Dog"))
        #expect(dog.documentation == "First line.\n\nLast line.")
        #expect(dog.property(named: "name")?.documentation == nil)
        #expect(dog.property(named: "age")?.documentation == nil)
        #expect(dog.property(named: "text")?.documentation == "## not a comment\n# martlet:ignore MRT0501")
        #expect(schema.files[0].ignores.isEmpty)
    }

    @Test("key paths have the expected optionality, writability and collection segment S5")
    func keyPaths() throws {
        let schema = try model(
            """
            objects:
              Dog:
                primaryKey: id
                properties:
                  id: Int
                  name: String
                  age: Int?
                  owner: Dog?
                  friends: List<Dog>
                  fans: LinkingObjects<Dog.friends>
            projections:
              P:
                of: Dog
                properties:
                  id: id
                  name: name
                  ownerName: owner.name
                  ownerAge: owner.age
                  friendNames: friends.name
                  friendOwners: friends.owner.name
                  fans: fans
                  friends: friends
                  ownerFriends: owner.friends

            """)
        let paths = Dictionary(uniqueKeysWithValues: schema.projections[0].labels.map { ($0.name, $0.path) })
        #expect(paths["id"]?.isWritable == false)
        #expect(paths["name"]?.isWritable == true)
        #expect(paths["ownerName"]?.isOptional == true)
        #expect(paths["ownerName"]?.isWritable == false)
        #expect(paths["ownerAge"]?.isWritable == true)
        #expect(paths["friendNames"]?.collectionSegment == 0)
        #expect(paths["friendNames"]?.isOptional == false)
        #expect(paths["friendOwners"]?.isOptional == true)
        #expect(paths["fans"]?.isWritable == false)
        #expect(paths["friends"]?.isWritable == true)
        #expect(paths["friends"]?.passesThroughCollection == false)
        #expect(paths["ownerFriends"]?.isOptional == true)
    }

    @Test("quoted text and escapes are decoded S6")
    func literals() throws {
        let schema = try model(
            #"""
            objects:
              Dog:
                properties:
                  a: String = "\"\\\n\t\u00e6\u{1F985}\uD83E\uDD85"
                  b: String = 'it''s'
                  c: 'String = "a: b # c"'
                  d: {type: String, default: "é\"x"}
                  e: {type: String, default: 5x}
                  f: Date = 2001-01-02T00:00:00.5+01:00

            """#)
        let dog = try #require(schema.object(named: "Dog"))
        #expect(dog.property(named: "a")?.defaultValue == .string("\"\\\n\tæ🦅🦅"))
        #expect(dog.property(named: "b")?.defaultValue == .string("it's"))
        #expect(dog.property(named: "c")?.defaultValue == .string("a: b # c"))
        #expect(dog.property(named: "d")?.defaultValue == .string("é\"x"))
        #expect(dog.property(named: "e")?.defaultValue == .string("5x"))
        #expect(dog.property(named: "f")?.defaultValue == .date(86_400 - 3600 + 0.5))
    }

    @Test("at most three similar names are suggested, nearest first S11")
    func suggestions() {
        let text =
            "objects:\n  A:\n    properties: {a: Bind?}\n"
            + ["Bird", "Bond", "Band", "Bend", "Kind"]
            .map { "  \($0):\n    properties: {a: Int}\n" }.joined()
        let findings = Frontend.analyze([SourceText(file: SourceFileID(0), path: "A.yaml", text: text)]).diagnostics
        #expect(findings.map(\.help) == ["did you mean 'Bird', 'Bond' or 'Band'?"])
        #expect(findings[0].fixes.count == 3)
    }
}
