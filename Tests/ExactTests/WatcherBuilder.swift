import ConformanceModels
import Foundation

@testable import Martlet

/// Receives each call of an observer. The closure checks the call against an old and a new state of the model.
typealias CallHandler = (Watcher, CallRecord, (ModelState, ModelState) -> String?) -> Void

extension Watcher {
    /// Registers an observer. Returns nil if there is nothing to observe.
    static func make(
        _ plan: WatcherPlan, _ model: ModelState, _ realm: Realm, _ furtherAccessors: FurtherAccessors,
        _ loopExecutor: ManualTaskExecutor, _ executors: ObserverExecutors?,
        history: @escaping () -> [ModelState], onCall: @escaping CallHandler
    ) -> Watcher? {
        let builder = WatcherBuilder(
            plan: plan, model: model, realm: realm, loopExecutor: loopExecutor, executors: executors, history: history,
            onCall: onCall
        )
        switch plan.kind {
        case .values: return builder.watchValues()
        case .results: return builder.watchResults()
        case .projected: return builder.watchProjectedResults()
        case .any: return builder.watchAnyValues()
        default:
            let nodes = model.nodes
            guard !nodes.isEmpty else { return nil }
            let (id, serial) = nodes[plan.node % nodes.count]
            guard let node = furtherAccessors.accessor(id, serial, realm, plan.filter) else { return nil }
            let watcher = builder.watch(node, serial)
            watcher?.owner = serial
            return watcher
        }
    }
}

/// Registers the observer that a plan describes.
struct WatcherBuilder {
    let plan: WatcherPlan
    let model: ModelState
    let realm: Realm
    let loopExecutor: ManualTaskExecutor
    /// The queue and the actor for observers; nil if all observers are called on the thread of the test.
    let executors: ObserverExecutors?
    /// The states of the model at all versions so far, the newest last.
    let history: () -> [ModelState]
    let onCall: CallHandler

    func watch(_ node: Node, _ serial: Int) -> Watcher? {
        switch plan.kind {
        case .list:
            plan.base % 3 == 0
                ? watchList(node.parts, serial, "parts", plan.partPaths)
                : watchList(node.children, serial, "children", plan.nodePaths)
        case .set: watchList(node.peers, serial, "peers", plan.nodePaths)
        case .map:
            plan.base % 2 == 0
                ? watchMap(node.named, serial, "named", plan.nodePaths)
                : watchMap(node.partsByName, serial, "partsByName", plan.partPaths)
        case .links: watchLinks(node, serial)
        case .sections: watchSections(node, serial)
        case .section: watchSection(node, serial)
        case .object: watchObject(node, serial)
        default: watchProjection(node, serial)
        }
    }

    // MARK: Collections

    func observe<C: ObservableCollection & ThreadConfined & SendableMetatype>(
        _ name: String, _ collection: C, _ keyPaths: [String]?, keepsOrder: Bool,
        _ items: @escaping (ModelState) -> [Item],
        shown: ((ModelState) -> [String])? = nil, live: @escaping (C) -> [String]?
    ) -> Watcher {
        let items = Self.memoized(items)
        // On a queue or an actor, callbacks receive another instance of the collection.
        var collection = collection
        let watcher = Watcher("\(name)\(Self.text(keyPaths))\(executorText)") {
            ChangeChecker.missingChange(items($0), items($1))
        } live: {
            // An invalidated collection has no elements to compare.
            guard let actual = live(collection) else { return nil }
            return (actual, shown?($0) ?? items($0).map(\.text))
        }
        nonisolated(unsafe) let receive: (DetailedCollectionChange<C>) -> Void = { [onCall, unowned watcher] change in
            switch change {
            case .initial(let instance):
                collection = instance
                onCall(watcher, .initial) { _, _ in nil }
            case .update(let instance, let update):
                collection = instance
                let past = update.deletions.isEmpty ? [] : update.deletedElements
                onCall(watcher, CallRecord(update)) { old, new in
                    // Properties outside of the key paths may have changed since the state `old` without a call.
                    let between = past.isEmpty ? [] : history().filter { $0.time > old.time && $0.time < new.time }
                    let error =
                        ChangeChecker.elements(items(old), items(new), update, keepsOrder: keepsOrder)
                        ?? ChangeChecker.deletedElements(items(old), [old] + between, update.deletions, past)
                    return error.map { "\($0): \(CallRecord(update).text())" }
                }
            case .error(let error): onCall(watcher, CallRecord(error)) { _, _ in "\(error)" }
            }
        }
        let observed = collection
        if plan.isLoop {
            watcher.consume(observed.changes(keyPaths: keyPaths), on: loopExecutor, receive)
        } else if let executor = plan.executor, let executors {
            watcher.version = { collection.realm?.context.version }
            executors.observe(watcher, executor) { queue in
                observed.observeChanges(keyPaths: keyPaths, on: queue, receive)
            } onActor: { actor in
                // A callback may have deleted the owner of the collection before this closure runs.
                if observed.isInvalidated { return .ended }
                return await observed.observeChanges(keyPaths: keyPaths, on: actor) { _, change in receive(change) }
            }
        } else {
            watcher.token = observed.observeChanges(keyPaths: keyPaths, receive)
        }
        return watcher
    }

    /// Caches the results of a function for the last few states of the model.
    static func memoized<Shown>(_ show: @escaping (ModelState) -> Shown) -> (ModelState) -> Shown {
        var known: [Int: Shown] = [:]
        return { model in
            if let shown = known[model.time] { return shown }
            let shown = show(model)
            if known.count > 12 { known = [:] }
            known[model.time] = shown
            return shown
        }
    }

    /// The part of the name of the observer that says where the observer is called.
    var executorText: String {
        guard executors != nil, !plan.isLoop, let executor = plan.executor else { return "" }
        return executor == .queue ? " on a queue" : " on an actor"
    }

    static func text(_ keyPaths: [String]?) -> String { keyPaths.map { " by \($0)" } ?? "" }

    /// The results that a query starts from, and a function that finds the rows of these results in the model.
    func base(_ node: Node?, _ serial: Int) -> (results: Results<Node>, rows: (ModelState) -> [Int]) {
        guard let node else { return (realm.objects(Node.self), { $0.nodes.map(\.serial) }) }
        switch plan.base {
        case 0, 1: return (node.children.filter("TRUEPREDICATE"), { $0.targets(serial, "children") })
        case 2: return (node.peers.filter("TRUEPREDICATE"), { $0.inKeyOrder($0.targets(serial, "peers")) })
        case 3: return (node.named.filter("TRUEPREDICATE"), { $0.targets(serial, "named") })
        case 4: return (node.previous.filter("TRUEPREDICATE"), { $0.targets(serial, "previous") })
        case 5: return (node.parents.filter("TRUEPREDICATE"), { $0.targets(serial, "parents") })
        case 6, 7:
            guard let row = model.only("ScalarLists"), let nodes = realm.objects(ScalarLists.self).first?.nodes else {
                break
            }
            return (nodes.filter("TRUEPREDICATE"), { $0.targets(row, "nodes") })
        default: break
        }
        return (realm.objects(Node.self), { $0.nodes.map(\.serial) })
    }

    func baseText(_ node: Node?) -> String {
        let names = ["children", "children", "peers", "named", "previous", "parents"]
        guard let node, plan.base < 8 else { return "nodes" }
        return plan.base < 6 ? "'\(names[plan.base])' of node \(node.id)" : "nodes of a list"
    }

    /// The node that the plan selects; nil if there are no nodes.
    func plannedNode() -> (node: Node, serial: Int)? {
        let nodes = model.nodes
        guard !nodes.isEmpty else { return nil }
        let (id, serial) = nodes[plan.node % nodes.count]
        return realm.object(ofType: Node.self, forPrimaryKey: id).map { ($0, serial) }
    }

    func watchResults() -> Watcher {
        let owner = plannedNode()
        let (base, rows) = base(owner?.node, owner?.serial ?? 0)
        let query = ModelQuery(plan)
        // Elements of lists and maps can move, like rows of sorted results.
        let isSorted = !query.descriptors.isEmpty || owner != nil && [0, 1, 3, 6, 7].contains(plan.base)
        let name = "results of \(baseText(owner?.node)) \(query.text)"
        let watcher = observe(name, query.apply(base), plan.nodePaths, keepsOrder: !isSorted) { model in
            query.apply(rows(model), model).map { model.item($0, plan.nodePaths) }
        } live: {
            $0.isInvalidated ? nil : $0.map { "\($0.id)" }
        }
        if plan.base < 6 { watcher.owner = owner?.serial }
        return watcher
    }

    func watchProjectedResults() -> Watcher {
        let query = ModelQuery(plan)
        let paths = Label.all.map(\.path)
        return observe(
            "projections of nodes \(query.text)",
            query.apply(realm.objects(Node.self)).projected(NodeProjection.self), nil,
            keepsOrder: query.descriptors.isEmpty
        ) { model in
            query.apply(model.nodes.map(\.serial), model).map { model.item($0, paths) }
        } shown: { model in
            query.apply(model.nodes.map(\.serial), model).map { model.text($0, "name") ?? "" }
        } live: {
            $0.storage.isInvalidated ? nil : $0.map(\.name)
        }
    }

    private func watchList<C: ObservableCollection & ThreadConfined & RealmCollection & SendableMetatype>(
        _ list: C, _ serial: Int, _ name: String, _ keyPaths: [String]?
    ) -> Watcher where C.Element: ObjectBase {
        observe("'\(name)' of \(owner(serial))", list, keyPaths, keepsOrder: false) { model in
            model.slots(serial, name).map { model.item($0, keyPaths) }
        } live: {
            $0.isInvalidated ? nil : $0.map { "\(($0 as? Node)?.id.description ?? ($0 as? Part)?.name ?? "")" }
        }
    }

    private func owner(_ serial: Int) -> String {
        model.id(serial).map { "node \($0)" } ?? model.rows[serial]?.type ?? "a deleted object"
    }

    private func watchLinks(_ node: Node, _ serial: Int) -> Watcher {
        let names = ["previous", "parents", "peersOf", "namedBy"]
        let links = [node.previous, node.parents, node.peersOf, node.namedBy]
        let choice = plan.base % names.count
        return observe("'\(names[choice])' of node \(node.id)", links[choice], plan.nodePaths, keepsOrder: true) {
            model in
            model.targets(serial, names[choice]).map { model.item($0, plan.nodePaths) }
        } live: {
            $0.isInvalidated ? nil : $0.map { "\($0.id)" }
        }
    }

    func watchValues() -> Watcher? {
        switch plan.base % 4 {
        case 3:
            guard let row = model.only("ScalarLists"), let nodes = realm.objects(ScalarLists.self).first?.nodes else {
                return nil
            }
            return watchList(nodes, row, "nodes", plan.nodePaths)
        case 0:
            guard let row = model.only("ScalarLists"), let list = realm.objects(ScalarLists.self).first?.ints else {
                return nil
            }
            return observe("a list of numbers", list, nil, keepsOrder: false) { model in
                model.slots(row, "ints").map { model.item($0, nil) }
            } live: {
                $0.isInvalidated ? nil : $0.map { "\(Double($0))" }
            }
        case 1:
            guard let row = model.only("ScalarSets"), let set = realm.objects(ScalarSets.self).first?.strings else {
                return nil
            }
            return observe("a set of texts", set, nil, keepsOrder: false) { model in
                model.slots(row, "strings").map { model.item($0, nil) }
            } live: {
                $0.isInvalidated ? nil : Array($0)
            }
        default:
            guard let row = model.only("ScalarMaps"), let map = realm.objects(ScalarMaps.self).first?.doubles else {
                return nil
            }
            return watchMap(map, row, "doubles", nil)
        }
    }

    func watchMap<Value>(
        _ map: Map<Value>, _ serial: Int, _ name: String, _ keyPaths: [String]?,
        _ item: ((ModelState, ModelState.Slot) -> Item)? = nil
    ) -> Watcher {
        let items = Self.memoized { (model: ModelState) in
            model.slots(serial, name).map { item?(model, $0) ?? model.item($0, keyPaths) }
        }
        let watcher = Watcher("'\(name)' of \(owner(serial))\(Self.text(keyPaths))") {
            ChangeChecker.missingChange(items($0), items($1))
        } live: {
            map.isInvalidated ? nil : (map.keys, items($0).map(\.key))
        }
        watcher.token = map.observe(keyPaths: keyPaths) { [onCall, unowned watcher] change in
            switch change {
            case .initial: onCall(watcher, .initial) { _, _ in nil }
            case .update(_, let deletions, let insertions, let modifications):
                onCall(watcher, CallRecord(deletions, insertions, modifications)) { old, new in
                    ChangeChecker.entries(
                        items(old), items(new), deletions: deletions, insertions: insertions,
                        modifications: modifications
                    ).map { "\($0): \(deletions) \(insertions) \(modifications)" }
                }
            case .error(let error): onCall(watcher, CallRecord(error)) { _, _ in "\(error)" }
            }
        }
        return watcher
    }
}
