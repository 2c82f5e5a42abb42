import MartletEngine
import ModelTesting

@testable import Martlet

/// Registers observers of objects of random classes, of their collections, and of results.
struct SchemaWatcherBuilder {
    let schema: RandomSchema
    let model: ModelState
    let realm: Realm
    let seed: UInt64
    let onCall: CallHandler

    func make() -> Watcher? {
        var random = SeededRandom(seed: seed)
        let type = schema.names.randomElement(using: &random) ?? ""
        if Int.random(in: 0..<3, using: &random) == 0 { return watchResults(type, &random) }
        let rows = model.inKeyOrder(type)
        guard let serial = rows.randomElement(using: &random), let object = model.object(serial, realm) else {
            return nil
        }
        let collections = schema.classes.of(type).filter { if case .many = $0.kind { true } else { false } }
        guard let property = collections.randomElement(using: &random), Bool.random(using: &random) else {
            return watchObject(object, serial, type, &random)
        }
        let paths = property.target.flatMap { keyPaths($0, &random) }
        let name = "'\(property.name)' of \(type) \(serial)\(WatcherBuilder.text(paths))"
        let items = { (model: ModelState) in
            model.slots(serial, property.name).map { model.schemaItem($0, paths) }
        }
        switch object.value(forKey: property.name) {
        case let list as List<Int>: return observe(name, list, nil, keepsOrder: false, items)
        case let list as List<ObjectBase>:
            guard let target = property.target, Bool.random(using: &random) else {
                return observe(name, list, paths, keepsOrder: false, items)
            }
            return watchMembers(of: list, name, serial, property.name, target, paths, &random)
        case let set as MutableSet<ObjectBase>: return observe(name, set, paths, keepsOrder: false, items)
        case let map as Map<ObjectBase?>: return observe(name, map, paths, items)
        default: return nil
        }
    }

    private func keyPaths(_ type: String, _ random: inout SeededRandom) -> [String]? {
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: nil
        case 2: ["*"]
        default: (0..<Int.random(in: 0...2, using: &random)).map { _ in schema.path(type, &random) }
        }
    }

    func observe<C: ObservableCollection>(
        _ name: String, _ collection: C, _ paths: [String]?, keepsOrder: Bool,
        _ items: @escaping (ModelState) -> [Item], live: ((C) -> [String]?)? = nil
    ) -> Watcher {
        let items = WatcherBuilder.memoized(items)
        let watcher = Watcher(name) {
            ChangeChecker.missingChange(items($0), items($1))
        } live: { model in
            live?(collection).map { ($0, items(model).map(\.text)) }
        }
        watcher.token = collection.observeChanges(keyPaths: paths) { [onCall, unowned watcher] change in
            switch change {
            case .initial: onCall(watcher, .initial) { _, _ in nil }
            case .update(_, let change):
                onCall(watcher, CallRecord(change)) {
                    ChangeChecker.elements(items($0), items($1), change, keepsOrder: keepsOrder)
                }
            case .error(let error): onCall(watcher, CallRecord(error)) { _, _ in "\(error)" }
            }
        }
        return watcher
    }

    private func observe(
        _ name: String, _ map: Map<ObjectBase?>, _ paths: [String]?, _ items: @escaping (ModelState) -> [Item]
    ) -> Watcher {
        let items = WatcherBuilder.memoized(items)
        let watcher = Watcher(name) {
            ChangeChecker.missingChange(items($0), items($1))
        } live: { _ in
            nil
        }
        watcher.token = map.observe(keyPaths: paths) { [onCall, unowned watcher] change in
            switch change {
            case .initial: onCall(watcher, .initial) { _, _ in nil }
            case .update(_, let deletions, let insertions, let modifications):
                onCall(watcher, CallRecord(deletions, insertions, modifications)) {
                    ChangeChecker.entries(
                        items($0), items($1), deletions: deletions, insertions: insertions,
                        modifications: modifications)
                }
            case .error(let error): onCall(watcher, CallRecord(error)) { _, _ in "\(error)" }
            }
        }
        return watcher
    }

    private func watchResults(_ type: String, _ random: inout SeededRandom) -> Watcher? {
        guard let table = realm.context.table(named: type) else { return nil }
        var results = Results<ObjectBase>(ResultsStorage(realm.context, table, QueryPlan(table: table.id)))
        let filter = filter(type, &random)
        if let filter { results = results.filter(filter.text) }
        let isSorted = Int.random(in: 0..<3, using: &random) == 0
        if isSorted { results = results.sorted(byKeyPath: "number") }
        let paths = keyPaths(type, &random)
        let name = "\(type) \(filter?.text ?? "")\(isSorted ? " by number" : "")\(WatcherBuilder.text(paths))"
        return observe(name, results, paths, keepsOrder: !isSorted) { model in
            let rows = model.inKeyOrder(type).filter { filter?.holds(model, $0) ?? true }
            let sorted = rows.enumerated().sorted { left, right in
                let numbers = (model.number(left.element, "number") ?? 0, model.number(right.element, "number") ?? 0)
                return isSorted && numbers.0 != numbers.1 ? numbers.0 < numbers.1 : left.offset < right.offset
            }
            return sorted.map { model.schemaItem(ModelState.Slot(value: .row($0.element), written: 0), paths) }
        } live: { results in
            let keys = results.indices.map { results.storage.object(at: $0)?._key ?? -1 }
            return results.isInvalidated ? nil : keys.map { "\($0)" }
        }
    }

    private struct Filter {
        let text: String
        let holds: (ModelState, Int) -> Bool
    }

    private func filter(_ type: String, _ random: inout SeededRandom) -> Filter? {
        let links = schema.classes.of(type).filter { $0.target != nil }
        let choice = Int.random(in: 0..<4, using: &random)
        if choice == 0 { return nil }
        guard choice > 1, let link = links.randomElement(using: &random) else {
            return Filter(text: "number < 3") { ($0.number($1, "number") ?? 0) < 3 }
        }
        if case .single = link.kind {
            return Filter(text: "\(link.name).number > 1") { model, row in
                model.targets(row, link.name).contains { (model.number($0, "number") ?? 0) > 1 }
            }
        }
        if case .many(true) = link.kind { return nil }
        if choice == 2 { return Filter(text: "\(link.name).@count > 0") { !$0.targets($1, link.name).isEmpty } }
        return Filter(text: "ANY \(link.name).number > 1") { model, row in
            model.targets(row, link.name).contains { (model.number($0, "number") ?? 0) > 1 }
        }
    }

    // MARK: Objects

    private func watchObject(
        _ object: ObjectBase, _ serial: Int, _ type: String, _ random: inout SeededRandom
    ) -> Watcher {
        let paths = keyPaths(type, &random)
        var pathsByProperty: [String: [String]] = [:]
        for property in schema.classes.of(type) {
            if paths == nil, case .inverse = property.kind { continue }
            let own = (paths ?? ["*"]).filter { $0 == "*" || $0.split(separator: ".")[0] == property.name }
            if !own.isEmpty { pathsByProperty[property.name] = own.map { $0 == "*" ? property.name : $0 } }
        }
        let (observedNames, observedPaths) = (pathsByProperty.keys.sorted(), pathsByProperty)
        let watcher = Watcher("\(type) \(serial)\(WatcherBuilder.text(paths))") { old, new in
            if old.rows[serial] == nil { return nil }
            if new.rows[serial] == nil { return "the deletion is not reported" }
            return observedNames.first { name in
                let paths = observedPaths[name]
                return ObservedRow(old, serial, paths).values != ObservedRow(new, serial, paths).values
            }.map { "'\($0)' is not reported" }
        } live: { _ in
            nil
        }
        watcher.known = [model]
        watcher.token = object.observe(nil) { context, table in
            ObservedItems.properties(context.requireKeyPaths(paths, table), table, context.schema)
        } notify: { [onCall, unowned watcher] outcome in
            switch outcome {
            case .deleted:
                onCall(watcher, CallRecord(size: 1) { "is deleted" }) { old, new in
                    old.rows[serial] != nil && new.rows[serial] == nil
                        ? nil : "a deletion is reported, but the object still exists"
                }
            case .change(_, let changes):
                onCall(watcher, CallRecord(changes)) {
                    Self.check($0, $1, serial, observedPaths, Set(changes.map(\.name)))
                }
            case .failure(let error): onCall(watcher, CallRecord(error)) { _, _ in "\(error)" }
            }
        }
        return watcher
    }

    private static func check(
        _ old: ModelState, _ new: ModelState, _ serial: Int, _ observedPaths: [String: [String]],
        _ reported: Set<String>
    ) -> String? {
        guard old.rows[serial] != nil, new.rows[serial] != nil else {
            return "a change of an object that does not exist"
        }
        for (name, paths) in observedPaths.sorted(by: { $0.key < $1.key }) {
            let (before, now) = (ObservedRow(old, serial, paths), ObservedRow(new, serial, paths))
            if !reported.contains(name) && before.values != now.values { return "'\(name)' is not reported" }
            if reported.contains(name) && before.times == now.times { return "'\(name)': nothing was written" }
        }
        return reported.sorted().first { observedPaths[$0] == nil }.map { "'\($0)' is reported, but not observed" }
    }
}

extension ModelState {
    /// The expected element for a slot of a collection. The slot contains an object of a random class or another value.
    func schemaItem(_ slot: Slot, _ keyPaths: [String]?) -> Item {
        guard case .row(let row) = slot.value else { return item(slot, keyPaths) }
        return Item(
            identity: slot.value, key: slot.key, written: slot.written, view: ObservedRow(self, row, keyPaths),
            text: "\(keys[row] ?? -1)")
    }
}
