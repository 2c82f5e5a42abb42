import ConformanceModels
import Foundation

@testable import Martlet

/// The key of a section. A key with a number that is NaN does not equal itself.
struct WatchedKey: Hashable, CustomStringConvertible {
    let description: String
    private var number = 0.0

    init(_ text: String) { description = text }

    /// Creates the key of a number: the remainder of a whole number divided by 2, 'nan' for NaN, and 'none' for any
    /// other number.
    init(_ number: Double) {
        description = number.isNaN ? "nan" : Int(exactly: number).map { "\($0 % 2)" } ?? "none"
        if number.isNaN { self.number = .nan }
    }
}

extension WatcherBuilder {
    private func sectioned(_ node: Node, _ serial: Int) -> (
        live: SectionedResults<WatchedKey, Node>, sections: (ModelState) -> [ChangeChecker.Section]
    ) {
        let (base, rows) = base(node, serial)
        let query = ModelQuery(plan, allowsDistinctAndLimit: false)
        let keys: [(expected: (ModelState, Int) -> WatchedKey, live: (Node) -> WatchedKey)] = [
            ({ WatchedKey($0.text($1, "name") ?? "") }, { WatchedKey($0.name) }),
            ({ WatchedKey($0.number($1, "amount") ?? 0) }, { WatchedKey($0.amount) }),
            (
                { model, row in WatchedKey(model.link(row, "next").flatMap { model.text($0, "name") } ?? "") },
                { WatchedKey($0.next?.name ?? "") }
            ),
        ]
        let key = keys[plan.cut % keys.count]
        let live = query.apply(base, sorts: false).sectioned(by: key.live, sortDescriptors: query.descriptors)
        let sections = { (model: ModelState) -> [ChangeChecker.Section] in
            var order: [String] = []
            var items: [String: [Item]] = [:]
            for row in query.apply(rows(model), model) {
                let key = key.expected(model, row).description
                if items[key] == nil { order.append(key) }
                items[key, default: []].append(model.item(row, plan.nodePaths))
            }
            return order.map { ChangeChecker.Section(key: $0, items: items[$0] ?? []) }
        }
        return (live, Self.memoized(sections))
    }

    private func sectionText(_ node: Node) -> String {
        let key = ["name", "amount", "next.name"][plan.cut % 3]
        let query = ModelQuery(plan, allowsDistinctAndLimit: false)
        return "\(baseText(node)) \(query.text) in sections by \(key)\(Self.text(plan.nodePaths))"
    }

    private static func missingChange(_ old: [ChangeChecker.Section], _ new: [ChangeChecker.Section]) -> String? {
        if old.map(\.key) != new.map(\.key) { return "changes of sections are not reported" }
        for (old, new) in zip(old, new) {
            if let missing = ChangeChecker.missingChange(old.items, new.items) {
                return "section '\(new.key)': \(missing)"
            }
        }
        return nil
    }

    func watchSections(_ node: Node, _ serial: Int) -> Watcher {
        let (live, sections) = sectioned(node, serial)
        let watcher = Watcher("sections of \(sectionText(node))") {
            Self.missingChange(sections($0), sections($1))
        } live: {
            if live.isInvalidated { return nil }
            let expected = sections($0).map { "\($0.key) \($0.items.map(\.text))" }
            return (live.map { "\($0.key) \($0.map { "\($0.id)" })" }, expected)
        }
        watcher.token = live.observe(keyPaths: plan.nodePaths, callback(watcher) { sections($0) })
        return watcher
    }

    func watchSection(_ node: Node, _ serial: Int) -> Watcher? {
        let (live, sections) = sectioned(node, serial)
        guard let section = live.first else { return nil }
        let key = section.key.description
        // An observer of one section is not notified when the section changes its position among the sections. So the
        // expected contents contain only this section.
        let only = { (model: ModelState) in sections(model).filter { $0.key == key } }
        let watcher = Watcher("section '\(key)' of \(sectionText(node))") {
            Self.missingChange(only($0), only($1))
        } live: {
            live.isInvalidated ? nil : (section.map { "\($0.id)" }, only($0).flatMap(\.items).map(\.text))
        }
        watcher.token = section.observe(keyPaths: plan.nodePaths, callback(watcher, isAlone: true, only))
        return watcher
    }

    private func callback<C>(
        _ watcher: Watcher, isAlone: Bool = false, _ sections: @escaping (ModelState) -> [ChangeChecker.Section]
    ) -> (RealmSectionedResultsChange<C>) -> Void {
        return { [onCall, unowned watcher] change in
            switch change {
            case .initial: onCall(watcher, .initial) { _, _ in nil }
            case .update(_, let deletions, let insertions, let modifications, let inserted, let deleted):
                // The expected contents for an observer of one section contain only this section, so its position is 0.
                let inModel = { (paths: [IndexPath]) in isAlone ? paths.map { [0, $0[1]] } : paths }
                let sectionsInModel = { (set: IndexSet) in isAlone && !set.isEmpty ? [0] : set }
                let reported = ChangeChecker.SectionChange(
                    deletions: inModel(deletions), insertions: inModel(insertions),
                    modifications: inModel(modifications), inserted: sectionsInModel(inserted),
                    deleted: sectionsInModel(deleted))
                onCall(watcher, CallRecord(reported)) { old, new in
                    ChangeChecker.sections(sections(old), sections(new), reported).map { "\($0): \(reported)" }
                }
            case .error(let error): onCall(watcher, CallRecord(error)) { _, _ in "\(error)" }
            }
        }
    }
}
