import ConformanceModels
import Foundation

@testable import Martlet

extension WatcherBuilder {
    /// A label of the projection `NodeProjection`, and the key path that the label represents.
    struct Label {
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

    func watchObject(_ node: Node, _ serial: Int) -> Watcher? {
        if plan.base % 4 == 0 {
            guard let part = node.part, let row = model.link(serial, "part") else { return nil }
            return watchObject(part, row, plan.partPaths)
        }
        return watchObject(node, serial, plan.nodePaths)
    }

    func watchObject<O: KeyPathObservable>(_ object: O, _ serial: Int, _ keyPaths: [String]?) -> Watcher {
        let type = model.rows[serial]?.type ?? ""
        var names: [String: [String]] = [:]
        for property in model.classes.of(type) {
            if keyPaths == nil, case .inverse = property.kind { continue }
            let own = (keyPaths ?? ["*"]).flatMap { Self.paths($0, from: property, of: type, model) }
            if !own.isEmpty { names[property.name] = own }
        }
        let name = "\(type) \(type == "Node" ? model.shown(.row(serial)) : "")\(Self.text(keyPaths))\(executorText)"
        let watcher = makeWatcher(name, serial, names) { object.isInvalidated }
        guard let executor = plan.executor, let executors else {
            watcher.token = object.observe(keyPaths: keyPaths, callback(watcher, serial, names))
            return watcher
        }
        // The first change begins at the version that the Realm of the queue or actor shows. The test knows this
        // version only after the registration.
        watcher.known = []
        watcher.isOfObject = true
        watcher.owner = serial
        let handle: (ObjectChange<O>) -> Void = callback(watcher, serial, names)
        nonisolated(unsafe) let receive: (ObjectChange<O>) -> Void = { [unowned watcher] change in
            if case .change(let object, _) = change {
                watcher.version = { object.realm?.context.version }
            } else {
                watcher.version = { nil }
            }
            handle(change)
            watcher.version = { nil }
        }
        executors.observe(watcher, executor) { queue in
            object.observe(keyPaths: keyPaths, on: queue, receive)
        } onActor: { actor in
            if object.isInvalidated { return .ended }
            return await object.observe(keyPaths: keyPaths, on: actor) { _, change in receive(change) }
        }
        return watcher
    }

    /// Replaces the first `*` of `path` by the name of `property`. Returns the resulting key paths that begin with
    /// `property`.
    private static func paths(
        _ path: String, from property: Property, of type: String, _ model: ModelState
    ) -> [String] {
        let names = path.split(separator: ".").map(String.init)
        if names[0] == property.name { return [path] }
        if names[0] != "*" { return [] }
        let rest = names.dropFirst()
        let own = [property.name] + rest
        let itself = rest.allSatisfy { $0 == "*" } ? [property.name] : []
        if rest.isEmpty || !ObservedRow.hasPath(model, type, own[...]) { return itself }
        return itself + [own.joined(separator: ".")]
    }

    func watchProjection(_ node: Node, _ serial: Int) -> Watcher {
        let names = Dictionary(uniqueKeysWithValues: Label.all.map { ($0.name, [$0.path]) })
        let watcher = makeWatcher("projection of node \(node.id)", serial, names) { node.isInvalidated }
        watcher.token = NodeProjection(projecting: node).observe(callback(watcher, serial, names))
        return watcher
    }

    private func makeWatcher(
        _ name: String, _ serial: Int, _ names: [String: [String]], _ isGone: @escaping () -> Bool
    ) -> Watcher {
        let watcher = Watcher(name) { old, new in
            if old.rows[serial] == nil { return nil }
            if new.rows[serial] == nil { return "the deletion is not reported" }
            return names.keys.sorted().first {
                ObservedRow(old, serial, names[$0]).values != ObservedRow(new, serial, names[$0]).values
            }.map { "'\($0)' is not reported" }
        } live: {
            $0.rows[serial] == nil ? (["\(isGone())"], ["true"]) : nil
        }
        watcher.known = [model]
        return watcher
    }

    private func callback<O>(
        _ watcher: Watcher, _ serial: Int, _ names: [String: [String]]
    ) -> (ObjectChange<O>) -> Void {
        { [onCall, unowned watcher] change in
            switch change {
            case .deleted:
                onCall(watcher, CallRecord(size: 1) { "is deleted" }) { old, new in
                    old.rows[serial] != nil && new.rows[serial] == nil
                        ? nil : "a deletion is reported, but the object still exists"
                }
            case .change(_, let changes):
                onCall(watcher, CallRecord(changes)) { check($0, $1, serial, names, changes) }
            case .error(let error): onCall(watcher, CallRecord(error)) { _, _ in "\(error)" }
            }
        }
    }

    private func check(
        _ old: ModelState, _ new: ModelState, _ serial: Int, _ names: [String: [String]], _ changes: [PropertyChange]
    ) -> String? {
        guard old.rows[serial] != nil, new.rows[serial] != nil else {
            return "a change of an object that does not exist"
        }
        for name in names.keys.sorted() {
            let (before, now) = (ObservedRow(old, serial, names[name]), ObservedRow(new, serial, names[name]))
            let change = changes.first { $0.name == name }
            if change == nil && before.values != now.values { return "'\(name)' is not reported" }
            if change != nil && before.times == now.times && !Item.allowsExtraChanges {
                return "'\(name)': nothing was written"
            }
            guard let change, let property = model.classes.named(name, of: new.rows[serial]?.type ?? ""),
                case .single = property.kind, names[name] == [name]
            else { continue }
            for (value, expected) in [
                (change.oldValue, old.singleValue(serial, name)), (change.newValue, new.singleValue(serial, name)),
            ] {
                // The values are not compared, because a linked object may have been deleted.
                if property.isAny, expected.containsLink { continue }
                let (shown, text) = (Self.text(value, old: old), Self.text(expected, old, new))
                // The value may be nil, because an earlier callback may have deleted the linked object.
                if case .row(let row) = expected, value == nil, history().last?.rows[row] == nil { continue }
                if let shown, shown != text { return "'\(name)' is reported as \(shown), but is \(text)" }
            }
        }
        return changes.first { names[$0.name] == nil }.map { "'\($0.name)' is reported, but not observed" }
    }

    /// Nil for a deleted object, which cannot be read.
    private static func text(_ value: Any?, old: ModelState) -> String? {
        switch value {
        case nil: "nil"
        case let node as Node: node.isInvalidated ? nil : "\(node.id)"
        case let value as AnyRealmValue: value.shown
        case let decimal as Decimal128: Double("\(decimal)").map { "\($0)" }
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let part as Part: part.isInvalidated ? nil : "part"
        case let value?: "\(value is Int ? Double(value as? Int ?? 0) : value)"
        }
    }

    private static func text(_ value: ModelState.Value, _ old: ModelState, _ new: ModelState) -> String {
        guard case .row(let row) = value else { return new.shown(value) }
        let model = new.rows[row] == nil ? old : new
        return model.rows[row]?.type == "Part" ? "part" : model.shown(value)
    }
}
