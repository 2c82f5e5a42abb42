import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// Values of every kind except objects, including edge cases.
private var samples: [AnyRealmValue] {
    [
        .none, .bool(true), .bool(false), .int(.max), .int(.min), .float(-0.0), .float(1.5), .double(-0.0), .double(5),
        .string(""), .string("a\0"), .string("e\u{301}"), .data(Data()), .data(Data([9])), .data(Data([10, 0])),
        .date(Date(timeIntervalSinceReferenceDate: 0.1)), .decimal128(12), .objectId(.zero),
        .uuid(UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))), .list([]), .map([:]),
        .list([.int(1), .none, .string("x"), .double(-0.0)]),
        .map(["": .none, "a": .int(1), "e\u{301}": .list([.map(["deep": .data(Data([1]))])])]),
    ]
}

private func nested(_ depth: Int) -> AnyRealmValue {
    (0..<depth).reduce(.int(1)) { inner, level in level.isMultiple(of: 2) ? .list([inner]) : .map(["k": inner]) }
}

private func bits(_ value: AnyRealmValue) -> StoredValue { value._stored }

private func rows(_ realm: Realm, _ table: String) -> Int {
    Int(realm.context.integers("SELECT count(*) FROM \(table)", [])[0])
}

private func linkIndexCount(_ test: TestRealm) -> Int { rows(test.realm, "martlet_any_links") }

@Suite struct AnyValueTests {
    @Test("a value keeps its kind and all bits, as a property and as an element O32", arguments: samples.indices)
    func kinds(_ index: Int) throws {
        let test = try TestRealm()
        let value = samples[index]
        try test.realm.write {
            test.realm.add(Scalars(id: 1, anyValue: value))
            test.realm.add(ScalarLists(id: 1, anyValues: [value, .list([value]), value]))
            test.realm.add(ScalarMaps(id: 1, anyValues: ["k": value, "m": .map(["v": value])]))
            if !value._isCollection { test.realm.add(ScalarSets(id: 1, anyValues: [value])) }
        }
        try test.onNewThread { realm in
            #expect(realm.objects(Scalars.self).map { bits($0.anyValue) } == [bits(value)])
            let list = realm.objects(ScalarLists.self)[0].anyValues
            #expect(list.map(bits) == [bits(value), bits(.list([value])), bits(value)])
            let map = realm.objects(ScalarMaps.self)[0].anyValues
            #expect(map["k"].map(bits) == bits(value) && map["m"].map(bits) == bits(.map(["v": value])))
            let sets = realm.objects(ScalarSets.self).flatMap { $0.anyValues.map(bits) }
            #expect(sets == (value._isCollection ? [] : [bits(value)]))
        }
        #expect(test.realm.objects(Scalars.self)[0].anyValue.kind == value.kind)
        #expect(test.realm.objects(Scalars.self).where { $0.anyValue == value }.count == 1)
        #expect(test.realm.objects(Scalars.self).filter("anyValue == %@", value).count == 1)
        #expect(test.realm.objects(ScalarLists.self).where { $0.anyValues.contains(.list([value])) }.count == 1)
    }

    @Test("lists and maps can be nested 100 levels deep O32") func depth() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add(Scalars(id: 1, anyValue: nested(100))) }
        try test.onNewThread { realm in #expect(realm.objects(Scalars.self)[0].anyValue == nested(100)) }
    }

    @Test("adding an object also adds the unmanaged objects inside its values, at every depth O5 O32")
    func adding() throws {
        let test = try TestRealm()
        let scalars = Scalars(
            id: 1,
            anyValue: .map(["a": .object(Node(id: 1)), "b": .list([.int(1), .object(Node(id: 2, next: Node(id: 3)))])]))
        let lists = ScalarLists(id: 1, anyValues: [.object(Node(id: 4))])
        let maps = ScalarMaps(id: 1, anyValues: ["n": .list([.object(Node(id: 5))])])
        let sets = ScalarSets(id: 1, anyValues: [.object(Node(id: 6)), .int(1)])
        #expect(scalars.anyValue["a"]?.object(Node.self)?.id == 1)
        try test.realm.write {
            test.realm.add([scalars])
            test.realm.add([lists])
            test.realm.add([maps])
            test.realm.add([sets])
            lists.anyValues.append(.object(Node(id: 7)))
            scalars.anyValue["c"] = .object(Node(id: 8))
        }
        #expect(test.realm.objects(Node.self).map(\.id) == [1, 2, 3, 4, 5, 6, 7, 8])
        let first = try #require(scalars.anyValue["a"]?.object(Node.self))
        #expect(first === test.realm.object(ofType: Node.self, forPrimaryKey: 1) && linkIndexCount(test) == 7)
        try test.onNewThread { realm in
            let value = realm.objects(Scalars.self)[0].anyValue
            #expect(value["b"]?[1].object(Node.self)?.next?.id == 3 && value["c"]?.object(Node.self)?.id == 8)
            #expect(realm.objects(ScalarLists.self)[0].anyValues.map { $0.object(Node.self)?.id } == [4, 7])
            #expect(realm.objects(ScalarMaps.self)[0].anyValues["n"]?[0].object(Node.self)?.id == 5)
        }
    }

    @Test("deleting an object replaces links to it in values by 'none', and removes the object from sets O6 O32")
    func deletion() throws {
        let test = try TestRealm()
        let (node, other) = (Node(id: 1), Node(id: 2))
        let link = AnyRealmValue.object(node)
        let deep = AnyRealmValue.list([link, .map(["x": link, "y": .object(other)]), .int(7)])
        let withoutNode = AnyRealmValue.list([.none, .map(["x": .none, "y": .object(other)]), .int(7)])
        let direct = Scalars(id: 1, anyValue: link)
        let scalars = Scalars(id: 2, anyValue: deep)
        let lists = ScalarLists(id: 1, anyValues: [link, .int(1), deep, link])
        let maps = ScalarMaps(id: 1, anyValues: ["a": link, "b": deep, "c": .int(1)])
        let sets = ScalarSets(id: 1, anyValues: [link, .object(other), .int(1)])
        try test.realm.write {
            test.realm.add([direct, scalars])
            test.realm.add([lists])
            test.realm.add([maps])
            test.realm.add([sets])
        }
        try test.realm.write {
            test.realm.delete(node)
            #expect(direct.anyValue == .none && scalars.anyValue == withoutNode)
        }
        #expect(Array(lists.anyValues) == [.none, .int(1), withoutNode, .none])
        #expect(maps.anyValues["a"] == AnyRealmValue.none && maps.anyValues["b"] == withoutNode)
        #expect(maps.anyValues.count == 3)
        #expect(Array(sets.anyValues) == [.object(other), .int(1)])
        // The remaining entries of the index lead to the other object.
        #expect(linkIndexCount(test) == 4)
        try test.onNewThread { realm in
            let other = try #require(realm.object(ofType: Node.self, forPrimaryKey: 2))
            #expect(realm.objects(ScalarLists.self)[0].anyValues[2][1]["y"] == .object(other))
            #expect(realm.objects(Scalars.self).map(\.anyValue.kind) == [.none, .list])
            try realm.write {
                realm.delete(realm.objects(Scalars.self))
                realm.delete(realm.objects(ScalarSets.self))
                realm.objects(ScalarMaps.self)[0].anyValues["b"] = .int(1)
                realm.objects(ScalarLists.self)[0].anyValues.removeAll()
            }
        }
        try test.realm.write {
            #expect(linkIndexCount(test) == 0)
            test.realm.deleteAll()
        }
    }

    @Test(
        "links to a deleted object, including its link to itself, do not lead to a new object with the same key O6 O32")
    func reuse() throws {
        let test = try TestRealm()
        let scalars = Scalars(id: 1)
        scalars.anyValue = .list([.object(scalars)])
        let second = Scalars(id: 2, anyValue: .object(scalars))
        try test.realm.write { test.realm.add([scalars, second]) }
        #expect(scalars.anyValue[0].object(Scalars.self) === scalars)
        try test.realm.write {
            test.realm.delete(scalars)
            test.realm.add(Scalars(id: 1))
        }
        #expect(second.anyValue == .none && linkIndexCount(test) == 0)
    }

    @Test("cancelling a write restores links and their index O6 O32") func cancelled() throws {
        let test = try TestRealm()
        let node = Node(id: 1)
        let holder = Scalars(id: 1, anyValue: .object(node))
        let lists = ScalarLists(id: 1, anyValues: [.object(node)])
        try test.realm.write {
            test.realm.add([holder])
            test.realm.add([lists])
        }
        try test.realm.beginWrite()
        lists.anyValues.append(.object(node))
        test.realm.delete(node)
        #expect(holder.anyValue == .none)
        test.realm.cancelWrite()
        let present = try #require(test.realm.object(ofType: Node.self, forPrimaryKey: 1))
        #expect(holder.anyValue == .object(present) && Array(lists.anyValues) == [.object(present)])
        try test.realm.write { test.realm.delete(present) }
        #expect(holder.anyValue == .none && Array(lists.anyValues) == [.none])
    }

    @Test("objects that link to each other in values do not retain each other O14 O32") func memory() throws {
        let test = try TestRealm()
        try test.realm.write {
            let (first, second) = (Scalars(id: 1), Scalars(id: 2))
            (first.anyValue, second.anyValue) = (.object(second), .list([.object(first)]))
            test.realm.add(first)
        }
        weak var first: Scalars?
        do {
            let object = try #require(test.realm.object(ofType: Scalars.self, forPrimaryKey: 1))
            first = object
            #expect(object.anyValue.object(Scalars.self)?.anyValue[0].object(Scalars.self) === object)
        }
        #expect(first == nil)
    }

    @Test("a change inside a nested value is a change of the row that contains it N69 O32") func observed() throws {
        let test = try TestRealm()
        let scalars = Scalars(id: 1, anyValue: .map(["list": .list([.int(1)])]))
        let lists = ScalarLists(id: 1, anyValues: [.int(0), .map(["a": .list([.int(1)])])])
        let node = Node(id: 1)
        try test.realm.write {
            test.realm.add([scalars])
            test.realm.add([lists])
            test.realm.add([node])
        }
        let (rows, elements, object) = (
            Log(test.realm.objects(Scalars.self)), Log(lists.anyValues), Log(object: scalars)
        )
        defer { for log in [rows, elements, object] { log.end() } }
        test.deliverAll()
        #expect(rows.take() == ["initial"] && elements.take() == ["initial"] && object.take() == [])
        try test.onNewThread { realm in
            let node = try #require(realm.objects(Node.self).first)
            try realm.write {
                realm.objects(Scalars.self)[0].anyValue["list"]?.append(.object(node))
                realm.objects(ScalarLists.self)[0].anyValues[1]["a"]?[0] = .object(node)
            }
        }
        test.deliverAll()
        #expect(rows.take() == ["[] [] [0]"] && elements.take() == ["[] [] [1]"])
        #expect(object.take().map { $0.prefix(9) } == ["anyValue:"])
        try test.onNewThread { realm in try realm.write { realm.delete(realm.objects(Node.self)) } }
        test.deliverAll()
        #expect(rows.take() == ["[] [] [0]"] && elements.take() == ["[] [] [1]"])
        #expect(object.take().map { $0.prefix(9) } == ["anyValue:"])
        #expect(scalars.anyValue == .map(["list": .list([.int(1), .none])]))
        #expect(lists.anyValues[1] == .map(["a": .list([.none])]))
    }

    @Test("queries find objects, kinds and absent values O32 O50 O51") func queries() throws {
        let test = try TestRealm()
        let (node, other) = (Node(id: 1), Node(id: 2))
        let values: [AnyRealmValue] = [
            .none, .int(1), .object(node), .object(other), .list([.object(node)]), .list([.int(1)]),
            .map(["a": .double(1)]), .string("x"), .data(Data([9])),
        ]
        try test.realm.write {
            for (id, value) in values.enumerated() {
                test.realm.add(Scalars(id: id, anyValue: value))
                test.realm.add(ScalarLists(id: id, anyValues: [value, .float(2)]))
                test.realm.add(ScalarMaps(id: id, anyValues: ["k": value]))
            }
        }
        let all = test.realm.objects(Scalars.self)
        func ids(_ query: Query<Scalars>) -> [Int] { all.where { _ in query }.map(\.id) }
        let field = Scalars.fields.anyValue
        #expect(ids(field == .object(node)) == [2] && ids(field != .object(node)).count == values.count - 1)
        #expect(ids(field.in([.object(node), .int(1)])) == [1, 2] && ids(field == .object(Node(id: 1))) == [])
        #expect(ids(field == .list([.object(node)])) == [4] && ids(field == .list([.double(1)])) == [5])
        #expect(ids(field == .map(["a": .int(1)])) == [6] && ids(field == .none) == [0])
        #expect(ids(field > .object(node)) == [] && ids(field < .list([])) == [])
        #expect(ids(field.isKind(.object)) == [2, 3] && ids(field.isKind(in: [.list, .none])) == [0, 4, 5])
        #expect(ids(!field.isKind(.object)) == [0, 1, 4, 5, 6, 7, 8] && ids(field.isKind(.data)) == [8])
        #expect(all.filter("anyValue == %@", node).map(\.id) == [2] && all.filter("anyValue == nil").map(\.id) == [0])
        #expect(all.filter("anyValue IN %@", [node, other]).map(\.id) == [2, 3])
        #expect(all.filter("anyValue.@type == 'object' OR anyValue.@type IN {'map', 'int'}").map(\.id) == [1, 2, 3, 6])
        let lists = test.realm.objects(ScalarLists.self)
        #expect(lists.where { $0.anyValues.contains(.object(node)) }.map(\.id) == [2])
        #expect(lists.where { $0.anyValues.containsKind(.list) }.map(\.id) == [4, 5])
        #expect(lists.filter("ANY anyValues.@type == 'map'").map(\.id) == [6])
        #expect(lists.filter("ALL anyValues.@type IN {'map', 'float'}").map(\.id) == [6])
        #expect(lists.filter("NONE anyValues == %@", node).count == values.count - 1)
        let maps = test.realm.objects(ScalarMaps.self)
        #expect(maps.where { $0.anyValues["k"].isKind(.none) }.map(\.id) == [0])
        #expect(maps.filter("anyValues['k'] == %@", other).map(\.id) == [3])
        let wrong = try Realm.Predicate(parsing: "int.@type == 'int'")
        #expect(throws: Realm.Error.self) { try all.filter(wrong) }
    }

    @Test("searching for an element adds no objects O32 O40") func elements() throws {
        let test = try TestRealm()
        let node = Node(id: 1)
        let lists = ScalarLists(id: 1, anyValues: [.int(1), .object(node)])
        let sets = ScalarSets(id: 1, anyValues: [.object(node), .object(Node(id: 2))])
        #expect(lists.anyValues.index(of: .object(node)) == 1 && sets.anyValues.contains(.object(node)))
        #expect(!sets.anyValues.contains(.object(Node(id: 1))))
        try test.realm.write {
            test.realm.add([lists])
            test.realm.add([sets])
            sets.anyValues.insert(.object(node))
        }
        #expect(lists.anyValues.index(of: .object(node)) == 1 && sets.anyValues.index(of: .object(node)) == 0)
        #expect(sets.anyValues.count == 2 && lists.anyValues.index(of: .object(Node(id: 9))) == nil)
        #expect(!sets.anyValues.contains(.object(Node(id: 9))) && test.realm.objects(Node.self).count == 2)
        try test.realm.write { sets.anyValues.remove(.object(node)) }
        #expect(sets.anyValues.count == 1)
    }

    @Test("values are created and assigned from untyped values O5 O12 O32") func untyped() throws {
        let test = try TestRealm()
        let outside = Node(id: 5)
        try test.realm.write {
            let node = Node(id: 1)
            test.realm.add(node)
            let scalars = test.realm.create(
                Scalars.self,
                value: ["id": 1, "anyValue": ["a": [1, "x", node, nil as Int?] as [Any?], "b": Data([1])]])
            #expect(
                scalars.anyValue
                    == .map(["a": .list([.int(1), .string("x"), .object(node), .none]), "b": .data(Data([1]))]))
            scalars["anyValue"] = true
            #expect(scalars.anyValue == .bool(true))
            scalars["anyValue"] = node
            #expect(scalars.anyValue == .object(node) && scalars["anyValue"] as? Node == node)
            scalars["anyValue"] = nil
            #expect(scalars.anyValue == .none)
            let lists = test.realm.create(ScalarLists.self, value: ["id": 1, "anyValues": [1, [node], "x"] as [Any]])
            #expect(Array(lists.anyValues) == [.int(1), .list([.object(node)]), .string("x")])
            lists.dynamicList("anyValues").append(["k": 2.5])
            #expect(lists.anyValues[3] == .map(["k": .double(2.5)]))
            // 'create' adds a copy of the unmanaged object. The object itself stays unmanaged.
            let copied = test.realm.create(Scalars.self, value: ["id": 2, "anyValue": outside])
            #expect(copied.anyValue.object(Node.self)?.id == 5 && outside.realm == nil)
        }
        let unmanaged = Scalars(value: ["id": 3, "anyValue": ["n": Node(id: 9)]])
        #expect(unmanaged.anyValue["n"]?.object(Node.self)?.id == 9)
        #expect(unmanaged.description.contains("anyValue = map([\"n\": object(Node(…))])"))
    }

    @Test("updates change only values that differ, and add new objects O5 O32") func updates() throws {
        let test = try TestRealm()
        let node = Node(id: 1)
        let value = AnyRealmValue.list([.object(node)])
        try test.realm.write { test.realm.add(Scalars(id: 1, anyValue: value)) }
        try test.realm.write { test.realm.add(Scalars(id: 1, anyValue: value), update: .modified) }
        #expect(try changed(test) { test.realm.add(Scalars(id: 1, anyValue: value), update: .modified) } == false)
        #expect(
            try changed(test) {
                test.realm.create(Scalars.self, value: ["id": 1, "anyValue": [node]], update: .modified)
            } == false)
        let new = Scalars(id: 1, anyValue: .map(["n": .object(Node(id: 2))]))
        #expect(try changed(test) { test.realm.add(new, update: .modified) })
        #expect(test.realm.objects(Scalars.self)[0].anyValue["n"]?.object(Node.self)?.id == 2)
        #expect(new.anyValue["n"]?.object(Node.self)?.realm == test.realm)
    }

    private func changed(_ test: TestRealm, _ body: () -> Void) throws -> Bool {
        try test.realm.beginWrite()
        body()
        let changed = hasChanges(test.realm.context.transaction)
        try test.realm.commitWrite()
        return changed
    }

    @Test("values are decoded with the kinds that were encoded, and objects as new objects O32 O40")
    func coding() throws {
        let test = try TestRealm()
        let value = AnyRealmValue.map(["a": .list(samples), "n": .object(Node(id: 1, name: "x"))])
        try test.realm.write {
            test.realm.add(Scalars(id: 1, anyValue: value))
            test.realm.add(ScalarLists(id: 1, anyValues: [value]))
        }
        let stored = test.realm.objects(Scalars.self)[0]
        let decoded = try JSONDecoder().decode(Scalars.self, from: JSONEncoder().encode(stored))
        #expect(decoded.anyValue["a"].map(bits) == bits(.list(samples)))
        #expect(decoded.anyValue["n"]?.object(Node.self)?.name == "x" && decoded.realm == nil)
        let lists = try JSONDecoder().decode(
            ScalarLists.self, from: JSONEncoder().encode(test.realm.objects(ScalarLists.self)[0]))
        #expect(lists.anyValues[0]["n"]?.object(Node.self)?.id == 1)
        let text = String(decoding: try JSONEncoder().encode(AnyRealmValue.list([.int(1), .none])), as: UTF8.self)
        #expect(text == "[1,null]")
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(AnyRealmValue.self, from: Data(#"{"object":{"Nobody":{}}}"#.utf8))
        }
        try test.realm.write { stored.anyValue = .list([.object(stored)]) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(stored) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(stored.anyValue) }
    }

    @Test("detached copies contain copies of the objects in values O10 O32") func detached() throws {
        let test = try TestRealm()
        let scalars = Scalars(id: 1)
        scalars.anyValue = .map(["self": .object(scalars), "node": .list([.object(Node(id: 1))])])
        let lists = ScalarLists(id: 1, anyValues: [.object(scalars), .list([.object(scalars)])])
        try test.realm.write { test.realm.add(lists) }
        let copy = lists.detached()
        let inner = try #require(copy.anyValues[0].object(Scalars.self))
        #expect(inner.realm == nil && inner !== scalars && copy.anyValues[1][0].object(Scalars.self) === inner)
        #expect(inner.anyValue["self"]?.object(Scalars.self) === inner)
        #expect(inner.anyValue["node"]?[0].object(Node.self)?.id == 1)
        // Breaks the reference cycle between the copies.
        inner.anyValue = .none
    }

    @Test("storing an unsupported value traps, and so does using a value as another kind O20 O32 O43")
    func traps() async {
        let embedded = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write { test.realm.add(Scalars(id: 1, anyValue: .list([.object(Part())]))) }
        }
        expectMessage(embedded, "an embedded 'Part' was put into an 'AnyRealmValue', which cannot own it")
        let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let sets = ScalarSets(id: 1)
            try test.realm.write {
                test.realm.add(sets)
                sets.anyValues.insert(.list([.int(1)]))
            }
        }
        expectMessage(set, "into the set 'ScalarSets.anyValues', which takes single values and objects only")
        let unmanaged = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ScalarSets(id: 1).anyValues.insert(.map([:]))
        }
        expectMessage(unmanaged, "a list or map was put into a set, which takes single values and objects only")
        let kind = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var value = AnyRealmValue.int(1)
            value["key"] = .int(2)
        }
        expectMessage(kind, "an 'AnyRealmValue' that is 'int' was used as a map")
        let range = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = AnyRealmValue.list([.int(1)])[1]
        }
        expectMessage(range, "the index 1 is outside of the list in an 'AnyRealmValue', whose number of elements is 1")
        let foreign = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (test, other) = (try TestRealm(), try TestRealm())
            let node = Node(id: 1)
            try other.realm.write { other.realm.add(node) }
            _ = test.realm.objects(Scalars.self).where { $0.anyValue == .object(node) }.count
        }
        expectMessage(foreign, "a 'Node' of another Realm was added or linked")
    }
}
