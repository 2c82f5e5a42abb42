import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

@Suite struct HashTests {
    /// Returns unmanaged objects of types with and without a primary key. The primary keys correspond to `id`.
    private static func objects(_ id: Int) -> [Object] {
        let uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(id)))
        return [
            IntKey(id: id), Int64Key(number: Int64(id)), StringKey(code: "\(id)"), UuidKey(id: uuid),
            ObjectIdKey(id: ObjectId(high: 0, low: UInt32(id))), Keyless(), Node(id: id), Person(firstName: "\(id)"),
        ]
    }

    @Test("a set finds an object after it was added to a Realm, changed and deleted O11") func found() throws {
        let test = try TestRealm()
        let objects = (0..<20).flatMap { Self.objects($0) }
        let set = Set(objects as [ObjectBase])
        let hashes = objects.map(\.hashValue)
        func check() {
            #expect(
                objects.allSatisfy(set.contains) && objects.map(\.hashValue) == hashes && set.count == objects.count)
        }
        check()
        try test.realm.write { test.realm.add(objects) }
        check()
        try test.realm.write { for case let key as StringKey in objects { key.content += 1 } }
        check()
        try test.onNewThread { realm in
            try realm.write { for key in realm.objects(StringKey.self) { key.content += 1 } }
        }
        _ = test.realm.refresh()
        check()
        let managed = Set(objects as [ObjectBase])
        try test.realm.write { test.realm.delete(objects) }
        check()
        #expect(objects.allSatisfy(managed.contains))
        // Computes the hashes of these objects before they are added, and again only after they were deleted by this
        // Realm or by another Realm.
        let hashed = [StringKey(code: "x"), StringKey(code: "y"), StringKey(code: "z")]
        hashed[1].content = hashed.map(\.hashValue).count
        hashed[2].code = "changed"
        let early = Set(hashed.dropLast() as [ObjectBase])
        try test.realm.write { test.realm.add(hashed) }
        try test.realm.write { test.realm.delete(hashed[0]) }
        try test.onNewThread { realm in try realm.write { realm.delete(realm.objects(StringKey.self)) } }
        _ = test.realm.refresh()
        #expect(early.contains(hashed[0]) && early.contains(hashed[1]) && hashed[1].isInvalidated)
        #expect(hashed[2].hashValue == StringKey(code: "changed").hashValue)
        let late = StringKey(code: "late")
        try test.realm.write { test.realm.add(late) }
        try test.realm.write { test.realm.delete(late) }
        #expect(late.hashValue == late.hashValue && late != StringKey(code: "late"))
    }

    @Test("equal accessors, frozen objects and updated rows have equal hashes O11 O15") func equal() throws {
        let test = try TestRealm()
        let objects = Self.objects(1)
        try test.realm.write { test.realm.add(objects) }
        let frozen = objects.map { $0.freeze() }
        let again = objects.map { $0.freeze() }
        #expect(zip(frozen, again).allSatisfy { $0 == $1 && $0.hashValue == $1.hashValue })
        try test.realm.write { test.realm.create(Keyless.self) }
        let later = objects.map { $0.freeze() }
        for (position, object) in objects.enumerated() {
            #expect(frozen[position] != later[position] && object != frozen[position])
            let isKeyed = object.objectSchema.primaryKeyProperty != nil
            #expect((frozen[position].hashValue == later[position].hashValue) == isKeyed)
            #expect((object.hashValue == frozen[position].hashValue) == isKeyed)
        }
        let duplicate = StringKey(code: "1", content: 5)
        let hash = duplicate.hashValue
        try test.realm.write { test.realm.add(duplicate, update: .modified) }
        #expect(
            duplicate == objects[2] && duplicate.hashValue == objects[2].hashValue && duplicate.hashValue == hash)
        let node = Node(id: 7, part: Part(name: "p"))
        let update = Node(id: 7, part: Part(name: "q"))
        let part = try #require(update.part)
        let partHash = part.hashValue
        try test.realm.write {
            test.realm.add(node)
            test.realm.add(update, update: .modified)
        }
        #expect(part.hashValue == partHash && part.isSameObject(as: node.part))
        #expect(test.realm.objects(Keyless.self)[0] == test.realm.objects(Keyless.self)[0])
    }

    /// Returns a random value. Values at a depth of more than 2 are not lists or maps.
    private static func value(_ random: inout SeededRandom, _ depth: Int, _ objects: [ObjectBase]) -> AnyRealmValue {
        let number = Int.random(in: -2...2, using: &random)
        switch Int.random(in: 0..<(depth > 2 ? 12 : 14), using: &random) {
        case 0: return .none
        case 1: return .bool(number > 0)
        case 2: return .int(number)
        case 3: return .float([0, -0.0, 1, .nan, 0.5][number + 2])
        case 4: return .double([0, -0.0, 1, .nan, 0.5][number + 2])
        case 5: return .string(["", "e\u{301}", "é", "a", "A"][number + 2])
        case 6: return .data(Data(repeating: 1, count: number + 2))
        case 7: return .date(Date(timeIntervalSinceReferenceDate: [0, -0.0, 1, 2, -1][number + 2]))
        case 8:
            return .decimal128(
                ["0", "-0", "1.0", "1", "NaN"].map { (try? Decimal128(string: $0)) ?? .nan }[number + 2])
        case 9: return .objectId(ObjectId(high: 0, low: UInt32(number + 2)))
        case 10: return .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number + 2))))
        case 11: return .object(objects[Int.random(in: 0..<objects.count, using: &random)])
        case 12: return .list((0..<abs(number)).map { _ in value(&random, depth + 1, objects) })
        default:
            return .map(
                Dictionary((0..<abs(number)).map { ("\($0)", value(&random, depth + 1, objects)) }) { first, _ in first
                })
        }
    }

    @Test("equal random values of all types have equal hashes O11 O34", arguments: 0..<4)
    func random(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let test = try TestRealm()
        let added = (0..<3).flatMap { Self.objects($0) }
        try test.realm.write { test.realm.add(added) }
        let duplicates = (0..<3).flatMap { Self.objects($0) }
        try test.realm.write {
            for object in duplicates where object.objectSchema.primaryKeyProperty != nil {
                test.realm.add(object, update: .modified)
            }
        }
        let objects = added + duplicates + added.map { $0.freeze() } + added.map { $0.freeze() } + Self.objects(0)
        for left in objects {
            for right in objects where left == right {
                #expect(left.hashValue == right.hashValue && right == left, "\(left)")
            }
        }
        let values = (0..<400).map { _ in Self.value(&random, 0, objects) }
        var equal = 0
        for left in values {
            for right in values where left == right {
                equal += 1
                #expect(left.hashValue == right.hashValue, "\(left) and \(right)")
            }
        }
        #expect(equal > values.count)
    }
}
