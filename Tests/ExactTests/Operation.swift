import ConformanceModels
import Martlet

/// One change inside a write, made in the model and in a Realm. The random numbers are used modulo the number of nodes
/// or elements. So every operation remains valid if other operations are removed.
struct Operation: CustomStringConvertible {
    enum Kind: String, CaseIterable {
        case add, furtherAccessor, delete, deleteAll, name, amount, nameAll, amountAll, next, assignAgain
        case childInsert, childRemove, childReplace, childMove, childSwap, childClear, childAssign
        case peerInsert, peerRemove, peerClear, namedSet, namedRemove, namedClear
        case part, partName, partNode, partsInsert, partsRemove, partsReplace, partsName, partsClear
        case byNameSet, byNameRemove, byNamePartName
        case valueInsert, valueRemove, valueReplace, valueMove, valueClear, valueInsertRemove, textInsert, textRemove
        case doubleSet, doubleRemove, nodeListInsert, nodeListRemove
        // Except `enumRow`, these kinds occur only in programs with certain themes.
        case chain, manyValues, nodeListInsertMany
        case anyAdd, anyDelete, anyAssign, anyPut, anyNumbers, anyInsert, anyReplace, anyRemove, anyMove
        case anyKeySet, anyKeyRemove, anySetInsert, anySetRemove, enumRow

        var isAny: Bool { rawValue.hasPrefix("any") }
        fileprivate var isSpecial: Bool {
            isAny || [.deleteAll, .chain, .manyValues, .nodeListInsertMany].contains(self)
        }
    }

    let kind: Kind
    // These are random numbers. Most operations use `a` for a node, row or position, and `b` for another node or
    // position or for a value. They use `c` for a value, or for a choice between variants.
    let a: Int
    let b: Int
    let c: Int

    private static let weights: [Kind] =
        Kind.allCases.filter { !$0.isSpecial }
        + [
            .add, .add, .add, .furtherAccessor, .delete, .name, .name, .name, .amount, .amount, .next, .childInsert,
            .childInsert,
        ]
        + [.peerInsert, .namedSet, .childRemove]

    /// The kinds of operations that a program uses. A third of the programs choose among all kinds in `weights`. The
    /// other programs choose among about half of these kinds, so that they use each of them more often. Most themes
    /// prefer certain kinds.
    static func kinds(_ random: inout some RandomNumberGenerator, _ theme: Program.Theme) -> [Kind] {
        let isFull = Int.random(in: 0..<3, using: &random) == 0
        let chosen = Set(Kind.allCases.filter { _ in isFull || Bool.random(using: &random) } + [.add, .delete, .name])
        let plain = weights.filter(chosen.contains)
        return switch theme {
        case .plain: plain
        case .chain:
            [.add, .chain, .assignAgain, .nameAll] + Array(repeating: .name, count: 8)
                + Array(repeating: .amount, count: 8) + plain.suffix(1)
        case .long:
            [
                .manyValues, .manyValues, .nodeListInsertMany, .nodeListInsertMany, .valueInsert, .valueRemove,
                .valueMove, .valueReplace,
            ]
                + [.valueInsertRemove, .valueInsertRemove]
                + [.nodeListInsert, .nodeListRemove, .nodeListRemove, .add, .add, .delete, .name, .name]
        case .maps:
            [.add, .add, .name, .amount, .namedSet, .namedSet, .namedSet, .namedRemove, .namedRemove, .doubleSet]
                + [.doubleRemove, .byNameSet, .byNameRemove, .byNamePartName] + plain.suffix(1)
        case .furtherAccessors:
            [
                .add, .add, .furtherAccessor, .furtherAccessor, .furtherAccessor, .furtherAccessor, .delete, .delete,
                .name, .name, .amount, .assignAgain, .next,
                .next,
            ]
                + [.nameAll, .part, .part, .partName, .partNode, .partsInsert, .partsRemove, .childAssign]
                + plain.filter { $0.rawValue.hasPrefix("child") || $0.rawValue.hasPrefix("named") } + plain.suffix(2)
        case .sections: [.add, .add, .delete, .nameAll] + Array(repeating: .name, count: 6) + plain.suffix(2)
        case .any:
            Kind.allCases.filter(\.isAny) + [.anyAdd, .anyAdd, .anyAssign, .anyPut, .add, .add, .delete, .name] + plain
        }
    }

    /// Adds all nodes and links them into one chain.
    static func chained(_ random: inout some RandomNumberGenerator) -> [Operation] {
        (0..<maximumNodeCount).map { Operation(kind: .add, a: $0, b: $0, c: $0) }
            + [Operation(kind: .chain, a: 0, b: Int.random(in: 0..<60, using: &random), c: 0)]
    }

    init(_ random: inout some RandomNumberGenerator, of kinds: [Kind]) {
        let isRare = Int.random(in: 0..<300, using: &random) == 0
        kind = isRare ? .deleteAll : kinds.randomElement(using: &random) ?? .add
        // Half of the operations use the first three nodes.
        a = Int.random(in: 0..<(Bool.random(using: &random) ? 3 : 60), using: &random)
        b = Int.random(in: 0..<60, using: &random)
        c = Int.random(in: 0..<60, using: &random)
    }

    /// The operations of one write. Some repeat the kind or the node of the previous operation.
    static func series(_ count: Int, _ random: inout some RandomNumberGenerator, of kinds: [Kind]) -> [Operation] {
        var series: [Operation] = []
        for _ in 0..<count {
            let new = Operation(&random, of: kinds)
            guard let last = series.last, Int.random(in: 0..<3, using: &random) == 0 else {
                series.append(new)
                continue
            }
            let kind = Bool.random(using: &random) ? last.kind : new.kind
            let a = Bool.random(using: &random) ? last.a : new.a
            series.append(Operation(kind: kind, a: a, b: new.b, c: new.c))
        }
        return series
    }

    private init(kind: Kind, a: Int, b: Int, c: Int) {
        (self.kind, self.a, self.b, self.c) = (kind, a, b, c)
    }

    var description: String { "\(kind)(\(a), \(b), \(c))" }

    /// The maximum number of nodes. Their primary keys are less than this number.
    static let maximumNodeCount = 8

    func perform(_ model: inout ModelState, _ realm: Realm, _ furtherAccessors: FurtherAccessors) {
        switch kind {
        case .add: add(&model, realm)
        case .deleteAll:
            for (_, serial) in model.nodes { model.delete(serial) }
            realm.delete(realm.objects(Node.self))
        case .nameAll, .amountAll:
            for (id, serial) in model.nodes {
                guard let node = furtherAccessors.accessor(id, serial, realm, b + c) else { continue }
                let pair = NodePair(serial: serial, node: node)
                assign(pair, pair, &model)
            }
        case .valueInsert, .valueRemove, .valueReplace, .valueMove, .valueClear, .valueInsertRemove:
            editValues(&model, realm)
        case .textInsert, .textRemove: editTexts(&model, realm)
        case .doubleSet, .doubleRemove: editDoubles(&model, realm)
        case .nodeListInsert, .nodeListRemove: editNodeList(&model, realm)
        case .manyValues, .nodeListInsertMany: insertMany(&model, realm)
        case .chain: chain(&model, realm)
        case .anyAdd, .anyDelete, .anyAssign, .anyPut, .anyNumbers, .anyInsert, .anyReplace, .anyRemove, .anyMove,
            .anyKeySet, .anyKeyRemove, .anySetInsert, .anySetRemove, .enumRow:
            editAny(&model, realm)
        default:
            let nodes = model.nodes
            guard !nodes.isEmpty else { return }
            let (id, serial) = nodes[a % nodes.count]
            guard let node = furtherAccessors.accessor(id, serial, realm, b + c) else { return }
            let pair = NodePair(serial: serial, node: node)
            let other = nodes[b % nodes.count]
            let target = NodePair(
                serial: other.serial, node: furtherAccessors.accessor(other.id, other.serial, realm, a + c) ?? node)
            switch kind {
            case .furtherAccessor: addFurtherAccessor(pair, &model, realm, furtherAccessors)
            case .delete:
                model.delete(serial)
                realm.delete(node)
            case .name, .amount, .next, .assignAgain: assign(pair, target, &model)
            case .childInsert, .childRemove, .childReplace, .childMove, .childSwap, .childClear, .childAssign:
                editChildren(pair, target, &model)
            case .peerInsert, .peerRemove, .peerClear, .namedSet, .namedRemove, .namedClear:
                editPeers(pair, target, &model)
            default: editParts(pair, target, &model)
            }
        }
    }

    /// A node in the model and in the Realm.
    struct NodePair {
        let serial: Int
        let node: Node
    }

    /// Small whole numbers, infinities, and the special values NaN and negative zero, which a REAL column cannot store.
    var amount: Double {
        switch b % 12 {
        case 9: .nan
        case 10: -0.0
        case 11: c.isMultiple(of: 2) ? .infinity : -.infinity
        default: Double(b % 5)
        }
    }

    var letter: String { String("ABCDE"[String.Index(utf16Offset: c % 5, in: "ABCDE")]) }

    var key: String { ["x", "y", "z"][c % 3] }

    private func add(_ model: inout ModelState, _ realm: Realm) {
        let id = a % Self.maximumNodeCount
        guard model.node(id) == nil else { return }
        _ = model.add(
            "Node", ["id": .number(Double(id)), "name": .text(letter), "amount": .number(amount)])
        realm.add(Node(id: id, name: letter, amount: amount))
    }

    private func assign(_ pair: NodePair, _ target: NodePair, _ model: inout ModelState) {
        switch kind {
        case .name, .nameAll:
            model.set(pair.serial, "name", .text(letter))
            pair.node.name = letter
        case .amount, .amountAll:
            model.set(pair.serial, "amount", .number(amount))
            pair.node.amount = amount
        case .next:
            model.set(pair.serial, "next", c % 4 == 0 ? .none : .row(target.serial))
            pair.node.next = c % 4 == 0 ? nil : target.node
        default:
            model.set(pair.serial, "name", model.singleValue(pair.serial, "name"))
            pair.node.name = pair.node.name
        }
    }

    // MARK: Links to many

    private func editChildren(_ pair: NodePair, _ target: NodePair, _ model: inout ModelState) {
        let list = pair.node.children
        let count = list.count
        if count == 0 && [.childRemove, .childReplace, .childMove, .childSwap].contains(kind) { return }
        let (first, second) = (count == 0 ? 0 : b % count, count == 0 ? 0 : c % count)
        model.edit(pair.serial, "children") { slots, now in
            switch kind {
            case .childInsert:
                slots.insert(ModelState.Slot(value: .row(target.serial), written: now), at: c % (count + 1))
            case .childRemove: slots.remove(at: first)
            case .childReplace: slots[second] = ModelState.Slot(value: .row(target.serial), written: now)
            case .childMove: slots.insert(slots.remove(at: first), at: second)
            case .childSwap: slots.swapAt(first, second)
            case .childClear: slots = []
            default: slots = [target.serial, pair.serial].map { ModelState.Slot(value: .row($0), written: now) }
            }
        }
        switch kind {
        case .childInsert: list.insert(target.node, at: c % (count + 1))
        case .childRemove: list.remove(at: first)
        case .childReplace: list[second] = target.node
        case .childMove: list.move(from: first, to: second)
        case .childSwap: list.swapAt(first, second)
        case .childClear: list.removeAll()
        default:
            let new = List<Node>()
            new.append(objectsIn: [target.node, pair.node])
            pair.node.children = new
        }
    }

    private func editPeers(_ pair: NodePair, _ target: NodePair, _ model: inout ModelState) {
        let (peers, named) = (pair.node.peers, pair.node.named)
        model.edit(pair.serial, kind.rawValue.hasPrefix("peer") ? "peers" : "named") { slots, now in
            let known = slots.firstIndex { $0.key == key }
            switch kind {
            case .peerInsert where !slots.contains { $0.value == .row(target.serial) }:
                slots.append(ModelState.Slot(value: .row(target.serial), written: now))
            case .peerInsert: break
            case .peerRemove: slots.removeAll { $0.value == .row(target.serial) }
            case .namedSet:
                let new = ModelState.Slot(key: key, value: a % 5 == 0 ? .none : .row(target.serial), written: now)
                if let known { slots[known] = new } else { slots.append(new) }
            case .namedRemove: slots.removeAll { $0.key == key }
            default: slots = []
            }
        }
        switch kind {
        case .peerInsert: peers.insert(target.node)
        case .peerRemove: peers.remove(target.node)
        case .peerClear: peers.removeAll()
        case .namedSet: named.updateValue(a % 5 == 0 ? nil : target.node, forKey: key)
        case .namedRemove: named.removeObject(for: key)
        default: named.removeAll()
        }
    }
}
