import ConformanceModels
import Foundation

@testable import Martlet

/// A key-value observer under test. The last reported value must be the current value, and the old value of each call
/// must be the new value of the previous call.
final class KeyValueWatcher {
    let name: String
    /// The value that was reported last.
    private var known: String
    private var observation: KeyValueObservation?
    /// The first error that a callback found.
    private var failure: String?
    /// The number of calls since the last check.
    private(set) var calls = 0
    /// The write times of the observed properties, as they were at the last check.
    private var knownTimes: String
    /// The time of the model at the last check.
    private var knownTime: Int
    private var allowsNeedlessCalls = false
    /// Whether a write is being rolled back.
    var isRolledBack = false
    private let path: KeyValuePathModel
    let isInvalidated: () -> Bool

    fileprivate init(
        _ name: String, _ path: KeyValuePathModel, _ model: ModelState, isInvalidated: @escaping () -> Bool
    ) {
        self.name = name
        self.path = path
        self.isInvalidated = isInvalidated
        known = path.value(model)
        knownTimes = path.times(model)
        knownTime = model.time
    }

    static func make(_ plan: WatcherPlan, _ model: ModelState, _ realm: Realm, _ furtherAccessors: FurtherAccessors)
        -> KeyValueWatcher?
    {
        let nodes = model.nodes
        guard !nodes.isEmpty else { return nil }
        let (id, serial) = nodes[plan.node % nodes.count]
        guard let node = furtherAccessors.accessor(id, serial, realm, plan.filter) else { return nil }
        // A third of the observers are also called before a change, and run a query in each call. Inside a write, the
        // query writes the pending changes to the file.
        let query = plan.sort % 3 == 0 ? { _ = realm.objects(Node.self).where { $0.amount > 1 }.count } : nil
        let builder = KeyValueWatcherBuilder(model: model, id: id, serial: serial, node: node, query: query)
        // More than a third of the observers observe the list 'children', because changes of lists are reported with
        // positions.
        switch plan.cut < 4 ? 11 : plan.base {
        case 0: return builder.single("name", \.name) { $0 }
        case 1: return builder.single("amount", \.amount) { $0.map { "\($0)" } }
        case 2:
            return builder.single("next", \.next) {
                $0.flatMap { $0 }.map { $0.isInvalidated ? nil : "\($0.id)" } ?? "nil"
            }
        case 3: return builder.single("next.name", \.next?.name) { $0.flatMap { $0 } ?? "nil" }
        case 4: return builder.single("next.next.name", \.next?.next?.name) { $0.flatMap { $0 } ?? "nil" }
        case 5: return builder.single("part.name", \.part?.name) { $0.flatMap { $0 } ?? "nil" }
        case 6:
            return builder.single("part.node.amount", \.part?.node?.amount) {
                $0.flatMap { $0 }.map { "\($0)" } ?? "nil"
            }
        case 7: return builder.invalidation()
        case 8: return builder.collection("parts", \.parts, isList: true) { $0.parts.map { _ in "part" } }
        case 9: return builder.collection("peers", \.peers, isList: false) { $0.peers.map { "\($0.id)" } }
        case 10:
            return builder.collection("named", \.named, isList: false) { node in
                node.named.keys.map { key in (node.named[key] ?? nil).map { "\($0.id)" } ?? "nil" }
            }
        default: return builder.collection("children", \.children, isList: true) { $0.children.map { "\($0.id)" } }
        }
    }

    fileprivate func keep(_ observation: KeyValueObservation) { self.observation = observation }

    fileprivate func receive(old: String?, new: String) {
        calls += 1
        // A write that is rolled back may have deleted an object. Until the rollback restores the object, a key path
        // through it has no value.
        if let old, old != known, !(isRolledBack && old == "nil") {
            failure = failure ?? "the old value is \(old), but the last reported value was \(known)"
        }
        known = new
    }

    fileprivate func receive(failure: String?) { self.failure = self.failure ?? failure }

    /// Makes the next check accept calls without a change. A rollback may cause pairs of calls that cancel each other
    /// out.
    func allowNeedlessCalls() { allowsNeedlessCalls = true }

    /// Returns the first error since the last check. `model` is the state that the Realm shows; nil if the Realm shows
    /// no version.
    ///
    /// - Parameter allowsExtraChanges: whether a change may be reported although the values are equal before and after.
    func check(
        _ model: ModelState?, isRefresh: Bool, _ allowsExtraChanges: (_ old: Int, _ new: Int) -> Bool
    ) -> String? {
        defer {
            calls = 0
            allowsNeedlessCalls = false
        }
        if let failure { return failure }
        if path.isInvalidation { return known == "\(isInvalidated())" ? nil : "isInvalidated is reported as \(known)" }
        guard let model, !isInvalidated() else { return nil }
        let (times, old) = (path.times(model), knownTime)
        defer { (knownTimes, knownTime) = (times, model.time) }
        let value = path.value(model)
        if known != value { return "was notified of \(known), but the value is \(value)" }
        if allowsNeedlessCalls { return nil }
        if calls > 0 && times == knownTimes && !allowsExtraChanges(old, model.time) {
            return "is called, but nothing was written"
        }
        return isRefresh && calls > 1 ? "is called \(calls) times by one refresh" : nil
    }
}

/// An observed path in the model: its value, and the times at which the properties of the path were written.
private struct KeyValuePathModel {
    let value: (ModelState) -> String
    let times: (ModelState) -> String
    var isInvalidation = false
}

private struct KeyValueWatcherBuilder {
    let model: ModelState
    let id: Int
    let serial: Int
    let node: Node
    /// A query that each call of the observer runs; nil if the observer is not called before a change.
    let query: (() -> Void)?

    private var options: KeyValueObservingOptions { query == nil ? [.old, .new] : [.old, .new, .prior] }

    private func make(_ path: String, _ pathModel: KeyValuePathModel) -> KeyValueWatcher {
        KeyValueWatcher("'\(path)' of node \(id) by key and value", pathModel, model) { [node] in node.isInvalidated }
    }

    /// - Parameter text: Returns nil for a deleted object, which cannot be read.
    func single<Value>(
        _ path: String, _ keyPath: KeyPath<Node, Value>, _ text: @escaping (Value?) -> String?
    ) -> KeyValueWatcher {
        let serial = serial
        let pathModel = KeyValuePathModel {
            $0.shown($0.value(serial, path))
        } times: {
            ObservedRow($0, serial, [path]).times
        }
        let watcher = make(path, pathModel)
        watcher.keep(
            node.observe(keyPath, options: options) { [unowned watcher, query] _, change in
                query?()
                if change.isPrior { return }
                watcher.receive(old: text(change.oldValue), new: text(change.newValue) ?? "gone")
            })
        return watcher
    }

    func invalidation() -> KeyValueWatcher {
        let pathModel = KeyValuePathModel(value: { _ in "false" }, times: { _ in "" }, isInvalidation: true)
        let watcher = make("isInvalidated", pathModel)
        watcher.keep(
            node.observe(\.isInvalidated, options: options) { [unowned watcher, query] _, change in
                query?()
                if change.isPrior { return }
                watcher.receive(old: change.oldValue.map { "\($0)" }, new: "\(change.newValue ?? false)")
            })
        return watcher
    }

    func collection<C>(
        _ name: String, _ keyPath: KeyPath<Node, C>, isList: Bool, _ contents: @escaping (Node) -> [String]
    ) -> KeyValueWatcher {
        let serial = serial
        let pathModel = KeyValuePathModel { model in
            "\(model.slots(serial, name).map { name == "parts" ? "part" : model.shown($0.value) })"
        } times: {
            ObservedRow($0, serial, [name]).times
        }
        let watcher = make(name, pathModel)
        var known = contents(node)
        watcher.keep(
            node.observe(keyPath, options: options) { [unowned watcher, query] node, change in
                query?()
                if change.isPrior { return }
                let now = contents(node)
                let failure = Self.mismatch(known, now, change.kind, change.indexes ?? [], isList)
                watcher.receive(failure: failure.map { "\($0): \(known) became \(now)" })
                known = now
                watcher.receive(old: nil, new: "\(now)")
            })
        return watcher
    }

    private static func mismatch(
        _ old: [String], _ new: [String], _ kind: KeyValueChangeKind, _ indexes: IndexSet, _ isList: Bool
    ) -> String? {
        if kind == .setting { return nil }
        if !isList { return "positions are reported for a set or a map" }
        func without(_ elements: [String]) -> [String] {
            elements.indices.filter { !indexes.contains($0) }.map { elements[$0] }
        }
        let change = "\(kind) at \(Array(indexes))"
        if indexes.isEmpty { return "\(change), without positions" }
        switch kind {
        case .insertion: return without(new) == old && indexes.count == new.count - old.count ? nil : change
        case .removal: return without(old) == new && indexes.count == old.count - new.count ? nil : change
        default: return old.count == new.count && without(old) == without(new) ? nil : change
        }
    }
}
