import ConformanceModels

@testable import Martlet

/// Further accessors of rows of the Realm under test: unmanaged objects that were added as updates of rows that were there.
final class Twins {
    private let realm: Realm
    private var all: [(serial: Int, node: Node)] = []

    init(_ realm: Realm) { self.realm = realm }

    /// One of the accessors of a node; nil when the Realm does not have it.
    func accessor(_ id: Int, _ serial: Int, _ realm: Realm, _ choice: Int) -> Node? {
        guard realm.context === self.realm.context else {
            return realm.object(ofType: Node.self, forPrimaryKey: id)
        }
        let known = all.filter { $0.serial == serial && !$0.node.isInvalidated }
        if known.isEmpty || choice.isMultiple(of: 3) { return realm.object(ofType: Node.self, forPrimaryKey: id) }
        return known[choice % known.count].node
    }

    func keep(_ node: Node, _ serial: Int, _ realm: Realm) {
        if realm.context === self.realm.context, all.count < 12 { all.append((serial, node)) }
    }

    /// The number of those that are held, to return to.
    var count: Int { all.count }

    /// Releases those whose rows a write has made that was rolled back: a later row may have their serial number. Others that
    /// it has made stay accessors of their rows.
    func drop(after count: Int, _ world: World) {
        let kept = all.dropFirst(count).filter { world.rows[$0.serial] != nil }
        all.replaceSubrange(min(count, all.count)..., with: kept)
    }

    func drop() { all = [] }

    /// What one of them shows that is not in the model; nil when all is right. Those of deleted rows are released.
    func wrong(_ world: World) -> String? {
        for (serial, node) in all {
            guard world.rows[serial] != nil else {
                if !node.isInvalidated { return "a further accessor of a deleted node is not invalidated" }
                continue
            }
            let name = "a further accessor of node \(world.id(serial) ?? -1)"
            if node.isInvalidated { return "\(name) is invalidated" }
            let shown = [
                node.name, "\(node.amount)", node.next.map { "\($0.id)" } ?? "nil", "\(node.children.map(\.id))",
                node.part?.name ?? "nil",
            ]
            let expected = [
                world.text(serial, "name") ?? "", "\(world.number(serial, "amount") ?? 0)",
                world.shown(world.single(serial, "next")),
                "\(world.targets(serial, "children").compactMap { world.id($0) })",
                world.shown(world.single(serial, "part")),
            ]
            if shown != expected { return "\(name) shows \(shown) instead of \(expected)" }
        }
        all.removeAll { world.rows[$0.serial] == nil }
        return nil
    }
}

extension Operation {
    /// Adds an unmanaged object as an update of a node, whose further accessor it becomes: with the links and collections of
    /// the node, or without any.
    func addTwin(_ pair: NodePair, _ world: inout World, _ realm: Realm, _ twins: Twins) {
        let (node, serial) = (pair.node, pair.serial)
        let twin = Node(id: node.id, name: letter, amount: amount)
        let isBare = c.isMultiple(of: 3)
        if !isBare {
            twin.next = node.next
            twin.children.append(objectsIn: Array(node.children))
            twin.peers.insert(objectsIn: Array(node.peers))
            for entry in node.named { twin.named[entry.key] = entry.value }
            twin.part = node.part.map { Part(name: $0.name, weight: $0.weight, node: $0.node) }
            twin.parts.append(objectsIn: node.parts.map { Part(name: $0.name, weight: $0.weight, node: $0.node) })
            for entry in node.partsByName {
                twin.partsByName[entry.key] = entry.value.map { Part(name: $0.name, weight: $0.weight, node: $0.node) }
            }
        }
        for (name, value) in [("name", World.Value.text(letter)), ("amount", .number(amount))]
        where world.single(serial, name) != value {
            world.set(serial, name, value)
        }
        if isBare {
            for name in ["next", "part"] where world.single(serial, name) != .none { world.set(serial, name, .none) }
            for name in ["children", "peers", "named", "parts", "partsByName"]
            where !world.slots(serial, name).isEmpty {
                world.edit(serial, name) { slots, _ in slots = [] }
            }
        }
        realm.add(twin, update: .modified)
        twins.keep(twin, serial, realm)
    }
}
