import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// Calls that change nothing, because they are given nothing to change.
@Suite struct ChangeWithoutEffectTests {
    /// The object has the id 1 and empty collections. There is no object with another id.
    private static let changes: [String: @Sendable (Realm, Node) -> Void] = [
        "list append": { $1.children.append(objectsIn: []) },
        "list insert": { $1.children.insert(contentsOf: [], at: 0) },
        "list replaceSubrange": { $1.children.replaceSubrange(0..<0, with: []) },
        "list removeSubrange": { $1.children.removeSubrange(0..<0) },
        "list removeFirst": { $1.children.removeFirst(0) },
        "list removeLast": { $1.children.removeLast(0) },
        "list removeAll": { $1.children.removeAll() },
        "list removeAll(where:)": { $1.children.removeAll { $0.id > 0 } },
        "list remove(atOffsets:)": { $1.children.remove(atOffsets: []) },
        "list move": { $1.children.move(fromOffsets: [], toOffset: 0) },
        "list sort": { $1.children.sort { $0.id < $1.id } },
        "list reverse": { $1.children.reverse() },
        "list shuffle": { $1.children.shuffle() },
        "list partition": { $1.children.partition { $0.id > 0 } },
        "list setValue": { $1.children.setValue("x", forKey: "name") },
        "list assigned to itself": { $1.children = $1.children },
        "list assigned by name": { $1["children"] = $1.children },
        "set insert": { $1.peers.insert(objectsIn: []) },
        "set remove": { $1.peers.remove(Node(id: 2)) },
        "set removeAll": { $1.peers.removeAll() },
        "set formUnion": { $1.peers.formUnion($1.peers) },
        "set formIntersection": { $1.peers.formIntersection($1.peers) },
        "set subtract": { $1.peers.subtract(MutableSet()) },
        "set assigned to itself": { $1.peers = $1.peers },
        "set assigned by name": { $1["peers"] = $1.peers },
        "map removal": { $1.named["x"] = nil },
        "map removeObject": { $1.named.removeObject(for: "x") },
        "map removeObjects": { $1.named.removeObjects(for: []) },
        "map merge": { $1.named.merge([:]) },
        "map merge(uniquingKeysWith:)": { $1.named.merge([]) { $1 } },
        "map removeAll": { $1.named.removeAll() },
        "map assigned to itself": { $1.named = $1.named },
        "map assigned by name": { $1["named"] = $1.named },
        "results setValue": { realm, _ in
            realm.objects(Node.self).where { $0.id > 1 }.setValue("x", forKey: "name")
        },
        "dynamic results setValue": { realm, _ in
            realm.dynamicObjects("Node").filter("id > 1").setValue("x", forKey: "name")
        },
        "key assigned by name": { $1["id"] = 1 },
        "add": { realm, _ in realm.add([Node]()) },
        "add again": { $0.add($1) },
        "delete sequence": { realm, _ in realm.delete([Node]()) },
        "delete results": { realm, _ in realm.delete(realm.objects(Node.self).where { $0.id > 1 }) },
    ]

    private static func fixture() throws -> (test: TestRealm, node: Node) {
        let node = Node(id: 1)
        let test = try TestRealm()
        try test.realm.write { test.realm.add(node) }
        return (test, node)
    }

    @Test("a change without effect outside of a write traps O4", arguments: changes.keys.sorted())
    func outside(_ name: String) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [name] in
            let (test, node) = try Self.fixture()
            Self.changes[name]?(test.realm, node)
            withExtendedLifetime(test) {}
        }
        expectMessage(result, "changed outside a write transaction")
    }

    @Test("changes without effect create no version N26 N43") func inside() throws {
        let (test, node) = try Self.fixture()
        let version = test.realm.context.version
        for (name, change) in Self.changes.sorted(by: { $0.key < $1.key }) {
            try test.realm.write { change(test.realm, node) }
            #expect(test.realm.context.version == version, "\(name)")
        }
    }
}
