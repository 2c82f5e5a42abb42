import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite struct ObjectTests {
    @Test("unmanaged objects are plain Swift objects O10") func unmanaged() {
        let dog = Dog(name: "Rex", age: 3)
        dog.name = "Max"
        dog.owner = Person(firstName: "Ada")
        dog.siblings.append(Dog(name: "Zoe"))
        dog.tags.insert("good")
        dog.weights["monday"] = 12.5
        #expect(dog.name == "Max" && dog.owner?.firstName == "Ada" && dog.siblings.count == 1)
        #expect(dog.tags.contains("good") && dog.weights["monday"] == 12.5)
        #expect(dog.realm == nil && !dog.isInvalidated && !dog.isFrozen)
        #expect(dog != Dog(name: "Max") && dog == dog && !dog.isSameObject(as: nil))
        #expect(dog.owner?.dogs.count == 0)
    }

    @Test("init(value:) accepts a dictionary, an array in schema order, or an object O10") func initValue() {
        let node = Node(value: [
            "id": 3, "name": "a", "next": ["id": 4], "children": [["id": 5], Node(id: 6)], "part": ["name": "p"],
        ])
        #expect(node.id == 3 && node.next?.id == 4 && node.children.map(\.id) == [5, 6] && node.part?.name == "p")
        let second = Node(value: [7, "b", 1.5])
        #expect(second.id == 7 && second.name == "b" && second.amount == 1.5)
        let copy = Node(value: node)
        #expect(copy.id == 3 && copy.next == node.next && copy.children.count == 2)
        #expect(Person(value: ["firstName": "Ada"]).lastName == "")
    }

    @Test("an object returns its Realm, schema, class name and description O11") func facts() throws {
        let test = try TestRealm()
        let node = Node(id: 1, name: "a", next: Node(id: 2))
        try test.realm.write { test.realm.add(node) }
        #expect(node.realm == test.realm && Node.className() == "Node")
        #expect(node.objectSchema.className == "Node" && node.objectSchema.primaryKeyProperty?.name == "id")
        #expect(
            node.objectSchema["children"]?.isList == true && node.objectSchema["children"]?.objectClassName == "Node")
        #expect(node.objectSchema.computedProperties.map(\.name) == ["previous", "parents", "peersOf", "namedBy"])
        #expect(node.objectSchema["previous"]?.linkOriginPropertyName == "next")
        #expect(node.description.contains("name = a") && node.description.contains("next = Node { id = 2;"))
        #expect(test.realm.schema["Part"]?.isEmbedded == true && test.realm.schema["Nothing"] == nil)
    }

    @Test("a live object has the values of the version that its Realm shows O14") func live() throws {
        let test = try TestRealm()
        let node = Node(id: 1, name: "a")
        try test.realm.write { test.realm.add(node) }
        try test.onNewThread { realm in
            try realm.write { realm.object(ofType: Node.self, forPrimaryKey: 1)?.name = "b" }
        }
        #expect(node.name == "a")
        test.realm.refresh()
        #expect(node.name == "b")
    }

    @Test("an object is invalidated when its Realm deletes it, or refreshes after another Realm has deleted it O14")
    func invalidation() throws {
        let test = try TestRealm()
        let (first, second) = (Node(id: 1), Node(id: 2))
        try test.realm.write { test.realm.add([first, second]) }
        let list = first.children
        try test.realm.write { test.realm.delete(first) }
        #expect(first.isInvalidated && list.isInvalidated && first.description == "Node (invalidated)")
        try test.onNewThread { realm in try realm.write { realm.delete(realm.objects(Node.self)) } }
        #expect(!second.isInvalidated)
        test.realm.refresh()
        #expect(second.isInvalidated && first == first && first != second)
    }

    @Test("an invalidated object stays invalidated when a new object gets its primary key O14")
    func reusedKey() throws {
        let test = try TestRealm()
        let old = Node(id: 1, name: "old", children: [Node(id: 2)])
        try test.realm.write { test.realm.add(old) }
        let list = old.children
        try test.realm.write {
            test.realm.delete(old)
            test.realm.add(Node(id: 1, name: "new"))
        }
        #expect(old.isInvalidated && list.isInvalidated)
        #expect(test.realm.object(ofType: Node.self, forPrimaryKey: 1)?.name == "new")
        #expect(test.realm.object(ofType: Node.self, forPrimaryKey: 1)?.children.count == 0)
    }

    @Test("two reads of a row return equal objects O15") func equality() throws {
        let test = try TestRealm()
        try test.realm.write { test.realm.add(Node(id: 1, next: Node(id: 2))) }
        let all = test.realm.objects(Node.self)
        let (first, again) = (try #require(all.first), try #require(all.first))
        #expect(first == again && first.isSameObject(as: again) && first.hashValue == again.hashValue)
        #expect(first != all[1] && first.next == all[1])
        #expect(Set([first, again, all[1]]).count == 2)
        var held: Node? = all[1]
        let key = held?.hashValue
        held = nil
        #expect(all[1].hashValue == key)
    }

    @Test("objects of two Realms are not equal, even if their values are equal O11") func twoRealms() throws {
        let (one, other) = (try TestRealm(), try TestRealm())
        try one.realm.write { one.realm.add(Node(id: 1)) }
        try other.realm.write { other.realm.add(Node(id: 1)) }
        #expect(one.realm.objects(Node.self).first != other.realm.objects(Node.self).first)
        #expect(one.realm != other.realm)
    }

    @Test("untyped access reads and writes properties of every kind O12") func untyped() throws {
        let test = try TestRealm()
        let node = Node(id: 1)
        try test.realm.write {
            test.realm.add(node)
            node["name"] = "a"
            node.setValue(2.5, forKey: "amount")
            node["next"] = Node(id: 2)
            node["children"] = [Node(id: 3), ["id": 4]] as [Any]
            node["peers"] = [node]
            node["named"] = ["x": node, "y": nil] as [String: Node?]
            node["part"] = ["name": "p", "core": ["length": 3]] as [String: Any]
            node["parts"] = [Part(name: "q")]
        }
        #expect(node.name == "a" && node["amount"] as? Double == 2.5 && (node["next"] as? Node)?.id == 2)
        #expect(node.children.map(\.id) == [3, 4] && node.peers.contains(node) && node.named["x"] == .some(node))
        #expect(node.named["y"] == .some(nil) && node.named.count == 2)
        #expect(node.part?.core?.length == 3 && (node["parts"] as? List<Part>)?.first?.name == "q")
        #expect(
            (node["previous"] as? LinkingObjects<Node>)?.isEmpty == true
                && (node.next?["previous"] as? LinkingObjects<Node>)?.count == 1)
        try test.realm.write {
            node["next"] = nil
            node["part"] = nil
        }
        #expect(
            node.next == nil && node["part"] == nil && test.realm.context.integers("SELECT _key FROM Screw", []).isEmpty
        )
    }

    @Test("untyped access accepts raw values and cases of enums, and numbers of other types O12")
    func untypedConversions() throws {
        let test = try TestRealm()
        let (holder, scalars) = (EnumHolder(id: 1), Scalars(id: 1))
        try test.realm.write {
            test.realm.add(holder)
            test.realm.add(scalars)
            holder["grade"] = "best"
            holder["level"] = Level.high
            holder["optionalGrade"] = Grade.good
            holder["keywords"] = ["nil", Keyword.class] as [Any]
            scalars["int8"] = 7
            scalars["double"] = 3
            scalars["float"] = 0.5
            scalars["anyValue"] = "text"
        }
        #expect(
            holder.grade == .best && holder.level == .high && holder.optionalGrade == .good
                && holder["grade"] as? String == "best")
        #expect(Array(holder.keywords) == [.nil, .class])
        #expect(scalars.int8 == 7 && scalars.double == 3 && scalars.float == 0.5 && scalars.anyValue == .string("text"))
    }

    @Test("enums are stored as raw values; a raw value without a case is read as nil or as the unknown case O31")
    func enums() throws {
        let test = try TestRealm()
        let config = test.configuration
        var realm: Realm? = test.realm
        try realm?.write {
            realm?.add(
                EnumHolder(
                    id: 1, grade: .good, level: .middle, state: .closed, flavor: .sour, optionalGrade: .best,
                    optionalState: .open))
        }
        let holder = try #require(realm?.objects(EnumHolder.self).first)
        #expect(holder.grade == .good && holder.level == .middle && holder.state == .closed && holder.flavor == .sour)
        #expect(holder.optionalGrade == .best && holder.optionalLevel == nil && holder.optionalState == .open)
        realm = nil
        try alter(
            config.fileURL?.path ?? "",
            """
            UPDATE EnumHolder SET optionalGrade = 'newer', optionalLevel = 77, state = 'x', flavor = 99, optionalState = 'y';
            UPDATE martlet_meta SET version = version + 1
            """)
        try test.onNewThread { realm in
            let holder = try #require(realm.objects(EnumHolder.self).first)
            #expect(holder.optionalGrade == nil && holder.optionalLevel == nil)
            #expect(holder.state == .unknown && holder.flavor == .none && holder.optionalState == .unknown)
            try realm.write { holder.grade = .best }
            #expect(realm.objects(EnumHolder.self).where { $0.optionalGrade != nil }.count == 1)
        }
    }

    @Test("a write to a class with more than 63 properties keeps raw values without a case that it does not assign O31")
    func wide() throws {
        let test = try TestRealm()
        try test.onNewThread { realm in try realm.write { realm.add(Wide(id: 1)) } }
        try alter(
            test.configuration.fileURL?.path ?? "",
            """
            UPDATE Wide SET p61 = 'a', p63 = 'b', p65 = 'c', p70 = 'd';
            UPDATE martlet_meta SET version = version + 1
            """)
        try test.onNewThread { realm in
            let wide = try #require(realm.objects(Wide.self).first)
            try realm.write {
                wide.p62 = .nan
                wide.p64 = .closed
                wide.p66 = Wide(id: 2)
                wide.p67 = "text"
                wide.p68 = .object(wide)
                wide.p69 = -0.0
                #expect(realm.objects(Wide.self).where { $0.p64 == .closed }.count == 1)
                wide.p1 = 7
            }
            try realm.write { wide.p60 = 8 }
        }
        try test.onNewThread { realm in
            let raw = "p61 == 'a' AND p63 == 'b' AND p64 == 'c' AND p65 == 'c' AND p70 == 'd'"
            let wide = try #require(realm.objects(Wide.self).filter(raw).first)
            #expect(wide.p62.isNaN && wide.p66?.id == 2 && wide.p67 == "text" && wide.p68 == .object(wide))
            #expect(wide.p69.sign == .minus && wide.p1 == 7 && wide.p60 == 8 && wide.p63 == .unknown)
        }
    }

    @Test("new objects have the default values, and ignored properties are stored only in the accessor O35")
    func defaults() throws {
        let test = try TestRealm()
        let created = try test.realm.write { test.realm.create(Defaults.self) }
        let plain = Defaults()
        #expect(
            created.int == -42 && created.string == "text" && created.grade == .best && created.optionalInt == 7
                && created.decimal128 == plain.decimal128)
        #expect(created.uuid != plain.uuid && created.objectId != plain.objectId && created.optionalUuid != nil)
        created.count = 9
        created.isExpanded = false
        #expect(created.count == 9 && !created.isExpanded && created.objectSchema["count"] == nil)
        try test.onNewThread { realm in #expect(realm.objects(Defaults.self).first?.count == 3) }
    }
}
