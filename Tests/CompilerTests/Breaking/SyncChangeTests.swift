import MartletLint
import MartletSchema
import Testing

@Suite("Breaking: synchronization")
struct SyncChangeTests {
    private func dog(_ keys: String, _ properties: String = "") -> String {
        let more = properties.isEmpty ? "" : ", " + properties
        return "objects:\n  Dog:\n    primaryKey: id\n\(keys.split(separator: ";").map { "    \($0)\n" }.joined())"
            + "    properties: {id: Int, name: String\(more)}\n"
    }

    private func messages(_ old: String, _ new: String) throws -> [String] {
        try SchemaChange(old, new).findings(failingFrom: .query).map(\.message)
    }

    @Test(
        "less synchronization of a type breaks data, and more synchronization changes queries S43 S52 MRT0601",
        arguments: [
            (
                "both", "none",
                "data: type 'Dog' is not synchronized any more, so objects of other machines do not arrive and the service has no table; keep 'sync: both'"
            ),
            (
                "upload", "none",
                "data: type 'Dog' is not synchronized any more, so objects of other machines do not arrive and the service has no table; keep 'sync: upload'"
            ),
            (
                "both", "upload",
                "data: type 'Dog' is now 'sync: upload', so objects of other machines do not arrive; keep 'sync: both'"
            ),
            (
                "none", "both",
                "query: type 'Dog' is synchronized now, and the service does not know the objects that files have already; keep 'sync: none'"
            ),
            (
                "upload", "both",
                "query: type 'Dog' is now received, too, so objects of other machines appear; keep 'sync: upload'"
            ),
        ])
    func modes(_ change: (old: String, new: String, message: String)) throws {
        #expect(try messages(dog("sync: \(change.old)"), dog("sync: \(change.new)")) == ["breaks \(change.message)"])
    }

    @Test("a changed mode is reported at its value S43 S52 MRT0601")
    func place() throws {
        try check(
            dog("sync: «both»"), dog("sync: «upload»"),
            ["data: type 'Dog' is now 'sync: upload', so objects of other machines do not arrive; keep 'sync: both'"])
    }

    @Test("a property that becomes local breaks data; one that becomes synchronized changes queries S43 S52 MRT0601")
    func local() throws {
        let (sent, kept) = (dog("sync: both", "age: Int = 0"), dog("sync: both", "age: {type: Int = 0, sync: none}"))
        #expect(
            try messages(sent, kept).map { $0.hasPrefix("breaks data: 'Dog.age' is not synchronized any more") } == [
                true
            ])
        #expect(try messages(kept, sent).map { $0.hasPrefix("breaks query: 'Dog.age' is synchronized now") } == [true])
    }

    @Test("adding or removing 'merge: add' changes how concurrent changes are merged S43 S52 MRT0601")
    func counters() throws {
        let (plain, counter) = (dog("sync: both", "age: Int"), dog("sync: both", "age: {type: Int, merge: add}"))
        #expect(
            try messages(counter, plain) == [
                "breaks query: 'Dog.age' is no longer a counter, so the last of concurrent changes wins; keep 'merge: add'"
            ])
        #expect(
            try messages(plain, counter) == [
                "breaks query: 'Dog.age' is a counter now, so concurrent changes are added; remove 'merge: add'"
            ])
    }

    @Test("an added, removed or changed rule changes queries; another notation of a rule does not S43 S54 MRT0601")
    func rules() throws {
        let (one, two) = (dog("sync: both;read: id == 1"), dog("sync: both;read: id == 2"))
        #expect(
            try messages(one, two) == [
                "breaks query: 'read' of 'Dog' was 'id == 1' and is 'id == 2', so users see other objects; keep it, if "
                    + "this is not intended"
            ])
        #expect(try messages(dog("sync: both"), one).map { $0.contains("is new: 'id == 1'") } == [true])
        #expect(try messages(one, dog("sync: both")).map { $0.contains("was removed; it was 'id == 1'") } == [true])
        #expect(try messages(one, dog("sync: both;read: (1 = id)")).isEmpty)
        let (first, second) = (
            dog("sync: both", "age: {type: Int, write: id == 1}"), dog("sync: both", "age: {type: Int, write: id == 2}")
        )
        #expect(try messages(first, second).map { $0.hasPrefix("breaks query: 'write' of 'Dog.age' was") } == [true])
    }

    @Test("a rule is not reported as changed if only its types and properties are renamed S43 S54 MRT0601")
    func renamed() throws {
        let old = """
            embedded:
              Home: {properties: {city: String}}
            objects:
              Person: {primaryKey: id, sync: both, properties: {id: String}}
              Dog:
                primaryKey: id
                sync: both
                read: a == 1 OR home.city == "x" OR owner.id == $user.sub
                properties: {id: Int, a: Int, home: Home?, owner: Person?}

            """
        let new = """
            embedded:
              Home: {properties: {town: {type: String, renamedFrom: city}}}
            objects:
              Human: {renamedFrom: Person, primaryKey: key, sync: both, properties: {key: {type: String, renamedFrom: id}}}
              Dog:
                primaryKey: id
                sync: both
                read: b == 1 OR place.town == "x" OR boss.key == $user.sub
                properties: {id: Int, b: {type: Int, renamedFrom: a}, place: {type: Home?, renamedFrom: home}, boss: {type: Human?, renamedFrom: owner}}

            """
        #expect(try messages(old, new).filter { $0.contains("'read'") }.isEmpty)
    }
}
