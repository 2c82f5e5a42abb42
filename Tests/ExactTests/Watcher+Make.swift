import ConformanceModels
import Foundation

@testable import Martlet

/// Who is told of each call: it picks the worlds between which the change is to lead.
typealias Hear = (Watcher, (World, World) -> String?) -> Void

extension Watcher {
    /// Registers an observer; nil where there is nothing to observe.
    static func make(_ plan: WatcherPlan, _ world: World, _ realm: Realm, hear: @escaping Hear) -> Watcher? {
        let maker = WatcherMaker(plan: plan, world: world, realm: realm, hear: hear)
        switch plan.kind {
        case .values: return maker.values()
        case .results: return maker.results()
        default:
            let nodes = world.nodes
            guard !nodes.isEmpty else { return nil }
            let (id, serial) = nodes[plan.node % nodes.count]
            guard let node = realm.object(ofType: Node.self, forPrimaryKey: id) else { return nil }
            return maker.watcher(node, serial)
        }
    }
}

private struct WatcherMaker {
    let plan: WatcherPlan
    let world: World
    let realm: Realm
    let hear: Hear

    func watcher(_ node: Node, _ serial: Int) -> Watcher? {
        switch plan.kind {
        case .list:
            plan.base % 3 == 0
                ? list(node.parts, serial, "parts", plan.partPaths)
                : list(node.children, serial, "children", plan.nodePaths)
        case .set: list(node.peers, serial, "peers", plan.nodePaths)
        case .map:
            plan.base % 2 == 0
                ? map(node.named, serial, "named", plan.nodePaths)
                : map(node.partsByName, serial, "partsByName", plan.partPaths)
        case .links: links(node, serial)
        case .sections: sections(node, serial)
        case .section: section(node, serial)
        case .object: object(node, serial)
        case .projection: projection(node, serial)
        default: projected()
        }
    }

    // MARK: Collections

    private func observe<C: ObservableCollection>(
        _ collection: C, _ keyPaths: [String]?, isStable: Bool, _ items: @escaping (World) -> [Item],
        shown: ((World) -> [String])? = nil, live: @escaping (C) -> [String]?
    ) -> Watcher {
        let watcher = Watcher("\(plan)") {
            Judge.unchanged(items($0), items($1))
        } live: {
            // Accessors stay invalidated after a deletion that was taken back.
            guard let actual = live(collection) else { return nil }
            return (actual, shown?($0) ?? items($0).map(\.text))
        }
        watcher.token = collection.observeChanges(keyPaths: keyPaths) { [hear, unowned watcher] change in
            switch change {
            case .initial: hear(watcher) { _, _ in nil }
            case .update(_, let told):
                hear(watcher) { old, new in
                    Judge.elements(items(old), items(new), told, isStable: isStable).map { "\($0): \(told)" }
                }
            case .error(let error): hear(watcher) { _, _ in "\(error)" }
            }
        }
        return watcher
    }

    /// What a query starts from, and how its rows are found in the model.
    private func base(_ node: Node?, _ serial: Int) -> (results: Results<Node>, rows: (World) -> [Int]) {
        guard let node else { return (realm.objects(Node.self), { $0.nodes.map(\.serial) }) }
        switch plan.base {
        case 0, 1: return (node.children.filter("TRUEPREDICATE"), { $0.inKeyOrder($0.targets(serial, "children")) })
        case 2: return (node.peers.filter("TRUEPREDICATE"), { $0.inKeyOrder($0.targets(serial, "peers")) })
        case 3: return (node.named.filter("TRUEPREDICATE"), { $0.inKeyOrder($0.targets(serial, "named")) })
        case 4: return (node.previous.filter("TRUEPREDICATE"), { $0.targets(serial, "previous") })
        case 5: return (node.parents.filter("TRUEPREDICATE"), { $0.targets(serial, "parents") })
        default: return (realm.objects(Node.self), { $0.nodes.map(\.serial) })
        }
    }

    private func anyNode() -> (node: Node, serial: Int)? {
        let nodes = world.nodes
        guard !nodes.isEmpty else { return nil }
        let (id, serial) = nodes[plan.node % nodes.count]
        return realm.object(ofType: Node.self, forPrimaryKey: id).map { ($0, serial) }
    }

    func results() -> Watcher {
        let owner = anyNode()
        let (base, rows) = base(owner?.node, owner?.serial ?? 0)
        let query = ModelQuery(plan)
        let isSorted = !query.descriptors.isEmpty
        return observe(query.apply(base), plan.nodePaths, isStable: !isSorted) { world in
            query.apply(rows(world), world).map { world.item($0, plan.nodePaths) }
        } live: {
            $0.isInvalidated ? nil : $0.map { "\($0.id)" }
        }
    }

    private func projected() -> Watcher {
        let query = ModelQuery(plan)
        let paths = Label.all.map(\.path)
        return observe(
            query.apply(realm.objects(Node.self)).projected(NodeProjection.self), nil,
            isStable: query.descriptors.isEmpty
        ) { world in
            query.apply(world.nodes.map(\.serial), world).map { world.item($0, paths) }
        } shown: { world in
            query.apply(world.nodes.map(\.serial), world).map { world.text($0, "name") ?? "" }
        } live: {
            $0.storage.isInvalidated ? nil : $0.map(\.name)
        }
    }

    private func list<C: ObservableCollection & RealmCollection>(
        _ list: C, _ serial: Int, _ name: String, _ keyPaths: [String]?
    ) -> Watcher where C.Element: ObjectBase {
        observe(list, keyPaths, isStable: false) { world in
            world.slots(serial, name).map { world.item($0, keyPaths) }
        } live: {
            $0.isInvalidated ? nil : $0.map { "\(($0 as? Node)?.id.description ?? ($0 as? Part)?.name ?? "")" }
        }
    }

    private func links(_ node: Node, _ serial: Int) -> Watcher {
        let names = ["previous", "parents", "peersOf", "namedBy"]
        let links = [node.previous, node.parents, node.peersOf, node.namedBy]
        let choice = plan.base % names.count
        return observe(links[choice], plan.nodePaths, isStable: true) { world in
            world.targets(serial, names[choice]).map { world.item($0, plan.nodePaths) }
        } live: {
            $0.isInvalidated ? nil : $0.map { "\($0.id)" }
        }
    }

    func values() -> Watcher? {
        switch plan.base % 3 {
        case 0:
            guard let row = world.only("ScalarLists"), let list = realm.objects(ScalarLists.self).first?.ints else {
                return nil
            }
            return observe(list, nil, isStable: false) { world in
                world.slots(row, "ints").map { world.item($0, nil) }
            } live: {
                $0.isInvalidated ? nil : $0.map { "\(Double($0))" }
            }
        case 1:
            guard let row = world.only("ScalarSets"), let set = realm.objects(ScalarSets.self).first?.strings else {
                return nil
            }
            return observe(set, nil, isStable: false) { world in
                world.slots(row, "strings").map { world.item($0, nil) }
            } live: {
                $0.isInvalidated ? nil : Array($0)
            }
        default:
            guard let row = world.only("ScalarMaps"), let map = realm.objects(ScalarMaps.self).first?.doubles else {
                return nil
            }
            return self.map(map, row, "doubles", nil)
        }
    }

    private func map<Value>(_ map: Map<Value>, _ serial: Int, _ name: String, _ keyPaths: [String]?) -> Watcher {
        let items = { (world: World) in world.slots(serial, name).map { world.item($0, keyPaths) } }
        let watcher = Watcher("\(plan)") {
            Judge.unchanged(items($0), items($1))
        } live: {
            map.isInvalidated ? nil : (map.keys, items($0).map(\.key))
        }
        watcher.token = map.observe(keyPaths: keyPaths) { [hear, unowned watcher] change in
            switch change {
            case .initial: hear(watcher) { _, _ in nil }
            case .update(_, let deletions, let insertions, let modifications):
                hear(watcher) { old, new in
                    Judge.entries(
                        items(old), items(new), deletions: deletions, insertions: insertions,
                        modifications: modifications
                    ).map { "\($0): \(deletions) \(insertions) \(modifications)" }
                }
            case .error(let error): hear(watcher) { _, _ in "\(error)" }
            }
        }
        return watcher
    }

    // MARK: Sections

    private func sectioned(_ node: Node, _ serial: Int) -> (
        live: SectionedResults<String, Node>, sections: (World) -> [Judge.Section]
    ) {
        let (base, rows) = base(node, serial)
        let query = ModelQuery(plan, isCut: false)
        let keys: [(model: (World, Int) -> String, live: (Node) -> String)] = [
            ({ $0.text($1, "name") ?? "" }, { $0.name }),
            ({ "\(Int($0.number($1, "amount") ?? 0) % 2)" }, { "\(Int($0.amount) % 2)" }),
            (
                { world, row in world.link(row, "next").flatMap { world.text($0, "name") } ?? "" },
                { $0.next?.name ?? "" }
            ),
        ]
        let key = keys[plan.cut % keys.count]
        let live = query.apply(base, sorts: false).sectioned(by: key.live, sortDescriptors: query.descriptors)
        let sections = { (world: World) -> [Judge.Section] in
            var order: [String] = []
            var items: [String: [Item]] = [:]
            for row in query.apply(rows(world), world) {
                let key = key.model(world, row)
                if items[key] == nil { order.append(key) }
                items[key, default: []].append(world.item(row, plan.nodePaths))
            }
            return order.map { Judge.Section(key: $0, items: items[$0] ?? []) }
        }
        return (live, sections)
    }

    private static func unchanged(_ old: [Judge.Section], _ new: [Judge.Section]) -> String? {
        if old.map(\.key) != new.map(\.key) { return "sections are not told" }
        for (old, new) in zip(old, new) {
            if let missing = Judge.unchanged(old.items, new.items) { return "section '\(new.key)': \(missing)" }
        }
        return nil
    }

    private func sections(_ node: Node, _ serial: Int) -> Watcher {
        let (live, sections) = sectioned(node, serial)
        let watcher = Watcher("\(plan)") {
            Self.unchanged(sections($0), sections($1))
        } live: {
            if live.isInvalidated { return nil }
            let expected = sections($0).map { "\($0.key) \($0.items.map(\.text))" }
            return (live.map { "\($0.key) \($0.map { "\($0.id)" })" }, expected)
        }
        watcher.token = live.observe(keyPaths: plan.nodePaths, hearing(watcher) { sections($0) })
        return watcher
    }

    private func section(_ node: Node, _ serial: Int) -> Watcher? {
        let (live, sections) = sectioned(node, serial)
        guard let section = live.first else { return nil }
        let key = section.key
        // The same position before and after: a section alone does not see where it stands.
        let only = { (world: World) in sections(world).filter { $0.key == key } }
        let watcher = Watcher("\(plan)") {
            Self.unchanged(only($0), only($1))
        } live: {
            live.isInvalidated ? nil : (section.map { "\($0.id)" }, only($0).flatMap(\.items).map(\.text))
        }
        watcher.token = section.observe(keyPaths: plan.nodePaths, hearing(watcher, isAlone: true, only))
        return watcher
    }

    private func hearing<C>(
        _ watcher: Watcher, isAlone: Bool = false, _ sections: @escaping (World) -> [Judge.Section]
    ) -> (RealmSectionedResultsChange<C>) -> Void {
        { [hear, unowned watcher] change in
            switch change {
            case .initial: hear(watcher) { _, _ in nil }
            case .update(_, let deletions, let insertions, let modifications, let inserted, let deleted):
                let place = { (paths: [IndexPath]) in isAlone ? paths.map { [0, $0[1]] } : paths }
                let only = { (set: IndexSet) in isAlone && !set.isEmpty ? [0] : set }
                let told = Judge.SectionChange(
                    deletions: place(deletions), insertions: place(insertions), modifications: place(modifications),
                    inserted: only(inserted), deleted: only(deleted))
                hear(watcher) { old, new in
                    Judge.sections(sections(old), sections(new), told).map { "\($0): \(told)" }
                }
            case .error(let error): hear(watcher) { _, _ in "\(error)" }
            }
        }
    }

    // MARK: Objects

    /// A label of the projection, and the path behind it.
    private struct Label {
        let name: String
        let path: String

        static let all = [
            ("name", "name"), ("next", "next"), ("children", "children"), ("parents", "parents"), ("part", "part"),
            ("nextName", "next.name"), ("partWeight", "part.weight"), ("nextNext", "next.next"),
            ("deepName", "next.next.next.name"), ("childNames", "children.name"),
            ("childPartNames", "children.part.name"), ("peerAmounts", "peers.amount"), ("parentNames", "parents.name"),
            ("partWeights", "parts.weight"), ("nextChildren", "next.children"),
            ("nextChildNames", "next.children.name"),
        ].map { Label(name: $0.0, path: $0.1) }
    }

    private func object(_ node: Node, _ serial: Int) -> Watcher? {
        if plan.base % 4 == 0 {
            guard let part = node.part, let row = world.link(serial, "part") else { return nil }
            return object(part, row, plan.partPaths)
        }
        return object(node, serial, plan.nodePaths)
    }

    private func object<O: KeyPathObservable>(_ object: O, _ serial: Int, _ keyPaths: [String]?) -> Watcher {
        let type = world.rows[serial]?.type ?? ""
        var names: [String: [String]] = [:]
        for property in Property.of(type) {
            if keyPaths == nil, case .inverse = property.kind { continue }
            let paths = keyPaths.map { $0.filter { $0 == "*" || $0.split(separator: ".")[0] == property.name } }
            let own = (paths ?? ["*"]).map { $0 == "*" ? property.name : $0 }
            if !own.isEmpty { names[property.name] = own }
        }
        let watcher = changes(serial, names) { object.isInvalidated }
        watcher.token = object.observe(keyPaths: keyPaths, hearing(watcher, serial, names))
        return watcher
    }

    private func projection(_ node: Node, _ serial: Int) -> Watcher {
        let names = Dictionary(uniqueKeysWithValues: Label.all.map { ($0.name, [$0.path]) })
        let watcher = changes(serial, names) { node.isInvalidated }
        watcher.token = NodeProjection(projecting: node).observe(hearing(watcher, serial, names))
        return watcher
    }

    private func changes(_ serial: Int, _ names: [String: [String]], _ isGone: @escaping () -> Bool) -> Watcher {
        let watcher = Watcher("\(plan)") { old, new in
            if old.rows[serial] == nil { return nil }
            if new.rows[serial] == nil { return "the deletion is not told" }
            return names.keys.sorted().first {
                View(old, serial, names[$0]).values != View(new, serial, names[$0]).values
            }.map { "'\($0)' is not told" }
        } live: {
            $0.rows[serial] == nil ? (["\(isGone())"], ["true"]) : nil
        }
        watcher.known = [world]
        return watcher
    }

    private func hearing<O>(
        _ watcher: Watcher, _ serial: Int, _ names: [String: [String]]
    ) -> (ObjectChange<O>) -> Void {
        { [hear, unowned watcher] change in
            switch change {
            case .deleted:
                hear(watcher) { old, new in
                    old.rows[serial] != nil && new.rows[serial] == nil ? nil : "told to be deleted"
                }
            case .change(_, let changes):
                hear(watcher) { Self.judge($0, $1, serial, names, changes) }
            case .error(let error): hear(watcher) { _, _ in "\(error)" }
            }
        }
    }

    private static func judge(
        _ old: World, _ new: World, _ serial: Int, _ names: [String: [String]], _ changes: [PropertyChange]
    ) -> String? {
        guard old.rows[serial] != nil, new.rows[serial] != nil else { return "a change of what is not there" }
        for name in names.keys.sorted() {
            let (before, now) = (View(old, serial, names[name]), View(new, serial, names[name]))
            let told = changes.first { $0.name == name }
            if told == nil && before.values != now.values { return "'\(name)' is not told" }
            if told != nil && before.times == now.times && !Item.isLoose { return "'\(name)': nothing was written" }
            guard let told, let property = Property.named(name, of: new.rows[serial]?.type ?? ""),
                case .single = property.kind, names[name] == [name]
            else { continue }
            for (value, expected) in [
                (told.oldValue, old.single(serial, name)), (told.newValue, new.single(serial, name)),
            ] {
                let (shown, text) = (text(value, old: old), text(expected, old, new))
                if let shown, shown != text { return "'\(name)' is told as \(shown), and is \(text)" }
            }
        }
        return changes.first { names[$0.name] == nil }.map { "'\($0.name)' was not asked for" }
    }

    /// Nil for an object that is gone and cannot be read.
    private static func text(_ value: Any?, old: World) -> String? {
        switch value {
        case nil: "nil"
        case let node as Node: node.isInvalidated ? nil : "\(node.id)"
        case let part as Part: part.isInvalidated ? nil : "part"
        case let value?: "\(value is Int ? Double(value as? Int ?? 0) : value)"
        }
    }

    private static func text(_ value: World.Value, _ old: World, _ new: World) -> String {
        guard case .row(let row) = value else { return new.shown(value) }
        let world = new.rows[row] == nil ? old : new
        return world.rows[row]?.type == "Part" ? "part" : world.shown(value)
    }
}
