import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

extension ValueKind {
    private func list<V>(_ owner: ObjectBase, _ type: V.Type) throws -> List<V> {
        try #require(owner.value(forKey: elements) as? List<V>)
    }

    private func set<V: Hashable>(_ owner: ObjectBase, _ type: V.Type) throws -> MutableSet<V> {
        try #require(owner.value(forKey: elements) as? MutableSet<V>)
    }

    private func map<V>(_ owner: ObjectBase, _ type: V.Type) throws -> Map<V> {
        try #require(owner.value(forKey: elements) as? Map<V>)
    }

    private func stored(all values: some Sequence<some RealmCollectionValue>) -> [StoredValue?] {
        values.map { stored($0) }
    }

    // MARK: Lists

    func checkLists() throws {
        try checkList(ScalarLists(id: 1), values())
        if canBeOptional { try checkList(OptionalLists(id: 1), [nil] + values().map { Optional($0) }) }
    }

    private func checkList<Owner: Object, V: OrderedValue & RealmCollectionValue & Hashable>(
        _ owner: Owner, _ values: [V]
    ) throws {
        let test = try TestRealm()
        let list = try list(owner, V.self)
        list.append(objectsIn: values.reversed())
        list.append(values[0])
        func check(_ list: List<V>) {
            #expect(stored(all: list) == stored(all: values.reversed() + [values[0]]))
            for (position, value) in values.enumerated() {
                #expect(list.index(of: value) == values.count - 1 - position)
            }
            #expect(stored(all: list.sorted()) == stored(all: [values[0]] + values))
            #expect(stored(all: list.distinct()) == stored(all: values.reversed()))
            let present = values.filter { stored($0) != .null }
            if checksMinimumAndMaximum {
                #expect(stored(list.min()) == stored(present.first) && stored(list.max()) == stored(present.last))
            }
            #expect(list.sectioned { self.stored($0) }.allKeys == stored(all: values))
        }
        check(list)
        try test.realm.write { test.realm.add(owner) }
        check(list)
        let name = elements
        let expected = stored(all: list)
        try test.onNewThread { realm in
            let found = try #require(realm.objects(Owner.self).first)
            #expect(found.dynamicList(name).map { self.stored($0) } == expected)
        }
        try test.realm.write {
            list.replace(index: 0, object: values[0])
            list.insert(values[values.count - 1], at: 1)
            list.remove(at: 2)
            #expect(stored(all: list.prefix(2)) == stored(all: [values[0], values[values.count - 1]]))
            owner[elements] = values.map { $0 as Any }
            #expect(stored(all: list) == stored(all: values))
            list.removeAll()
        }
        #expect(list.isEmpty && list.index(of: values[0]) == nil)
    }

    // MARK: Sets

    func checkSets() throws {
        try checkSet(ScalarSets(id: 1), values())
        if canBeOptional { try checkSet(OptionalSets(id: 1), values().map { Optional($0) } + [nil]) }
    }

    private func checkSet<Owner: Object, V: OrderedValue & RealmCollectionValue & Hashable>(
        _ owner: Owner, _ values: [V]
    ) throws {
        let test = try TestRealm()
        let set = try set(owner, V.self)
        set.insert(objectsIn: values + values)
        func check(_ set: MutableSet<V>) {
            #expect(Set(stored(all: set)) == Set(stored(all: values)) && set.count == values.count)
            #expect(values.allSatisfy { set.contains($0) })
            let present = values.filter { stored($0) != .null }
            if checksMinimumAndMaximum {
                #expect(stored(set.min()) == stored(present.first) && stored(set.max()) == stored(present.last))
            }
        }
        check(set)
        try test.realm.write { test.realm.add(owner) }
        check(set)
        try test.realm.write { for value in values { set.insert(value) } }
        check(set)
        let name = elements
        try test.onNewThread { realm in
            let found = try #require(realm.objects(Owner.self).first).dynamicSet(name)
            #expect(Set(found.map { self.stored($0) }) == Set(values.map { self.stored($0) }))
        }
        try test.realm.write {
            set.remove(values[0])
            #expect(!set.contains(values[0]) && set.count == values.count - 1)
        }
    }

    // MARK: Maps

    func checkMaps() throws {
        try checkMap(ScalarMaps(id: 1), values())
        if canBeOptional { try checkMap(OptionalMaps(id: 1), [nil] + values().map { Optional($0) }) }
    }

    private func checkMap<Owner: Object, V: OrderedValue & RealmCollectionValue & Hashable>(
        _ owner: Owner, _ values: [V]
    ) throws {
        let test = try TestRealm()
        let map = try map(owner, V.self)
        for (position, value) in values.enumerated() { map.updateValue(value, forKey: "k\(position)") }
        func check(_ map: Map<V>) {
            #expect(map.count == values.count)
            for (position, value) in values.enumerated() {
                #expect(stored(map["k\(position)"]) == stored(value) && map.key(of: value) == "k\(position)")
            }
            let present = values.filter { stored($0) != .null }
            if checksMinimumAndMaximum {
                #expect(stored(map.min()) == stored(present.first) && stored(map.max()) == stored(present.last))
            }
            #expect(stored(all: map.sorted()) == stored(all: values))
        }
        check(map)
        try test.realm.write { test.realm.add(owner) }
        check(map)
        let name = elements
        try test.onNewThread { realm in
            let found = try #require(realm.objects(Owner.self).first).dynamicMap(name)
            #expect(values.indices.map { self.stored(found["k\($0)"]) } == values.map { self.stored($0) })
        }
        try test.realm.write {
            map["k0"] = values[values.count - 1]
            map.removeObject(for: "k1")
        }
        #expect(stored(map["k0"]) == stored(values.last) && map.count == values.count - 1 && map["k1"] == nil)
    }

    // MARK: Queries

    func checkElementQueries() throws {
        let values = values()
        let test = try TestRealm()
        try test.realm.write {
            for (id, value) in values.enumerated() {
                for type in [ScalarLists.self, ScalarSets.self, OptionalLists.self, OptionalSets.self] as [Object.Type]
                where canBeOptional || type == ScalarLists.self || type == ScalarSets.self {
                    test.realm.dynamicCreate(type.className(), value: ["id": id, elements: [value, values[0]]])
                }
                for type in [ScalarMaps.self, OptionalMaps.self] as [Object.Type]
                where canBeOptional || type == ScalarMaps.self {
                    test.realm.dynamicCreate(type.className(), value: ["id": id, elements: ["k": value]])
                }
            }
        }
        try checkContents(test, ScalarLists.self, Value.self)
        try checkContents(test, ScalarSets.self, Value.self)
        if canBeOptional {
            try checkContents(test, OptionalLists.self, Value?.self)
            try checkContents(test, OptionalSets.self, Value?.self)
        }
        let maps = test.realm.objects(ScalarMaps.self)
        let field = MapField<ScalarMaps, Value>(FieldPath(ScalarMaps.self), elements)
        for (position, value) in values.enumerated() {
            #expect(maps.where { _ in field["k"] == value }.map(\.id) == [position])
            #expect(maps.where { _ in field.values == value }.map(\.id) == [position])
            #expect(maps.filter("\(elements)['k'] == %@", value).map(\.id) == [position])
            #expect(maps.filter("ANY \(elements) < %@", value).map(\.id) == Array(0..<position))
        }
    }

    private func checkContents<Root: Object & ModelObject, V: OrderedValue>(
        _ test: TestRealm, _ type: Root.Type, _ element: V.Type
    ) throws {
        let values = values(), all = test.realm.objects(type)
        let field = CollectionField<Root, V>(FieldPath(type), elements)
        func ids(_ found: Results<Root>) -> [Int] { found.map { $0["id"] as? Int ?? -1 } }
        for (position, given) in values.enumerated() {
            guard let value = given as? V else { throw CocoaError(.coderInvalidValue) }
            let holders = position == 0 ? Array(values.indices) : [position]
            #expect(ids(all.where { _ in field.contains(value) }) == holders)
            #expect(ids(all.where { _ in field.containsAny(in: [value]) }) == holders)
            #expect(ids(all.filter("ANY \(elements) == %@", given)) == holders)
            #expect(ids(all.filter("%@ IN \(elements)", given)) == holders)
            #expect(ids(all.filter("ANY \(elements) > %@", given)) == Array((position + 1)..<values.count))
            #expect(ids(all.filter("ALL \(elements) <= %@", given)) == Array(0...position))
            guard checksMinimumAndMaximum else { continue }
            #expect(ids(all.where { _ in field.max == value }) == [position])
            #expect(ids(all.filter("\(elements).@max >= %@", given)) == Array(position..<values.count))
        }
        #expect(
            ids(all.where { _ in field.count == 1 })
                == (type is ScalarSets.Type || type is OptionalSets.Type ? [0] : []))
    }
}
