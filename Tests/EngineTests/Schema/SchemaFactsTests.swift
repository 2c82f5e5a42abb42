import ModelTesting
import Testing

@testable import MartletEngine

@Suite("the text form of object types (schema facts)")
struct SchemaFactsTests {
    static let everything = """
        object Dog
        renamedFrom Hound
        primaryKey id
        unique name born
        unique tag
        property id ObjectId
        property name String index
        property born Date? renamedFrom=birthday
        property tag enum:String
        property size enum:Int?
        property story String fullText
        property owner link:Person? onDelete=cascade deleteRule=deny
        property chip embedded:Chip?
        property names List<String?>
        property siblings List<link:Dog>
        property scores Set<Int8>
        property homes Map<link:Place?>
        property fans LinkingObjects<Person.idol>
        property anything AnyRealmValue
        """

    @Test("an object type that is written as text and parsed again is equal")
    func roundTrip() throws {
        let type = try #require(SchemaFactsParser.objectType(Self.everything))
        #expect(type.properties.count == 14)
        #expect(type.uniques == [[1, 2], [3]])
        #expect(type.primaryKey == 0)
        #expect(SchemaFactsParser.storedType(SchemaFactsWriter.facts(type)) == type)
        for scalar in ScalarType.allCases {
            for text in [
                "\(scalar.rawValue)", "\(scalar.rawValue)?", "List<\(scalar.rawValue)>", "Map<\(scalar.rawValue)?>",
            ] {
                let facts = "embedded E\nproperty p \(text)"
                #expect(SchemaFactsParser.storedType(facts).map(SchemaFactsWriter.facts) == facts)
            }
        }
    }

    static let synchronized = """
        object Dog
        primaryKey id
        sync both
        rule read owner.id == $user.sub OR name == '  x'
        rule delete FALSEPREDICATE
        property id ObjectId
        property name String index
        property votes Int merge=add
        property place Double sync=none
        property owner link:Person?
        rule write.name  $user.isAdmin == true
        """

    @Test("the facts about synchronization are parsed and written")
    func synchronization() throws {
        let type = try #require(SchemaFactsParser.storedType(Self.synchronized))
        #expect(type.syncMode == .both)
        #expect(type.rule(.read)?.text == "owner.id == $user.sub OR name == '  x'")
        #expect(type.rule(.delete)?.text == "FALSEPREDICATE" && type.rule(.write) == nil)
        #expect(type.properties.map(\.isCounter) == [false, false, true, false, false])
        #expect(type.properties.map(\.isLocal) == [false, false, false, true, false])
        #expect(type["name"]?.writeRule == " $user.isAdmin == true")
        #expect(SchemaFactsWriter.facts(type) == Self.synchronized)
        let plain = try #require(SchemaFactsParser.storedType(Self.everything))
        #expect(plain.syncMode == .none && plain.rules.isEmpty)
    }

    @Test("tables do not depend on the facts about synchronization")
    func storage() throws {
        let words = ["sync", "rule"]
        let plain = Self.synchronized.split(separator: "\n").filter { line in !words.contains { line.hasPrefix($0) } }
            .map { $0.replacing(" merge=add", with: "").replacing(" sync=none", with: "") }.joined(separator: "\n")
        let before = try #require(SchemaFactsParser.storedType(plain))
        let after = try #require(SchemaFactsParser.storedType(Self.synchronized))
        #expect(before.isStorageCompatible(with: after) && after.isStorageCompatible(with: before))
        let diff = SchemaDiff(stored: [before], declared: [after])
        #expect(diff.steps == [.replaceSchemaFacts("Dog")] && !diff.needsMigration)
    }

    @Test(
        "text that cannot be parsed completely is rejected",
        arguments: [
            "", " ", "\n", "property a Int", "object", "object A B", "object A\nproperty", "object A\nproperty x",
            "object A\nproperty x Intt", "object A\nproperty x Int what", "object A\nproperty x Int onDelete=explode",
            "object A\nproperty x Int deleteRule=explode",
            "object A\nproperty x Int =", "object A\nproperty x LinkingObjects<B>", "object A\nproperty x Tree<Int>",
            "object A\nproperty x link:", "object A\nprimaryKey x", "object A\nunique x", "object A\nfuture thing",
            "object A\nproperty x Int\nproperty x Int", "object A\nproperty x Int renamedFrom=",
            "object A\n \nproperty x Int", "sync both", "object A\nsync sometimes", "object A\nsync both both",
            "object A\nrule read", "object A\nrule see x == 1", "object A\nrule read a\nrule read b",
            "object A\nrule write.x a\nproperty x Int", "object A\nproperty x Int\nrule read.x a",
            "object A\nproperty x Int\nrule write. a", "object A\nproperty x Int\nrule write.x a\nrule write.x b",
            "object A\nproperty x Int sync=both", "object A\nproperty x Int merge=max",
            "object A\nproperty x Int merge",
            "rule read a",
        ])
    func garbage(facts: String) {
        #expect(SchemaFactsParser.storedType(facts) == nil)
    }

    @Test("randomly changed text is parsed completely or rejected")
    func mutations() {
        var random = SeededRandom(seed: 11)
        for _ in 0..<2_000 {
            var bytes = Array((random.number(0..<2) == 0 ? Self.everything : Self.synchronized).utf8)
            for _ in 0..<random.number(1..<4) { bytes[random.number(0..<bytes.count)] = UInt8(random.number(0..<256)) }
            guard let type = SchemaFactsParser.storedType(String(decoding: bytes, as: UTF8.self)) else { continue }
            #expect(SchemaFactsParser.storedType(SchemaFactsWriter.facts(type)) == type)
        }
    }
}
