import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import Testing

/// Properties that are named `_id`, or like methods and static members of the runtime.
@Suite struct HostileNameTests {
    @Test(
        "properties can be named value, changes, encode, fields, hash and _id, in code and in queries S48 S10")
    func names() throws {
        let test = try TestRealm()
        let next = Hostile(_id: 2, id: "two", value: 20, hash: "h2")
        let object = Hostile(
            _id: 1, id: "one", value: 5, changes: [next], encode: "utf8", fields: ["a": 1], hash: "h", next: next)
        try test.realm.write { test.realm.add(object) }
        #expect(object.value == 5 && object._id == 1 && object.id == "one" && object.hash == "h")
        #expect(object.changes.map(\._id) == [2] && object.encode == "utf8" && object.fields["a"] == 1)
        #expect(object.value(forKey: "value") as? Int == 5 && object["_id"] as? Int == 1)
        #expect(Hostile(value: ["_id": 3, "value": 7, "id": "three"] as [String: Any]).value == 7)
        #expect(Hostile(value: 8).value == 8)
        let all = test.realm.objects(Hostile.self)
        #expect(all.where { $0.value > 5 && $0._id == 2 && $0.hash == "h2" }.map(\._id) == [2])
        #expect(all.where { $0.changes.value == 20 && $0.fields["a"] == 1 && $0.encode == "utf8" }.map(\._id) == [1])
        #expect(
            all.filter("_id == 1 AND next._id == 2 AND value == 5 AND fields['a'] == 1 AND encode != nil").count == 1)
        #expect(all.sorted(byKeyPath: "_id", ascending: false).map(\._id) == [2, 1])
        #expect(test.realm.object(ofType: Hostile.self, forPrimaryKey: 2)?.values.map(\._id) == [1])
        let json = try JSONEncoder().encode(next)
        #expect(try JSONDecoder().decode(Hostile.self, from: json).value == 20)
        let shown = try #require(test.realm.objects(HostileProjection.self).first)
        #expect(
            shown._id == 1 && shown.value == 20 && Array(shown.changes) == [20] && shown.encode == "utf8"
                && shown.hash == "h2")
        #expect(Set([object, next]).contains(object))
        var names: [[String]] = []
        let token = object.observe(keyPaths: Hostile.KeyPaths.value) { change in
            if case .change(_, let properties) = change { names.append(properties.map(\.name)) }
        }
        test.deliverAll()
        try test.realm.write { object.value = 6 }
        test.deliverAll()
        #expect(names == [["value"]])
        token.invalidate()
    }
}
