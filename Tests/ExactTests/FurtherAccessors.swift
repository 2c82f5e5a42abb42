import ConformanceModels

@testable import Martlet

/// Further accessors of rows: unmanaged objects that were added to the Realm under test as updates of existing objects.
final class FurtherAccessors {
    private let realm: Realm
    private var all: [(serial: Int, node: Node)] = []

    init(_ realm: Realm) { self.realm = realm }

    /// One of the accessors of a node; nil if the node does not exist in the Realm.
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

    /// The number of retained accessors, to be passed to `drop(after:_:)`.
    var count: Int { all.count }

    /// Releases the accessors of rows that a rolled-back write created, because a later row may get the same serial
    /// number. Further accessors of other rows remain.
    func drop(after count: Int, _ model: ModelState) {
        let kept = all.dropFirst(count).filter { model.rows[$0.serial] != nil }
        all.replaceSubrange(min(count, all.count)..., with: kept)
    }

    func drop() { all = [] }

    /// The first difference from the model; nil if there is none. Releases the accessors of deleted rows.
    func mismatch(_ model: ModelState) -> String? {
        for (serial, node) in all {
            guard model.rows[serial] != nil else {
                if !node.isInvalidated { return "a further accessor of a deleted node is not invalidated" }
                continue
            }
            let name = "a further accessor of node \(model.id(serial) ?? -1)"
            if node.isInvalidated { return "\(name) is invalidated" }
            let shown = [
                node.name, "\(node.amount)", node.next.map { "\($0.id)" } ?? "nil", "\(node.children.map(\.id))",
                node.part?.name ?? "nil",
            ]
            let expected = [
                model.text(serial, "name") ?? "", "\(model.number(serial, "amount") ?? 0)",
                model.shown(model.singleValue(serial, "next")),
                "\(model.targets(serial, "children").compactMap { model.id($0) })",
                model.shown(model.singleValue(serial, "part")),
            ]
            if shown != expected { return "\(name) shows \(shown) instead of \(expected)" }
        }
        all.removeAll { model.rows[$0.serial] == nil }
        return nil
    }
}

extension Operation {
    /// Adds an unmanaged object as an update of a node. The object has either the links and collections of the node, or
    /// no links and empty collections. The object becomes a further accessor of the node.
    func addFurtherAccessor(
        _ pair: NodePair, _ model: inout ModelState, _ realm: Realm, _ furtherAccessors: FurtherAccessors
    ) {
        let (node, serial) = (pair.node, pair.serial)
        let accessor = Node(id: node.id, name: letter, amount: amount)
        let isBare = c.isMultiple(of: 3)
        if !isBare {
            accessor.next = node.next
            accessor.children.append(objectsIn: Array(node.children))
            accessor.peers.insert(objectsIn: Array(node.peers))
            for entry in node.named { accessor.named[entry.key] = entry.value }
            accessor.part = node.part.map { Part(name: $0.name, weight: $0.weight, node: $0.node) }
            accessor.parts.append(objectsIn: node.parts.map { Part(name: $0.name, weight: $0.weight, node: $0.node) })
            for entry in node.partsByName {
                accessor.partsByName[entry.key] = entry.value.map {
                    Part(name: $0.name, weight: $0.weight, node: $0.node)
                }
            }
        }
        for (name, value) in [("name", ModelState.Value.text(letter)), ("amount", .number(amount))]
        where model.singleValue(serial, name) != value {
            model.set(serial, name, value)
        }
        if isBare {
            for name in ["next", "part"] where model.singleValue(serial, name) != .none {
                model.set(serial, name, .none)
            }
            for name in ["children", "peers", "named", "parts", "partsByName"]
            where !model.slots(serial, name).isEmpty {
                model.edit(serial, name) { slots, _ in slots = [] }
            }
        }
        realm.add(accessor, update: .modified)
        furtherAccessors.keep(accessor, serial, realm)
    }
}
