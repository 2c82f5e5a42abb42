import ConformanceModels
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite struct EmbeddedTests {
    private func parts(_ test: TestRealm) -> Int { test.realm.context.keys("SELECT _key FROM Part", []).count }

    @Test("O21 assigning makes an embedded object managed; replacing and nil delete it") func assign() throws {
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
        try test.elsewhere { realm in #expect(realm.objects(Node.self).first?.part?.name == "b") }
        #expect(node.part == second && parts(test) == 1)
        try test.realm.write { node.part = node.part }
        #expect(node.part == second)
        try test.realm.write { node.part = nil }
        #expect(node.part == nil && second.isInvalidated && parts(test) == 0)
    }

    @Test("O21 embedded objects that leave their list or map are deleted") func collections() throws {
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

    @Test("O20 an embedded object may own another, and is found through its owner") func nested() throws {
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

    @Test("O24 embedded objects link to others and let go of them") func links() throws {
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

    @Test("O20 O22 a second owner traps, of managed and unmanaged ones") func owners() async {
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
}
