import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("Key-value: queries in prior calls")
struct KeyValuePriorTests {
    /// Changes of the first of six nodes. Before each change, the children of this node are the second and the third
    /// node.
    private static let changes: [(name: String, change: @Sendable (Node, [Node]) -> Void)] = [
        ("append", { $0.children.append($1[3]) }),
        ("insert", { $0.children.insert($1[3], at: 0) }),
        ("append several", { $0.children.append(objectsIn: [$1[3], $1[4]]) }),
        ("replace", { $0.children[0] = $1[5] }),
        ("remove", { owner, _ in owner.children.remove(at: 0) }),
        ("remove all", { owner, _ in owner.children.removeAll() }),
        ("replace a range", { $0.children.replaceSubrange(0..<2, with: [$1[5], $1[0], $1[3]]) }),
        ("move", { owner, _ in owner.children.move(from: 0, to: 1) }),
        ("swap", { owner, _ in owner.children.swapAt(0, 1) }),
        ("sort", { owner, _ in owner.children.sort { $0.id > $1.id } }),
        ("assign a list", { $0.setValue([$1[4], $1[0]], forKey: "children") }),
        ("insert into a set", { $0.peers.insert($1[3]) }),
        ("remove from a set", { $0.peers.remove($1[1]) }),
        ("assign a set", { $0.setValue([$1[3], $1[4]], forKey: "peers") }),
        ("set a key", { $0.named["a"] = $1[3] }),
        ("set a new key", { $0.named["b"] = $1[3] }),
        ("remove a key", { owner, _ in owner.named.removeObject(for: "a") }),
        ("remove at offsets", { owner, _ in owner.children.remove(atOffsets: [0, 1]) }),
        ("remove by a condition", { owner, _ in owner.children.removeAll { $0.id == 2 } }),
        ("insert several into a set", { $0.peers.insert(objectsIn: [$1[3], $1[4]]) }),
        ("subtract a set", { owner, _ in owner.peers.subtract(owner.peers) }),
        ("merge", { owner, nodes in owner.named.merge([("a", nodes[4]), ("c", nodes[3])]) { $1 } }),
        ("remove several keys", { owner, _ in owner.named.removeObjects(for: ["a", "x"]) }),
        ("update", { $0.realm?.add(Node(id: 1, name: "z", children: [$1[4]]), update: .modified) }),
        ("replace all properties", { $0.realm?.add(Node(id: 1, next: $1[4], peers: [$1[4]]), update: .all) }),
        ("create", { owner, _ in owner.realm?.create(Node.self, value: ["id": 1, "name": "y"], update: .modified) }),
        ("set in results", { owner, _ in owner.realm?.objects(Node.self).setValue("w", forKey: "name") }),
        ("delete several", { $0.realm?.delete([$1[1], $1[2]]) }),
        ("assign a link", { $0.next = $1[3] }),
        ("assign a name", { owner, _ in owner.name = "z" }),
        ("delete the target of links", { $0.realm?.delete($1[1]) }),
        ("assign an embedded object", { owner, _ in owner.part = Part(name: "p") }),
        ("append an embedded object", { owner, _ in owner.parts.append(Part(name: "p")) }),
    ]

    private static func describe(_ node: Node) -> String {
        "\(node.name) \(node.next?.id ?? 0) \(node.children.map(\.id)) \(node.peers.map(\.id).sorted()) "
            + node.named.map { "\($0.key): \($0.value?.id ?? 0)" }.sorted().joined(separator: ", ")
            + " \(node.part?.name ?? "") \(node.parts.map(\.name))"
    }

    @Test("a change is complete even if an observer runs a query in its prior call K8", arguments: changes.indices)
    func query(_ index: Int) throws {
        let test = try TestRealm()
        let nodes = try test.nodes(6)
        let owner = nodes[0]
        try test.realm.write {
            owner.children.append(objectsIn: [nodes[1], nodes[2]])
            owner.peers.insert(nodes[1])
            owner.named["a"] = nodes[1]
            owner.next = nodes[1]
        }
        var calls = 0
        // The query writes the pending changes of the open write to the file.
        func query() {
            calls += 1
            _ = test.realm.objects(Node.self).where { $0.children.count > 1 }.count
        }
        let tokens = [
            owner.observe(\.children, options: [.prior]) { _, _ in query() },
            owner.observe(\.peers, options: [.prior]) { _, _ in query() },
            owner.observe(\.named, options: [.prior]) { _, _ in query() },
            owner.observe(\.next, options: [.prior]) { _, _ in query() },
            owner.observe(\.name, options: [.prior]) { _, _ in query() },
            owner.observe(\.part, options: [.prior]) { _, _ in query() },
            owner.observe(\.parts, options: [.prior]) { _, _ in query() },
        ]
        let before = Self.describe(owner)
        try test.realm.write { Self.changes[index].change(owner, nodes) }
        #expect(calls > 0, "\(Self.changes[index].name)")
        let after = Self.describe(owner)
        #expect(after != before)
        let id = owner.id
        var stored: String?
        try test.onNewThread { realm in
            stored = realm.object(ofType: Node.self, forPrimaryKey: id).map { Self.describe($0) }
        }
        #expect(stored == after, "\(Self.changes[index].name)")
        tokens.forEach { $0.invalidate() }
    }
}
