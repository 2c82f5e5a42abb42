import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// The runtime reports a stored value that does not fit the schema as damage of the file, and never returns another
/// value instead.
@Suite("damaged values") struct DamagedValueTests {
    struct Case: Sendable {
        let sql: String
        /// Parts that the message must contain, in addition to the path of the file and the advice.
        let messageParts: [String]
        let read: @Sendable (Realm) throws -> Void

        init(_ sql: String, messageParts: String..., read: @escaping @Sendable (Realm) throws -> Void) {
            self.sql = sql
            self.messageParts = messageParts
            self.read = read
        }
    }

    /// A case that stores the SQL expression `value` in a column of `Scalars`. The message must describe the stored
    /// value as `stored`, and the type of the property as `expected`.
    private static func scalar(
        _ column: String, _ value: String, _ stored: String, _ expected: String,
        _ read: @escaping @Sendable (Scalars) -> Void
    ) -> Case {
        Case(
            "UPDATE Scalars SET \"\(column)\" = \(value) WHERE id = 1",
            messageParts: "'Scalars.\(column)' in the row with the key 1 holds \(stored)", "expects \(expected)"
        ) { realm in
            guard let object = realm.objects(Scalars.self).first else { return }
            read(object)
        }
    }

    static let cases: [Case] = [
        scalar("int", "'abc'", "the text 'abc'", "Int") { _ = $0.int },
        scalar("int", "NULL", "nothing", "Int") { _ = $0.int },
        scalar("int", "CAST(x'61000a62' AS TEXT)", "the text 'a\\u{0}\\u{a}b'", "Int") { _ = $0.int },
        scalar("int", "2.5", "the number 2.5", "Int") { _ = $0.int },
        scalar("int8", "300", "the number 300", "Int8") { _ = $0.int8 },
        scalar("int16", "-40000", "the number -40000", "Int16") { _ = $0.int16 },
        scalar("int32", "5000000000", "the number 5000000000", "Int32") { _ = $0.int32 },
        scalar("bool", "x'01'", "1 byte (01)", "Bool") { _ = $0.bool },
        scalar("bool", "2", "the number 2", "Bool") { _ = $0.bool },
        scalar("double", "'abc'", "the text 'abc'", "Double") { _ = $0.double },
        scalar("double", "NULL", "nothing", "Double") { _ = $0.double },
        scalar("float", "x'00'", "1 byte (00)", "Float") { _ = $0.float },
        scalar("string", "x'41'", "1 byte (41)", "String") { _ = $0.string },
        scalar("string", "NULL", "nothing", "String") { _ = $0.string },
        scalar("string", "CAST(x'61ff62' AS TEXT)", "a text that is not UTF-8", "String") { _ = $0.string },
        scalar("data", "'abc'", "the text 'abc'", "Data") { _ = $0.data },
        scalar("data", "NULL", "nothing", "Data") { _ = $0.data },
        scalar("date", "'abc'", "the text 'abc'", "Date") { _ = $0.date },
        scalar("uuid", "x'0102'", "2 bytes (0102)", "UUID") { _ = $0.uuid },
        scalar("uuid", "5", "the number 5", "UUID") { _ = $0.uuid },
        scalar("objectId", "x'0102'", "2 bytes (0102)", "ObjectId") { _ = $0.objectId },
        scalar("decimal128", "'4'", "the text '4'", "Decimal128") { _ = $0.decimal128 },
        scalar("decimal128", "x'81ffffffffffffffffffffffffffffffffffff'", "19 bytes", "Decimal128") {
            _ = $0.decimal128.description
        },
        scalar("anyValue", "x'63'", "1 byte (63)", "AnyRealmValue") { _ = $0.anyValue },
        scalar("anyValue", "x'0800'", "2 bytes (0800)", "AnyRealmValue") { _ = $0.anyValue },
        scalar("anyValue", "x'0aff'", "2 bytes (0aff)", "AnyRealmValue") { _ = $0.anyValue },
        scalar("anyValue", "x'0aff'", "2 bytes (0aff)", "AnyRealmValue") { _ = $0["anyValue"] },
        scalar("int", "'abc'", "the text 'abc'", "Int") { _ = $0.realm?.objects(Scalars.self).map(\.string) },
        scalar("int", "'abc'", "the text 'abc'", "Int") { _ = $0.freeze().int },
        scalar("int", "'abc'", "the text 'abc'", "Int") { _ = $0["int"] },
        Case(
            "UPDATE OptionalScalars SET \"int\" = 'abc' WHERE id = 1",
            messageParts: "'OptionalScalars.int' in the row with the key 1 holds the text 'abc'", "expects Int?"
        ) { _ = $0.objects(OptionalScalars.self).first?.int },
        Case(
            "UPDATE OptionalScalars SET uuid = x'01' WHERE id = 1",
            messageParts: "'OptionalScalars.uuid' in the row with the key 1 holds 1 byte (01)", "expects UUID?"
        ) { _ = $0.object(ofType: OptionalScalars.self, forPrimaryKey: 1)?.uuid },
        Case(
            "UPDATE EnumHolder SET level = 'five' WHERE id = 1",
            messageParts: "'EnumHolder.level' in the row with the key 1 holds the text 'five'", "expects Int enum"
        ) { _ = $0.objects(EnumHolder.self).first?.level },
        Case(
            "UPDATE EnumHolder SET grade = NULL WHERE id = 1",
            messageParts: "'EnumHolder.grade' in the row with the key 1 holds nothing", "expects String enum"
        ) { _ = $0.objects(EnumHolder.self).first?.grade },
        Case(
            "UPDATE EnumHolder SET optionalLevel = x'00' WHERE id = 1",
            messageParts: "'EnumHolder.optionalLevel' in the row with the key 1 holds 1 byte (00)", "expects Int enum?"
        ) { _ = $0.objects(EnumHolder.self).first?.optionalLevel },
        Case(
            "UPDATE Node SET next = 'x' WHERE id = 1",
            messageParts: "'Node.next' in the row with the key 1 holds the text 'x'", "expects Node?"
        ) { _ = $0.objects(Node.self).first?.next },
        Case(
            "UPDATE Node SET next = 77 WHERE id = 1",
            messageParts: "'Node.next' in the row with the key 1 links to the row 77 of 'Node', which does not exist"
        ) { _ = $0.objects(Node.self).first?.next?.name },
        Case(
            "UPDATE Node SET next = 77 WHERE id = 1",
            messageParts: "'Node.next' in the row with the key 1 links to the row 77 of 'Node', which does not exist"
        ) { _ = $0.freeze().objects(Node.self).first?.next?.name },
        Case(
            "DELETE FROM Node WHERE id = 3",
            messageParts: "'Node.children' in the row with the key 1 links to the row 3 of 'Node', which does not exist"
        ) { _ = $0.objects(Node.self).first?.children[0].name },
        Case(
            "DELETE FROM Node WHERE id = 2; UPDATE Node SET next = NULL WHERE id = 1",
            messageParts: "links to the row 2 of 'Node', which does not exist"
        ) { _ = $0.object(ofType: Scalars.self, forPrimaryKey: 3)?.anyValue.object(Node.self)?.name },
        Case(
            "UPDATE Scalars SET anyValue = x'09000000630000000000000001' WHERE id = 1",
            messageParts: "'Scalars.anyValue' in the row with the key 1 links to the row 1 of 'type number 99'"
        ) { _ = $0.objects(Scalars.self).first?.anyValue },
        // The bytes encode one element, the text "ab". The list expects integers.
        Case(
            "UPDATE \"ScalarLists.ints\" SET count = 1, elements = x'0302000000000000006162'",
            messageParts: "'ScalarLists.ints' in the row with the key 1 holds the text 'ab' at position 0",
            "expects Int"
        ) { _ = $0.objects(ScalarLists.self).first?.ints[0] },
        Case(
            "UPDATE \"ScalarLists.strings\" SET count = 1, elements = x'030200000000000000ff62'",
            messageParts: "\"ScalarLists.strings\"", "of the row with the key 1"
        ) { _ = $0.objects(ScalarLists.self).first?.strings[0] },
        Case(
            "UPDATE \"ScalarLists.uuids\" SET count = 1, elements = x'04020000000000000001ff'",
            messageParts: "'ScalarLists.uuids' in the row with the key 1 holds 2 bytes (01ff) at position 0",
            "expects UUID"
        ) { _ = $0.objects(ScalarLists.self).first?.uuids.map { $0 } },
        Case(
            "UPDATE \"ScalarLists.ints\" SET elements = 'abc'",
            messageParts: "'ScalarLists.ints' in the row with the key 1"
        ) { _ = $0.objects(ScalarLists.self).where { $0.ints.contains(1) }.count },
        Case("UPDATE \"Node.children.targets\" SET count = -1", messageParts: "count of a link is less than 1") {
            for node in $0.objects(Node.self) { for parent in node.parents { _ = parent.name } }
        },
        Case("UPDATE \"Node.children.targets\" SET count = 0", messageParts: "count of a link is less than 1") {
            _ = $0.objects(Node.self).map(\.parents.count)
        },
        Case("UPDATE Scalars SET \"int\" = 'abc' WHERE id = 1", messageParts: "'Scalars.int'") {
            let sum: Int = $0.objects(Scalars.self).sum(ofProperty: "int")
            print(sum)
        },
        Case("UPDATE Scalars SET \"int\" = x'35' WHERE id = 1", messageParts: "'Scalars.int'") {
            let mean: Double? = $0.objects(Scalars.self).average(ofProperty: "int")
            print(mean ?? 0)
        },
        Case("UPDATE Scalars SET \"int\" = 'abc' WHERE id = 1", messageParts: "'Scalars.int'") {
            let greatest: Int? = $0.objects(Scalars.self).max(ofProperty: "int")
            print(greatest ?? 0)
        },
        Case("UPDATE Scalars SET \"int\" = 2.5 WHERE id = 1", messageParts: "'Scalars.int'") {
            let sum: Int = $0.objects(Scalars.self).sum(ofProperty: "int")
            print(sum)
        },
        Case("UPDATE Scalars SET \"int\" = NULL WHERE id = 1", messageParts: "'Scalars.int'") {
            let sum: Int = $0.objects(Scalars.self).sum(ofProperty: "int")
            print(sum)
        },
        Case("UPDATE Scalars SET decimal128 = x'99' WHERE id = 1", messageParts: "'Scalars.decimal128'") {
            let sum: Decimal128 = $0.objects(Scalars.self).sum(ofProperty: "decimal128")
            print(sum)
        },
    ]

    @Test(
        "reading a value that does not fit the schema traps, and the message names its type, property and row D93",
        arguments: cases.indices)
    func value(_ index: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [index = index as Int] in
            alarm(60)
            let damage = DamagedValueTests.cases[index]
            let file = try DamagedFile()
            try file.damage(damage.sql)
            let realm = try file.open()
            try damage.read(realm)
            print("read without a trap")
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let damage = Self.cases[index]
        #expect(output.contains("Martlet: "), "\(damage.sql): \(output.prefix(600))")
        for part in damage.messageParts + ["test.realm", "restore a backup"] {
            #expect(output.contains(part), "\(damage.sql) lacks '\(part)': \(output.prefix(900))")
        }
    }
}
