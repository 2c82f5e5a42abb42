import ConformanceModels
import Foundation
import MartletEngine
import MartletSQLite
import MartletTestSupport
import MartletValues
import Testing

@testable import Martlet

/// Nested `AnyRealmValue` values. A value may be nested 100 levels deep. The runtime rejects deeper values, whether a
/// program assigns them or a file contains them.
@Suite("nested values") struct NestingTests {
    private static func nested(_ depth: Int, in value: AnyRealmValue = .int(1)) -> AnyRealmValue {
        (0..<depth).reduce(value) { value, level in level.isMultiple(of: 2) ? .list([value]) : .map(["k": value]) }
    }

    /// The stored form of a value inside `depth` nested lists. The depth may exceed the limit for programs.
    private static func stored(_ depth: Int, in value: SQLValue) -> SQLValue {
        (0..<depth).reduce(value) { value, _ in AnyValueTag.list.tagged(ElementCodec.encode([value])) }
    }

    /// The SQL literal of a blob.
    private static func literal(_ value: SQLValue) -> String {
        guard case .blob(let bytes) = value else { return "NULL" }
        return "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }

    @Test("a value with 100 nested lists and maps is stored, read, queried, encoded and deleted") func greatest() throws
    {
        let test = try TestRealm()
        let realm = test.realm
        let node = Node(id: 1)
        try realm.write { realm.add(node) }
        let value = Self.nested(100, in: .object(node))
        let scalars = Scalars(id: 1, anyValue: value)
        let lists = ScalarLists(id: 1)
        try realm.write {
            realm.add(scalars)
            realm.add(lists)
            lists.anyValues.append(Self.nested(100))
        }
        #expect(scalars.anyValue == value && scalars.anyValue.hashValue == value.hashValue)
        #expect(realm.objects(Scalars.self).where { $0.anyValue == value }.count == 1)
        #expect(realm.objects(Scalars.self).sorted(byKeyPath: "anyValue").first == scalars)
        let plain = Self.nested(100)
        let coded = try JSONDecoder().decode(AnyRealmValue.self, from: JSONEncoder().encode(plain))
        #expect(coded == plain && lists.anyValues[0] == plain)
        try realm.write { realm.delete(node) }
        #expect(scalars.anyValue == Self.nested(100, in: .none))
    }

    @Test("values are compared and hashed at any depth") func unbounded() {
        let (left, right) = (Self.nested(5_000), Self.nested(5_000))
        #expect(left == right && left.hashValue == right.hashValue && left != Self.nested(4_999))
        #expect(
            AnyRealmValue.map(["a": .int(1), "b": .int(2)]).hashValue
                == AnyRealmValue.map(["b": .int(2), "a": .int(1)]).hashValue)
        #expect(AnyRealmValue.list([.int(1), .int(2)]) != .list([.int(2), .int(1)]))
        #expect(AnyRealmValue.map(["a": .int(1)]) != .map(["b": .int(1)]) && AnyRealmValue.int(1) != .double(1))
    }

    @Test("encoding or decoding a value with more than 100 levels throws") func coding() {
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(Self.nested(101)) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(Self.nested(5_000)) }
        let text = String(repeating: "[", count: 101) + String(repeating: "]", count: 101)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(AnyRealmValue.self, from: Data(text.utf8)) }
    }

    @Test("storing a value with more than 100 levels traps", arguments: 0..<6) func storing(_ api: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [api = api as Int] in
            let value = NestingTests.nested(api == 0 ? 20_000 : 101)
            let test = try TestRealm()
            let (scalars, lists) = (Scalars(id: 1), ScalarLists(id: 1))
            try test.realm.write {
                test.realm.add(scalars)
                test.realm.add(lists)
                switch api {
                case 0, 1: scalars.anyValue = value
                case 2: lists.anyValues.append(value)
                case 3: _ = Scalars(id: 2, anyValue: value)
                case 4: scalars["anyValue"] = (0..<101).reduce(1 as Any) { value, _ in [value] }
                default: _ = test.realm.objects(Scalars.self).where { $0.anyValue == value }.count
                }
            }
        }
        expectMessage(result, "[nestedTooDeep]")
    }

    @Test("reading a value with more than 100 levels from a file traps", arguments: [101, 5_000])
    func reading(_ depth: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [depth = depth as Int] in
            let file = try DamagedFile()
            let value = NestingTests.literal(NestingTests.stored(depth, in: .integer(1)))
            try file.damage("UPDATE Scalars SET anyValue = \(value) WHERE id = 1")
            _ = try file.open().objects(Scalars.self).first?.anyValue
        }
        expectMessage(result, "'Scalars.anyValue' in the row with the key 1 holds")
    }

    @Test(
        "deleting the target of a link in a value with more than 100 levels throws an error", arguments: [101, 5_000])
    func deleting(_ depth: Int) throws {
        let file = try DamagedFile()
        let before = try file.open()
        let node = try #require(before.object(ofType: Node.self, forPrimaryKey: 2))
        let link = AnyLink(try #require(node._table?.id), node._key).stored
        before.invalidate()
        // The damaged file must be closed, so the link comes from another file with the same objects.
        let second = try DamagedFile()
        try second.damage("UPDATE Scalars SET anyValue = \(Self.literal(Self.stored(depth, in: link))) WHERE id = 3")
        let realm = try second.open()
        let error = #expect(throws: Realm.Error.self) {
            try realm.write { realm.delete(try #require(realm.object(ofType: Node.self, forPrimaryKey: 2))) }
        }
        #expect(
            error?.code == .fileCorrupted && error?.message.contains("'Scalars.anyValue'") == true, "\(error as Any)")
        #expect(realm.object(ofType: Node.self, forPrimaryKey: 2) != nil)
    }
}
