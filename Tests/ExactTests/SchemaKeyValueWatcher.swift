import Foundation
import MartletTestSupport
import ModelTesting

@testable import Martlet

/// A key-value observer of an object of a random class. It observes a key path that is given as a string.
final class SchemaKeyValueWatcher: KeyValueObserver {
    let name: String
    private let serial: Int
    private let path: String
    private let object: ObjectBase
    /// The value that was reported last.
    private var known = ""
    /// The write times of the observed properties, as they were at the last check.
    private var times = ""
    /// The first error that a callback found.
    private var failure: String?
    /// The number of calls since the last check.
    private(set) var calls = 0
    private var query: (() -> Void)?
    private var allowsNeedlessCalls = false
    /// Whether a write is being rolled back.
    var isRolledBack = false

    init?(_ seed: UInt64, _ schema: RandomSchema, _ model: ModelState, _ realm: Realm) {
        var random = SeededRandom(seed: seed)
        guard let type = schema.names.randomElement(using: &random),
            let serial = model.inKeyOrder(type).randomElement(using: &random),
            let object = model.object(serial, realm)
        else { return nil }
        let all = schema.classes.of(type)
        let links = all.filter { $0.target != nil }
        let property = (Bool.random(using: &random) ? links : Array(all.suffix(8))).randomElement(using: &random)
        let choice = Int.random(in: 0..<4, using: &random)
        switch (property?.kind, property?.target) {
        case (.single, nil) where choice > 0: path = property?.name ?? ""
        case (.single, .some): path = (property?.name ?? "") + (choice < 2 ? "" : ".number")
        case (.many, _) where choice > 0: path = (property?.name ?? "") + ".@count"
        default: path = "isInvalidated"
        }
        (self.serial, self.object) = (serial, object)
        name = "the key-value observer of '\(path)' of \(type) \(serial)"
        (known, times) = (value(model), writeTimes(model))
        // A third of the observers are also called before a change, and run a query in each call. Inside a write, the
        // query writes the pending changes to the file.
        if Int.random(in: 0..<3, using: &random) == 0 {
            query = { _ = realm.dynamicObjects(type).filter("number > 0").count }
        }
        let options: KeyValueObservingOptions = query == nil ? [.old, .new] : [.old, .new, .prior]
        object.addObserver(self, forKeyPath: path, options: options)
    }

    var isInvalidated: Bool { object.isInvalidated }

    func end() { if !isInvalidated { object.removeObserver(self, forKeyPath: path) } }

    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        query?()
        if change?[.notificationIsPriorKey] != nil { return }
        calls += 1
        let (old, new) = (Self.text(change?[.oldKey]), Self.text(change?[.newKey]))
        // A write that is rolled back may have deleted an object. Until the rollback restores the object, a key path
        // through it has no value.
        if let old, old != known, !(isRolledBack && old == "nil") {
            failure = failure ?? "the old value is \(old), but the last reported value was \(known)"
        }
        known = new ?? "gone"
    }

    /// Makes the next check accept calls without a change. A rollback may cause pairs of calls that cancel each other
    /// out.
    func allowNeedlessCalls() { (allowsNeedlessCalls, isRolledBack) = (true, false) }

    /// Returns the first error that a callback found, or else an error in the current state; nil if there is none.
    func check(_ model: ModelState, isRefresh: Bool) -> String? {
        defer { (calls, allowsNeedlessCalls) = (0, false) }
        if let failure { return failure }
        if isInvalidated != (model.rows[serial] == nil) { return "isInvalidated is \(isInvalidated)" }
        if isInvalidated, path != "isInvalidated" { return nil }
        let (value, times) = (value(model), writeTimes(model))
        defer { self.times = times }
        if known != value { return "was notified of \(known), but the value is \(value)" }
        if allowsNeedlessCalls { return nil }
        if calls > 0, times == self.times, path != "isInvalidated" { return "is called, but nothing was written" }
        return isRefresh && calls > 1 ? "is called \(calls) times by one refresh" : nil
    }

    // MARK: The model

    private func value(_ model: ModelState) -> String {
        if path == "isInvalidated" { return "\(model.rows[serial] == nil)" }
        if let collection = path.range(of: ".@count").map({ String(path[..<$0.lowerBound]) }) {
            return "\(Double(model.slots(serial, collection).count))"
        }
        let value = model.value(serial, path)
        if case .row(let row) = value { return "#\(model.keys[row] ?? -1)" }
        return model.shown(value)
    }

    private func writeTimes(_ model: ModelState) -> String {
        path == "isInvalidated"
            ? "" : ObservedRow(model, serial, [path.replacingOccurrences(of: ".@count", with: "")]).times
    }

    /// Nil for an object that was deleted and cannot be read.
    private static func text(_ value: Any?) -> String? {
        switch value {
        case nil, is NSNull: "nil"
        case let isTrue as Bool: "\(isTrue)"
        case let object as ObjectBase: object.isInvalidated ? nil : "#\(object._key)"
        case let number as Int: "\(Double(number))"
        case let value?: "\(value)"
        }
    }
}

extension SchemaModelRunner {
    func watchKeyValues(_ seed: UInt64, _ shown: ModelState) {
        guard keyValueWatchers.count < 6 else { return }
        if let watcher = SchemaKeyValueWatcher(seed, program.schema, shown, testRealm.realm) {
            keyValueWatchers.append(watcher)
        }
    }

    func checkKeyValues(isRefresh: Bool) {
        guard let shown = modelStates[testRealm.realm.context.version] else { return }
        for watcher in keyValueWatchers {
            reported += watcher.calls
            if let failure = watcher.check(shown, isRefresh: isRefresh) { fail("\(watcher.name): \(failure)") }
        }
        keyValueWatchers.removeAll { $0.isInvalidated }
    }
}
