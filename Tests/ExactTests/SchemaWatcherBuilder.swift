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
        let collections = schema.classes.of(type).filter { if case .single = $0.kind { false } else { true } }
        guard let property = collections.randomElement(using: &random), Bool.random(using: &random) else {
            return watchObject(object, serial, type, &random)
        }
        if let target = property.target, Bool.random(using: &random) {
            return watchMembers(object, serial, property, target, &random)
        }
        let paths = property.target.flatMap { keyPaths($0, &random) }
        let name = "'\(property.name)' of \(type) \(serial)\(WatcherBuilder.text(paths))"
        let items = { (model: ModelState) in
            model.slots(serial, property.name).map { model.schemaItem($0, paths) }
        }
        switch object.value(forKey: property.name) {
        case let list as List<Int>: return observe(name, list, nil, keepsOrder: false, items)
        case let list as List<ObjectBase>: return observe(name, list, paths, keepsOrder: false, items)
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
        let all = Results<ObjectBase>(ResultsStorage(realm.context, table, QueryPlan(table: table.id)))
        return watch(all, type, "all of \(type)", canMove: false, &random) { $0.inKeyOrder(type) }
    }

    /// Observes a query of the elements of a collection, or of linking objects.
    private func watchMembers(
        _ object: ObjectBase, _ serial: Int, _ property: Property, _ target: String, _ random: inout SeededRandom
    ) -> Watcher? {
        let name = "'\(property.name)' of \(object.objectSchema.className) \(serial)"
        let targets = { (model: ModelState) in model.targets(serial, property.name) }
        let inKeyOrder = { (model: ModelState) in
            targets(model).sorted { (model.keys[$0] ?? 0) < (model.keys[$1] ?? 0) }
        }
        switch object.value(forKey: property.name) {
        case let list as List<ObjectBase>:
            guard let members = list._members() else { return nil }
            return watch(members, target, name, canMove: true, &random, targets)
        case let set as MutableSet<ObjectBase>:
            guard let members = set._members() else { return nil }
            return watch(members, target, name, canMove: false, &random, inKeyOrder)
        case let map as Map<ObjectBase?>:
            return watch(map.filter("TRUEPREDICATE"), target, name, canMove: true, &random, targets)
        case let links as LinkingObjects<ObjectBase>:
            guard let members = links._members() else { return nil }
            return watch(members, target, name, canMove: false, &random, targets)
        default: return nil
        }
    }

    /// Observes a random query, and checks new results of the same query in other ways.
    private func watch(
        _ members: Results<ObjectBase>, _ type: String, _ name: String, canMove: Bool, _ random: inout SeededRandom,
        _ rows: @escaping (ModelState) -> [Int]
    ) -> Watcher {
        let query = SchemaQuery(type, schema.classes, &random)
        let paths = keyPaths(type, &random)
        return observe(
            "\(name) \(query.text)\(WatcherBuilder.text(paths))", query.apply(members), paths,
            keepsOrder: !canMove && !query.isSorted
        ) { model in
            query.apply(rows(model), model).map { row in
                model.schemaItem(ModelState.Slot(value: .row(row), written: 0), paths)
            }
        } live: { results in
            if results.isInvalidated { return nil }
            let keys = results.indices.map { results.storage.object(at: $0)?._key ?? -1 }
            let wrong = Self.wrongAnswers(query, members, keys)
            return keys.map { "\($0)" } + wrong
        }
    }

    /// Compares new results of the query with the keys of the observed results. New results have read no keys, so they
    /// compute each answer in another way. Returns the wrong answers.
    private static func wrongAnswers(
        _ query: SchemaQuery, _ members: Results<ObjectBase>, _ keys: [Int64]
    ) -> [String] {
        let half = keys.count / 2
        let answers: [(name: String, found: Int64?, expected: Int64?)] = [
            ("count", Int64(query.apply(members).count), Int64(keys.count)),
            ("first", query.apply(members).first?._key, keys.first),
            ("last", query.apply(members).last?._key, keys.last),
            ("middle", query.apply(members).dropFirst(half).first?._key, keys.dropFirst(half).first),
            (
                "position of the last",
                query.apply(members).last.flatMap { query.apply(members).index(of: $0) }.map { Int64($0) },
                keys.last.flatMap { keys.firstIndex(of: $0) }.map { Int64($0) }
            ),
        ]
        let loop = Array(query.apply(members)).map(\._key)
        return answers.filter { $0.found != $0.expected }.map {
            "\($0.name) is \($0.found ?? -1) instead of \($0.expected ?? -1)"
        } + (loop == keys ? [] : ["a loop returns \(loop)"])
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
