import ConformanceModels
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite struct EmbeddedTests {
    /// Returns the number of stored parts.
    private func parts(_ test: TestRealm) -> Int { test.realm.context.integers("SELECT _key FROM Part", []).count }

    @Test("assigning an embedded object makes it managed; replacing it or assigning nil deletes it O21") func assign()
        throws
    {
        let test = try TestRealm()
        let node = Node(id: 1)
        try test.realm.write { test.realm.add(node) }
        let (first, second) = (Part(name: "a"), Part(name: "b"))
        try test.realm.write {
            node.name = "kept"
            node.part = first
            #expect(first.realm == test.realm && node.part == first)
            node.part = second
            #expect(first.isInvalidated && node.part == second && node.part?.name == "b" && node.name == "kept")
        }
        try test.onNewThread { realm in #expect(realm.objects(Node.self).first?.part?.name == "b") }
        #expect(node.part == second && parts(test) == 1)
        try test.realm.write { node.part = node.part }
        #expect(node.part == second)
        try test.realm.write { node.part = nil }
        #expect(node.part == nil && second.isInvalidated && parts(test) == 0)
    }

    @Test("removing an embedded object from its list or map deletes it O21") func collections() throws {
        let test = try TestRealm()
        let node = Node(id: 1, parts: (0..<6).map { Part(name: "\($0)") }, partsByName: ["a": Part(), "b": Part()])
        try test.realm.write { test.realm.add(node) }
        let held = Array(node.parts)
        try test.realm.write {
            node.parts.remove(at: 1)
            node.parts.replace(index: 0, object: Part(name: "new"))
            node.parts.removeLast()
            node.parts.swapAt(0, 1)
            node.parts.move(from: 0, to: 2)
            node.partsByName["a"] = nil
            node.partsByName["b"] = Part(name: "B")
        }
        #expect(node.parts.map(\.name) == ["new", "3", "2", "4"] && parts(test) == 5)
        #expect(held.map(\.isInvalidated) == [true, true, false, false, false, true])
        try test.realm.write { node.parts.removeAll { $0.name == "new" } }
        #expect(parts(test) == node.parts.count + 1)
        try test.realm.write {
            node.parts.removeAll()
            node.partsByName.removeAll()
        }
        #expect(parts(test) == 0)
    }

    @Test("embedded objects can be nested, and queries of the owner reach them O20") func nested() throws {
        let test = try TestRealm()
        let node = Node(id: 1, part: Part(core: Screw(length: 1)))
        try test.realm.write { test.realm.add(node) }
        let core = try #require(node.part?.core)
        try test.realm.write { node.part?.core = Screw(length: 2) }
        #expect(core.isInvalidated && node.part?.core?.length == 2)
        try test.realm.write { node.part?.screws.append(Screw(length: 3)) }
        #expect(
            test.realm.objects(Node.self).where { $0.part.screws.length == 3 && $0.part.core.length == 2 }.count == 1)
    }

    @Test(
        ".modified updates long chains of embedded objects in place and needs no deep call stack O23 O5",
        arguments: ["inner", "rings", "named"], [false, true])
    func longChains(_ property: String, _ isDictionary: Bool) throws {
        let test = try TestRealm()
        let length = 2_000
        func wide(_ number: Int) -> Wide {
            let wide = Wide(id: 1)
            var ring = Ring(number: number)
            for _ in 1..<length {
                let outer = Ring()
                switch property {
                case "inner": outer.inner = ring
                case "rings": outer.rings.append(ring)
                default: outer.named["k"] = ring
                }
                ring = outer
            }
            wide.ring = ring
            return wide
        }
        func value(_ number: Int) -> [String: Any] {
            var ring: [String: Any] = ["number": number]
            for _ in 1..<length {
                ring = [property: property == "inner" ? ring : property == "rings" ? [ring] : ["k": ring] as Any]
            }
            return ["id": 1, "ring": ring]
        }
        func last() throws -> Ring {
            var ring = try #require(test.realm.objects(Wide.self).first?.ring)
            while let next = ring.inner ?? ring.rings.first ?? ring.named["k"] ?? nil { ring = next }
            return ring
        }
        func update(_ number: Int, _ policy: Realm.UpdatePolicy) throws {
            try test.realm.write {
                if isDictionary {
                    test.realm.create(Wide.self, value: value(number), update: policy)
                } else {
                    test.realm.add(wide(number), update: policy)
                }
            }
        }
        try update(1, .error)
        let ring = try last()
        #expect(ring.number == 1)
        try update(2, .modified)
        #expect(ring.number == 2 && test.realm.dynamicObjects("Ring").count == length)
        #expect(try last() == ring)
    }

    @Test("embedded objects can link to objects, and the link becomes nil when the target is deleted O24") func links()
        throws
    {
        let test = try TestRealm()
        let (node, target) = (Node(id: 1, part: Part()), Node(id: 2))
        try test.realm.write {
            test.realm.add(node)
            node.part?.node = target
        }
        #expect(node.part?.node == target && target.realm == test.realm)
        try test.realm.write { test.realm.delete(target) }
        #expect(node.part?.node == nil && node.part?.isInvalidated == false)
    }

    @Test("giving an embedded object a second owner traps, for managed and unmanaged objects O20 O22") func owners()
        async
    {
        let assigned = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = Node(id: 1, part: Part())
            try test.realm.write {
                test.realm.add(node)
                test.realm.add(Node(id: 2))
                test.realm.objects(Node.self)[1].part = node.part
            }
        }
        expectMessage(assigned, "an embedded 'Part' that already has an owner")
        let appended = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = Node(id: 1, parts: [Part()])
            try test.realm.write {
                test.realm.add(node)
                node.parts.append(node.parts[0])
            }
        }
        expectMessage(appended, "an embedded 'Part' that already has an owner")
        let added = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let part = Part()
            try test.realm.write {
                test.realm.add(Node(id: 1, part: part))
                test.realm.add(Node(id: 2, part: part))
            }
        }
        expectMessage(added, "an embedded 'Part' that already has an owner")
        let untyped = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let node = Node(id: 1, part: Part())
            try test.realm.write {
                test.realm.add(node)
                node["parts"] = [node.part]
            }
        }
        expectMessage(untyped, "an embedded 'Part' that already has an owner")
    }

    @Test(
        "updating an object with an embedded object that already has an owner traps O20 O22",
        arguments: ["list", "link", "other object", "twice"])
    func ownedSources(_ kind: String) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [kind] in
            let test = try TestRealm()
            let node = Node(id: 1, part: Part(name: "p"), parts: [Part(name: "a"), Part(name: "b")])
            let other = Node(id: 2, parts: [Part(name: "z")])
            try test.realm.write { test.realm.add([node, other]) }
            let update = Node(id: 1)
            switch kind {
            case "list": update.parts.append(objectsIn: [node.parts[1], node.parts[0]])
            case "link": update.part = node.parts[0]
            case "other object": update.parts.append(other.parts[0])
            default:
                let part = Part(name: "same")
                update.parts.append(objectsIn: [part, part])
            }
            try test.realm.write { test.realm.add(update, update: .modified) }
        }
        expectMessage(result, "an embedded 'Part' that already has an owner")
    }
}
