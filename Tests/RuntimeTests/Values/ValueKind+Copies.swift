import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

extension ValueKind {
    /// Returns objects of all classes that have properties of this kind. Their properties contain `value`, or nil if
    /// the kind can be optional.
    private func holders(_ value: Value) -> [Object] {
        let element: [Any] = [value]
        var holders: [Object] = [
            ScalarLists(value: ["id": 1, elements: element]), ScalarSets(value: ["id": 1, elements: element]),
            ScalarMaps(value: ["id": 1, elements: ["k": value]]),
            isEnum ? EnumHolder(value: ["id": 1, name: value]) : Scalars(value: ["id": 1, name: value]),
        ]
        guard canBeOptional else { return holders }
        let optional: [Any] = [value, NSNull()]
        holders += [
            OptionalLists(value: ["id": 1, elements: optional]), OptionalSets(value: ["id": 1, elements: optional]),
            OptionalMaps(value: ["id": 1, elements: ["k": value, "n": NSNull()] as [String: Any]]),
            isEnum
                ? EnumHolder(value: ["id": 2, optionalName: value]) : OptionalScalars(value: ["id": 1, name: value]),
            isEnum ? EnumHolder(value: ["id": 3]) : OptionalScalars(value: ["id": 2]),
        ]
        return holders
    }

    /// Returns the values of all properties as text.
    private func contents(_ object: ObjectBase) -> [String] {
        object.objectSchema.properties.map { property in
            let value = object.value(forKey: property.name)
            let shown: String
            if let map = value as? any UntypedMap {
                shown = map.keys.sorted().map { "\($0): \(self.shown(map.untypedValue(of: $0)))" }.joined(
                    separator: ", ")
            } else if value is any PropertyCollection, let all = value as? any Sequence {
                // The elements of a set are sorted, because their order may differ between copies.
                let elements = all.map { self.shown($0) }
                shown = (value is any UntypedSet ? elements.sorted() : elements).joined(separator: ", ")
            } else {
                shown = self.shown(value)
            }
            return "\(property.name) = \(shown)"
        }
    }

    // Returns a text that shows all bits of a value. All absent values have the same text.
    private func shown(_ value: Any?) -> String { "\(stored(value) ?? .null)" }

    func checkCopies() throws {
        let encoder = JSONEncoder(), decoder = JSONDecoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        for value in values() {
            let (test, other) = (try TestRealm(), try TestRealm())
            for object in holders(value) {
                let before = contents(object)
                #expect(before.joined().contains(shown(value)) || before.count < 3 || object["id"] as? Int != 1)
                try test.realm.write { test.realm.add(object) }
                #expect(contents(object) == before)
                let type: any Decodable.Type = Swift.type(of: object)
                let decoded = try decoder.decode(type, from: encoder.encode(object)) as? Object
                #expect(decoded.map { contents($0) } == before)
                #expect(contents(object.detached()) == before && object.detached().realm == nil)
                try other.realm.write {
                    let copy = other.realm.dynamicCreate(object.objectSchema.className, value: object)
                    #expect(contents(copy.object) == before)
                }
            }
        }
    }

    func checkUpdates() throws {
        let values = values()
        for policy in [Realm.UpdatePolicy.modified, .all] {
            let test = try TestRealm()
            try test.realm.write { for object in holders(values[0]) { test.realm.add(object) } }
            for value in values {
                for object in holders(value) {
                    let expected = contents(object)
                    let type = object.objectSchema.className
                    try test.realm.write { test.realm.add(object, update: policy) }
                    let id = object["id"] as? Int ?? 0
                    let found = try #require(test.realm.dynamicObject(ofType: type, forPrimaryKey: id)).object
                    #expect(contents(found) == expected)
                    try test.realm.write {
                        let fresh = holders(values[0]).first {
                            $0.objectSchema.className == type && $0["id"] as? Int == id
                        }
                        if let fresh { test.realm.dynamicCreate(type, value: fresh, update: policy) }
                        #expect(fresh.map { contents($0) } == contents(found))
                    }
                }
            }
            guard policy == .modified else { continue }
            // An update with equal objects changes nothing.
            try test.realm.beginWrite()
            for object in holders(values[0]).reversed() where !(object is EnumHolder) {
                test.realm.add(object, update: .modified)
            }
            #expect(!hasChanges(test.realm.context.transaction))
            test.realm.cancelWrite()
        }
    }

    func checkMigration() throws {
        guard canBeOptional, !isEnum else { return }
        let values = values()
        let types = [
            "object OptionalScalars\nprimaryKey id\nproperty id Int\nproperty \(name) \(typeText)",
            "object OptionalLists\nprimaryKey id\nproperty id Int\nproperty \(elements) List<\(typeText)>",
            "object OptionalMaps\nprimaryKey id\nproperty id Int\nproperty \(elements) Map<\(typeText)>",
        ]
        let past = try PreviousFile(types) { create in
            for (id, value) in values.enumerated() {
                _ = create("OptionalScalars", ["id": id, name: value])
                _ = create("OptionalLists", ["id": id, elements: [value, values[0]]])
                _ = create("OptionalMaps", ["id": id, elements: ["k": value]])
            }
        }
        let realm = try past.migrated([OptionalScalars.self, OptionalLists.self, OptionalMaps.self])
        let expected = values.map { stored($0) }
        #expect(realm.objects(OptionalScalars.self).map { stored($0[name]) } == expected)
        #expect(realm.objects(OptionalLists.self).map { stored($0.dynamicList(elements)[0]) } == expected)
        #expect(realm.objects(OptionalMaps.self).map { stored($0.dynamicMap(elements)["k"]) } == expected)
        try realm.write { realm.objects(OptionalScalars.self)[0][name] = nil }
        #expect(realm.objects(OptionalScalars.self)[0][name] == nil)
    }
}
