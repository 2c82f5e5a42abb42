import ConformanceModels
import Foundation
import KennelModels
import Martlet
import MartletTestSupport
import Testing

@Suite struct DynamicAccessTests {
    private static let day = Date(timeIntervalSinceReferenceDate: 1_234.5)
    private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    private static let id = ObjectId("0123456789abcdef01234567")

    /// A value of every type, with the name of the property of `Scalars` and `OptionalScalars` that has this type.
    private static let values: [(name: String, value: any Hashable & Sendable)] = [
        ("bool", true), ("int", Int.min), ("int8", Int8(-8)), ("int16", Int16(16)), ("int32", Int32(-32)),
        ("int64", Int64.max), ("float", Float(0.1)), ("double", 0.1), ("string", "e\u{301}"), ("data", Data([0, 255])),
        ("date", day), ("uuid", uuid), ("objectId", id), ("decimal128", Decimal128("-1.5")),
    ]

    private func equal(_ left: Any?, _ right: any Hashable) -> Bool {
        (left as? any Hashable).map { AnyHashable($0) == AnyHashable(right) } ?? false
    }

    @Test("properties of every type are read and set by name, in managed and unmanaged objects O12 O30") func scalars()
        throws
    {
        let test = try TestRealm()
        for isManaged in [false, true] {
            for object in [Scalars(id: 1), OptionalScalars(id: 1)] as [Object] {
                if isManaged {
                    try test.realm.beginWrite()
                    test.realm.add(object)
                }
                for (name, value) in Self.values {
                    object.setValue(value, forKey: name)
                    #expect(equal(object.value(forKey: name), value) && equal(object[name], value), "\(name)")
                    guard object is OptionalScalars else { continue }
                    object[name] = nil
                    #expect(object[name] == nil, "\(name)")
                }
                if isManaged { try test.realm.commitWrite() }
            }
        }
        let scalars = Scalars(id: 2)
        scalars["anyValue"] = AnyRealmValue.float(1)
        #expect(scalars.anyValue == .float(1) && scalars["anyValue"] as? Float == 1)
    }

    @Test("lists, sets and maps of every element type are changed by name O12 O30") func collections() throws {
        let test = try TestRealm()
        for isManaged in [false, true] {
            let (lists, sets, maps) = (ScalarLists(id: 1), ScalarSets(id: 1), ScalarMaps(id: 1))
            if isManaged {
                try test.realm.beginWrite()
                test.realm.add([lists, sets, maps] as [Object])
            }
            for (name, value) in Self.values {
                let (list, set, map) =
                    (lists.dynamicList(name + "s"), sets.dynamicSet(name + "s"), maps.dynamicMap(name + "s"))
                list.append(value)
                list.insert(value, at: 0)
                list[1] = value
                #expect(list.count == 2 && list.allSatisfy { equal($0, value) }, "\(name)")
                list.move(from: 0, to: 1)
                list.remove(at: 0)
                #expect(list.count == 1 && !list.isInvalidated && (list.realm == nil) != isManaged, "\(name)")
                list.removeAll()
                set.insert(value)
                set.insert(value)
                #expect(set.count == 1 && set.contains(value) && equal(set[0], value), "\(name)")
                set.remove(value)
                #expect(set.isEmpty && !set.contains(value), "\(name)")
                map["a"] = value
                map["b"] = value
                #expect(map.count == 2 && map.keys == ["a", "b"] && equal(map["b"], value), "\(name)")
                #expect(map.allSatisfy { equal($0.value, value) }, "\(name)")
                map["a"] = nil
                #expect(map.count == 1 && map["a"] == nil && lists.dynamicList(name + "s").isEmpty, "\(name)")
            }
            if isManaged { try test.realm.commitWrite() }
        }
    }

    @Test("dynamic objects and collections are accepted as untyped values O5 O12") func views() throws {
        let test = try TestRealm()
        let realm = test.realm
        try realm.write {
            let one = realm.dynamicCreate("Node", value: ["id": 1, "name": "one"])
            let two = realm.dynamicCreate(
                "Node",
                value: [
                    "id": 2, "next": one, "children": [one, one], "peers": [one], "named": ["a": one],
                    "part": ["node": one] as [String: Any],
                ] as [String: Any])
            #expect(two.next as? DynamicObject == one && two.dynamicList("children").count == 2)
            #expect(two.dynamicSet("peers").contains(one) && two.dynamicMap("named")["a"] as? DynamicObject == one)
            #expect((two.part as? DynamicObject)?.node as? DynamicObject == one)
            let three = realm.dynamicCreate(
                "Node",
                value: ["id": 3, "children": two.children as Any, "named": two.named as Any, "next": two]
                    as [String: Any])
            #expect(three.dynamicList("children").count == 2 && three.dynamicMap("named").count == 1)
            realm.create(Node.self, value: ["id": 3, "next": one] as [String: Any], update: .modified)
            #expect(three.next as? DynamicObject == one)
            let unmanaged = Node(value: ["id": 4, "next": two, "children": [one]] as [String: Any])
            #expect(unmanaged.next?.id == 2 && unmanaged.children.map(\.id) == [1])
        }
    }

    @Test("collections of optional elements, enums and objects are changed by name O12") func others() throws {
        let lists = OptionalLists(id: 1)
        for (name, value) in Self.values {
            let list = lists.dynamicList(name + "s")
            list.append(nil)
            list.append(value)
            #expect(list.count == 2 && list[0] == nil && equal(list[1], value), "\(name)")
        }
        let scalars = ScalarLists(id: 1)
        scalars.dynamicList("sizes").append(Grade.best)
        scalars.dynamicList("sizes").append("poor")
        scalars.dynamicList("levels").append(5)
        #expect(Array(scalars.sizes) == [.best, .poor] && Array(scalars.levels) == [.middle])
        let (node, other) = (Node(id: 1), Node(id: 2))
        node.dynamicList("children").append(other)
        node.dynamicList("children").append(["id": 3])
        node.dynamicMap("named")["x"] = other
        node.dynamicSet("peers").insert(other)
        #expect(node.children.map(\.id) == [2, 3] && node.named["x"] == .some(other) && node.peers.contains(other))
        #expect(node.dynamicList("children")[0] as? Node === other)
    }

    @Test("the schema describes every property O3 O12") func reflection() throws {
        let test = try TestRealm()
        let schema = test.realm.schema
        #expect(schema["Nothing"] == nil && schema.objectSchema.map(\.className).contains("Dog"))
        let node = try #require(schema["Node"])
        #expect(node == Node().objectSchema && !node.isEmbedded && schema["Part"]?.isEmbedded == true)
        #expect(node.primaryKeyProperty?.name == "id" && schema["Keyless"]?.primaryKeyProperty == nil)
        let children = try #require(node["children"])
        #expect(children.isArray && children.isList && !children.isSet && !children.isMap && children.type == .object)
        #expect(children.typeName == "List<Node>" && children.objectClassName == "Node" && !children.isOptional)
        #expect(node["peers"]?.isSet == true && node["named"]?.isMap == true && node["next"]?.isOptional == true)
        #expect(node["previous"]?.type == .linkingObjects && node["previous"]?.linkOriginPropertyName == "next")
        let scalars = try #require(schema["Scalars"])
        #expect(
            scalars.properties.map(\.type) == [
                .int, .bool, .int, .int, .int, .int, .int, .float, .double, .string, .data, .date, .uuid, .objectId,
                .decimal128, .any,
            ])
        #expect(schema["OptionalScalars"]?.properties.dropFirst().allSatisfy(\.isOptional) == true)
        let dog = try #require(schema["Dog"])
        #expect(dog["size"]?.type == .string && dog["size"]?.typeName == "String enum" && dog["isSelected"] == nil)
        #expect(schema["Indexed"]?["body"]?.isFullText == true && schema["Indexed"]?["name"]?.isIndexed == true)
        #expect("\(children)" == "children: List<Node>")
    }

    @Test("objects of a type that is given by name are created, queried and changed O7 O12") func objects() throws {
        let test = try TestRealm()
        try test.realm.write {
            let second = test.realm.dynamicCreate("Node", value: ["id": 2, "name": "b", "amount": 5.0])
            let first = test.realm.dynamicCreate("Node", value: ["id": 1, "name": "a", "next": second.object])
            first.children = [second]
            first.dynamicMap("named")["x"] = second
            test.realm.dynamicCreate("Node", value: ["id": 2, "name": "c"], update: .modified)
        }
        let nodes = test.realm.dynamicObjects("Node")
        #expect(nodes.count == 2 && nodes.map { $0.id as? Int } == [1, 2] && nodes.realm == test.realm)
        let first = try #require(test.realm.dynamicObject(ofType: "Node", forPrimaryKey: 1))
        #expect(first == nodes[0] && first.object is Node && first["name"] as? String == "a")
        let next = try #require(first.next as? DynamicObject)
        #expect(next.name as? String == "c" && next.amount as? Double == 5 && next.next == nil)
        let children = try #require(first.children as? DynamicList)
        #expect(children.count == 1 && children[0] as? DynamicObject == next)
        #expect(
            (first.named as? DynamicMap)?["x"] as? DynamicObject == next && (first.peers as? DynamicSet)?.count == 0)
        #expect(next.previous as? [DynamicObject] == [first])
        #expect(test.realm.dynamicObject(ofType: "Node", forPrimaryKey: 3) == nil)
        #expect(nodes.filter("next == %@", next).map(\.object) == [first.object])
        #expect(nodes.sorted(byKeyPath: "name", ascending: false).first == next && nodes.index(of: next) == 1)
        #expect(nodes.sum(ofProperty: "amount") == 5.0 && nodes.max(ofProperty: "name") == "c")
        #expect(nodes.distinct(by: ["name"]).count == 2 && nodes.value(forKey: "name") as? [String] == ["a", "c"])
        try test.realm.write {
            first.name = "changed"
            first.next = nil
            nodes.setValue(7.0, forKey: "amount")
        }
        let typed = try #require(test.realm.object(ofType: Node.self, forPrimaryKey: 1))
        #expect(typed.name == "changed" && typed.next == nil && typed.amount == 7 && typed == first.object)
    }

    @Test("unknown names and wrong kinds or types trap O12") func mistakes() async {
        let kind = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Node().dynamicList("peers")
        }
        expectMessage(kind, "'Node.peers' is 'Set<Node>' and not a list")
        let name = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Node().dynamicMap("nothing")
        }
        expectMessage(name, "'Node' has no property 'nothing'")
        let element = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ScalarLists().dynamicList("ints").append("one")
        }
        expectMessage(element, "'ScalarLists.ints' takes elements of type 'Int', but was given 'one'")
        let absent = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ScalarLists().dynamicList("ints").append(nil)
        }
        expectMessage(absent, "'ScalarLists.ints' takes elements of type 'Int', but was given 'nil'")
        let type = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.dynamicObjects("Cat")
        }
        expectMessage(type, "'Cat' is not in the schema of this Realm")
        let key = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().realm.dynamicObject(ofType: "Node", forPrimaryKey: "one")
        }
        expectMessage(key, "'Node.id' takes 'Int', but was given 'one'")
        let member = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = DynamicObject(Node()).nothing
        }
        expectMessage(member, "'Node' has no property 'nothing'")
        let write = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write { test.realm.add(Node(id: 1)) }
            test.realm.dynamicObjects("Node")[0].name = "x"
        }
        expectMessage(write, "a 'Node' was changed outside a write transaction")
        let embedded = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write { _ = test.realm.dynamicCreate("Part") }
        }
        expectMessage(embedded, "'Part' is an embedded type and cannot be added by itself")
    }
}
