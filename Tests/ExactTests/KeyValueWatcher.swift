import ConformanceModels
import Foundation

@testable import Martlet

/// A key-value observer under test: what it was told last is what there is, and each call leads on from the one before.
final class KeyValueWatcher {
    let name: String
    /// The value that it knows.
    fileprivate(set) var told: String
    private var observation: KeyValueObservation?
    private var wrong: String?
    /// Calls since it was judged last.
    private(set) var calls = 0
    /// When what it observes was written, at that time.
    private var known: String
    private var isForgiven = false
    /// A write is being taken back.
    var isTakenBack = false
    private let path: KeyValuePathModel
    let isOver: () -> Bool

    fileprivate init(_ name: String, _ path: KeyValuePathModel, _ world: World, isOver: @escaping () -> Bool) {
        self.name = name
        self.path = path
        self.isOver = isOver
        told = path.value(world)
        known = path.times(world)
    }

    static func make(_ plan: WatcherPlan, _ world: World, _ realm: Realm, _ twins: Twins) -> KeyValueWatcher? {
        let nodes = world.nodes
        guard !nodes.isEmpty else { return nil }
        let (id, serial) = nodes[plan.node % nodes.count]
        guard let node = twins.accessor(id, serial, realm, plan.filter) else { return nil }
        let maker = KeyValueWatcherMaker(world: world, id: id, serial: serial, node: node)
        // Lists are told of with positions.
        switch plan.cut < 4 ? 11 : plan.base {
        case 0: return maker.single("name", \.name) { $0 }
        case 1: return maker.single("amount", \.amount) { $0.map { "\($0)" } }
        case 2:
            return maker.single("next", \.next) {
                $0.flatMap { $0 }.map { $0.isInvalidated ? nil : "\($0.id)" } ?? "nil"
            }
        case 3: return maker.single("next.name", \.next?.name) { $0.flatMap { $0 } ?? "nil" }
        case 4: return maker.single("next.next.name", \.next?.next?.name) { $0.flatMap { $0 } ?? "nil" }
        case 5: return maker.single("part.name", \.part?.name) { $0.flatMap { $0 } ?? "nil" }
        case 6:
            return maker.single("part.node.amount", \.part?.node?.amount) { $0.flatMap { $0 }.map { "\($0)" } ?? "nil" }
        case 7: return maker.invalidation()
        case 8: return maker.collection("parts", \.parts, isList: true) { $0.parts.map { _ in "part" } }
        case 9: return maker.collection("peers", \.peers, isList: false) { $0.peers.map { "\($0.id)" } }
        case 10:
            return maker.collection("named", \.named, isList: false) { node in
                node.named.keys.map { key in (node.named[key] ?? nil).map { "\($0.id)" } ?? "nil" }
            }
        default: return maker.collection("children", \.children, isList: true) { $0.children.map { "\($0.id)" } }
        }
    }

    fileprivate func keep(_ observation: KeyValueObservation) { self.observation = observation }

    fileprivate func hear(old: String?, new: String) {
        calls += 1
        // What was deleted and is live again had no value meanwhile.
        if let old, old != told, !(isTakenBack && old == "nil") {
            wrong = wrong ?? "the old value is told as \(old), and was told as \(told)"
        }
        told = new
    }

    fileprivate func hear(wrong: String?) { self.wrong = self.wrong ?? wrong }

    /// A write was taken back: calls may have come in pairs that lead to nothing.
    func forgive() { isForgiven = true }

    /// What is wrong with the calls since the last time. `world` is what the Realm shows; nil when it shows nothing.
    func judge(_ world: World?, isRefresh: Bool, isLoose: Bool) -> String? {
        defer {
            calls = 0
            isForgiven = false
        }
        if let wrong { return wrong }
        if path.isInvalidation { return told == "\(isOver())" ? nil : "isInvalidated is told as \(told)" }
        guard let world, !isOver() else { return nil }
        let times = path.times(world)
        defer { known = times }
        let value = path.value(world)
        if told != value { return "is told \(told) and is \(value)" }
        if isForgiven { return nil }
        if calls > 0 && times == known && !isLoose { return "is told, and nothing was written" }
        return isRefresh && calls > 1 ? "is told \(calls) times by one refresh" : nil
    }
}

/// What an observed path shows in the model.
private struct KeyValuePathModel {
    let value: (World) -> String
    let times: (World) -> String
    var isInvalidation = false
}

private struct KeyValueWatcherMaker {
    let world: World
    let id: Int
    let serial: Int
    let node: Node

    private func make(_ path: String, _ model: KeyValuePathModel) -> KeyValueWatcher {
        KeyValueWatcher("'\(path)' of node \(id) by key and value", model, world) { [node] in node.isInvalidated }
    }

    /// - Parameter text: nil for what is gone and cannot be read.
    func single<Value>(
        _ path: String, _ keyPath: KeyPath<Node, Value>, _ text: @escaping (Value?) -> String?
    ) -> KeyValueWatcher {
        let serial = serial
        let model = KeyValuePathModel {
            $0.shown($0.value(serial, path))
        } times: {
            View($0, serial, [path]).times
        }
        let watcher = make(path, model)
        watcher.keep(
            node.observe(keyPath, options: [.old, .new]) { [unowned watcher] _, change in
                watcher.hear(old: text(change.oldValue), new: text(change.newValue) ?? "gone")
            })
        return watcher
    }

    func invalidation() -> KeyValueWatcher {
        let model = KeyValuePathModel(value: { _ in "false" }, times: { _ in "" }, isInvalidation: true)
        let watcher = make("isInvalidated", model)
        watcher.keep(
            node.observe(\.isInvalidated, options: [.old, .new]) { [unowned watcher] _, change in
                watcher.hear(old: change.oldValue.map { "\($0)" }, new: "\(change.newValue ?? false)")
            })
        return watcher
    }

    func collection<C>(
        _ name: String, _ keyPath: KeyPath<Node, C>, isList: Bool, _ contents: @escaping (Node) -> [String]
    ) -> KeyValueWatcher {
        let serial = serial
        let model = KeyValuePathModel { world in
            "\(world.slots(serial, name).map { name == "parts" ? "part" : world.shown($0.value) })"
        } times: {
            View($0, serial, [name]).times
        }
        let watcher = make(name, model)
        var known = contents(node)
        watcher.keep(
            node.observe(keyPath, options: [.old, .new]) { [unowned watcher] node, change in
                let now = contents(node)
                let wrong = Self.wrong(known, now, change.kind, change.indexes ?? [], isList)
                watcher.hear(wrong: wrong.map { "\($0): \(known) became \(now)" })
                known = now
                watcher.hear(old: nil, new: "\(now)")
            })
        return watcher
    }

    private static func wrong(
        _ old: [String], _ new: [String], _ kind: KeyValueChangeKind, _ indexes: IndexSet, _ isList: Bool
    ) -> String? {
        if kind == .setting { return nil }
        if !isList { return "positions where there are none" }
        func without(_ elements: [String]) -> [String] {
            elements.indices.filter { !indexes.contains($0) }.map { elements[$0] }
        }
        let told = "\(kind) at \(Array(indexes))"
        if indexes.isEmpty { return "\(told) of nothing" }
        switch kind {
        case .insertion: return without(new) == old && indexes.count == new.count - old.count ? nil : told
        case .removal: return without(old) == new && indexes.count == old.count - new.count ? nil : told
        default: return old.count == new.count && without(old) == without(new) ? nil : told
        }
    }
}
