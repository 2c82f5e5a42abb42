import ConformanceModels
import Martlet

// Inserts and removes nodes in the list `ScalarLists.nodes`.
extension Operation {
    func editNodeList(_ model: inout ModelState, _ realm: Realm) {
        let nodes = model.nodes
        guard let row = model.only("ScalarLists"), let list = realm.objects(ScalarLists.self).first?.nodes,
            !nodes.isEmpty
        else { return }
        let (id, serial) = nodes[a % nodes.count]
        let count = list.count
        if kind == .nodeListRemove {
            if count == 0 { return }
            model.edit(row, "nodes") { slots, _ in slots.remove(at: b % count) }
            list.remove(at: b % count)
        } else if let node = realm.object(ofType: Node.self, forPrimaryKey: id) {
            model.edit(row, "nodes") { slots, now in
                slots.insert(ModelState.Slot(value: .row(serial), written: now), at: b % (count + 1))
            }
            list.insert(node, at: b % (count + 1))
        }
    }
}

// Operations that change many rows or elements: long lists, and chains of links.
extension Operation {
    /// Inserts many elements at one position, so that chunks are split often. Chunks are stored in the order of their
    /// ordinals. After many splits, no ordinal is free between the ordinals of two neighboring chunks.
    func insertMany(_ model: inout ModelState, _ realm: Realm) {
        let nodes = model.nodes
        guard let row = model.only("ScalarLists"), let lists = realm.objects(ScalarLists.self).first else { return }
        if kind == .manyValues {
            for number in 0..<20 + b % 12 {
                let at = a % 3 * lists.ints.count / 2
                lists.ints.insert(number % 3, at: at)
                model.edit(row, "ints") { slots, now in
                    slots.insert(ModelState.Slot(value: .number(Double(number % 3)), written: now), at: at)
                }
            }
            guard lists.ints.count > 70 else { return }
            lists.ints.removeAll()
            model.edit(row, "ints") { slots, _ in slots = [] }
        } else if lists.nodes.count < 40 {
            for number in 0..<(nodes.isEmpty ? 0 : 4 + c % 8) {
                let (id, serial) = nodes[(b + number) % nodes.count]
                let at = a % (lists.nodes.count + 1)
                guard let node = realm.object(ofType: Node.self, forPrimaryKey: id) else { continue }
                lists.nodes.insert(node, at: at)
                model.edit(row, "nodes") { slots, now in
                    slots.insert(ModelState.Slot(value: .row(serial), written: now), at: at)
                }
            }
        }
    }

    /// Makes one chain of all nodes: each node links to the next node and to nothing else.
    func chain(_ model: inout ModelState, _ realm: Realm) {
        let all = model.nodes
        if all.isEmpty { return }
        let nodes = all[(a % all.count)...] + all[..<(a % all.count)]
        for (position, (id, serial)) in nodes.enumerated() {
            guard let node = realm.object(ofType: Node.self, forPrimaryKey: id) else { continue }
            let next = nodes.dropFirst(position + 1).first
            let target = next.flatMap { realm.object(ofType: Node.self, forPrimaryKey: $0.id) }
            let kind = b % 3 == 0 ? 0 : (b + position) % 4
            model.set(serial, "next", kind == 0 ? next.map { .row($0.serial) } ?? .none : .none)
            node.next = kind == 0 ? target : nil
            // A link that is removed and added again counts as written.
            for (number, name) in ["children", "peers", "named"].enumerated() {
                model.edit(serial, name) { slots, _ in slots = [] }
                guard kind == number + 1, let next else { continue }
                model.edit(serial, name) { slots, now in
                    slots = [ModelState.Slot(key: name == "named" ? "x" : "", value: .row(next.serial), written: now)]
                }
            }
            node.children.removeAll()
            node.peers.removeAll()
            node.named.removeAll()
            guard let target else { continue }
            if kind == 1 { node.children.append(target) }
            if kind == 2 { node.peers.insert(target) }
            if kind == 3 { node.named["x"] = target }
        }
    }
}
