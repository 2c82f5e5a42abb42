import Foundation
import Martlet

/// Checks reported changes. Every function returns the first error, or nil if the change is exact. An exact change
/// leads from the old state to the new state. It reports every modified element, and every element that it reports as
/// modified was written.
enum ChangeChecker {
    /// Checks the change set of a collection.
    ///
    /// - Parameter keepsOrder: whether elements that remain always keep their relative order, as in unsorted results.
    static func elements(_ old: [Item], _ new: [Item], _ change: CollectionChangeSet, keepsOrder: Bool) -> String? {
        let lists = [change.deletions, change.insertions, change.modifications, change.modificationsInNew]
        for list in lists where zip(list, list.dropFirst()).contains(where: { $0 >= $1 }) { return "out of order" }
        for (list, count) in zip(lists, [old.count, new.count, old.count, new.count])
        where list.contains(where: { $0 < 0 || $0 >= count }) {
            return "outside of the collection"
        }
        if lists.dropLast().allSatisfy(\.isEmpty) { return "an empty change set" }
        let kept = old.indices.filter { !change.deletions.contains($0) }
        let keptInNew = new.indices.filter { !change.insertions.contains($0) }
        if kept.count != keptInNew.count {
            return "\(kept.count) elements are not deleted, but \(keptInNew.count) elements are not inserted"
        }
        let modified = Dictionary(
            zip(change.modifications, change.modificationsInNew), uniquingKeysWith: { first, _ in first })
        if change.modifications.contains(where: { change.deletions.contains($0) }) { return "modified and deleted" }
        for (before, now) in zip(kept, keptInNew) {
            if let position = modified[before] {
                if position != now { return "modified \(before) is reported at \(position), but is at \(now)" }
                if !new[now].isWritten(since: old[before]) { return "modified \(before): nothing was written" }
                if keepsOrder && new[now].identity != old[before].identity { return "\(before) is another element" }
            } else if !new[now].isSame(as: old[before]) {
                return "\(before) to \(now) is not reported"
            }
        }
        return moves(old, new, change) ?? (keepsOrder ? unneededDeletion(old, new, change) : nil)
    }

    private static func moves(_ old: [Item], _ new: [Item], _ change: CollectionChangeSet) -> String? {
        for move in change.moves {
            guard change.deletions.contains(move.from), change.insertions.contains(move.to) else {
                return "a wrong move"
            }
            if old[move.from].identity != new[move.to].identity { return "a move of another element" }
        }
        return nil
    }

    private static func unneededDeletion(_ old: [Item], _ new: [Item], _ change: CollectionChangeSet) -> String? {
        func counts(_ items: [Item]) -> [ModelState.Value: Int] {
            items.reduce(into: [:]) { $0[$1.identity, default: 0] += 1 }
        }
        let (before, now) = (counts(old), counts(new))
        let deleted = counts(change.deletions.map { old[$0] })
        return change.deletions.first { position in
            let identity = old[position].identity
            let fewer = (before[identity] ?? 0) - (now[identity] ?? 0)
            return (deleted[identity] ?? 0) > Swift.max(0, fewer)
        }.map { "\($0) is reported as deleted, but still exists" }
    }

    /// Checks the values of deleted elements. Each element must have the values that it had in one of `modelStates`.
    static func deletedElements(
        _ old: [Item], _ modelStates: [ModelState], _ positions: [Int], _ deleted: [DeletedElement]
    ) -> String? {
        if deleted.map(\.position) != positions { return "deleted elements at \(deleted.map(\.position))" }
        let wrong = deleted.first { element in !modelStates.contains { matches(element, old[element.position], $0) } }
        return wrong.map { "deleted element \($0.position) is not \(old[$0.position].text)" }
    }

    private static func matches(_ element: DeletedElement, _ item: Item, _ model: ModelState) -> Bool {
        guard case .row(let row) = item.identity else {
            // Objects inside lists and maps of an `AnyRealmValue` are not compared.
            if item.identity.containsLink { return true }
            if let value = element.value as? AnyRealmValue { return value.shown == item.text }
            return (element.value.map { "\($0 is Int ? Double($0 as? Int ?? 0) : $0)" } ?? "nil") == item.text
        }
        if model.rows[row] == nil || element.lastValues["name"] as? String != model.text(row, "name") { return false }
        guard let id = model.id(row) else { return true }
        return element.primaryKey as? Int == id
            && (element.lastValues["int"] as? Int).map { Double($0) } == model.number(row, "int")
            && (element.lastValues["amount"] as? Double)?.bitPattern == model.number(row, "amount")?.bitPattern
    }

    static func entries(
        _ old: [Item], _ new: [Item], deletions: [String], insertions: [String], modifications: [String]
    ) -> String? {
        let before = Dictionary(uniqueKeysWithValues: old.map { ($0.key, $0) })
        let now = Dictionary(uniqueKeysWithValues: new.map { ($0.key, $0) })
        if Set(deletions) != Set(before.keys).subtracting(now.keys) { return "wrong deleted keys" }
        if Set(insertions) != Set(now.keys).subtracting(before.keys) { return "wrong inserted keys" }
        if deletions.isEmpty && insertions.isEmpty && modifications.isEmpty { return "an empty change set" }
        for (key, item) in now {
            guard let old = before[key] else { continue }
            if modifications.contains(key) {
                if !item.isWritten(since: old) { return "modified '\(key)': nothing was written" }
            } else if !item.isSame(as: old) {
                return "'\(key)' is not reported"
            }
        }
        return Set(modifications).isSubset(of: now.keys) ? nil : "modified keys that do not exist"
    }

    struct Section {
        let key: String
        let items: [Item]
    }

    struct SectionChange {
        let deletions: [IndexPath]
        let insertions: [IndexPath]
        let modifications: [IndexPath]
        let inserted: IndexSet
        let deleted: IndexSet

        func positions(of paths: [IndexPath], in section: Int) -> [Int] {
            paths.filter { $0[0] == section }.map { $0[1] }
        }
    }

    static func sections(_ old: [Section], _ new: [Section], _ change: SectionChange) -> String? {
        let kept = old.indices.filter { !change.deleted.contains($0) }
        let keptInNew = new.indices.filter { !change.inserted.contains($0) }
        if kept.map({ old[$0].key }) != keptInNew.map({ new[$0].key }) { return "wrong sections" }
        for paths in [change.deletions, change.modifications] where paths.contains(where: { !kept.contains($0[0]) }) {
            return "a row of a deleted section"
        }
        if (change.inserted.last ?? -1) >= new.count || (change.deleted.last ?? -1) >= old.count {
            return "outside of the sections"
        }
        for section in change.inserted
        where change.positions(of: change.insertions, in: section) != Array(new[section].items.indices) {
            return "rows of an inserted section"
        }
        var isEmpty = change.deleted.isEmpty && change.inserted.isEmpty
        for (before, now) in zip(kept, keptInNew) {
            let wrong = rows(old[before].items, new[now].items, change, before, now, &isEmpty)
            if let wrong { return "section '\(new[now].key)': \(wrong)" }
        }
        return isEmpty ? "an empty change set" : nil
    }

    private static func rows(
        _ old: [Item], _ new: [Item], _ change: SectionChange, _ before: Int, _ now: Int, _ isEmpty: inout Bool
    ) -> String? {
        let deletions = change.positions(of: change.deletions, in: before)
        let insertions = change.positions(of: change.insertions, in: now)
        let modifications = change.positions(of: change.modifications, in: before)
        if !deletions.isEmpty || !insertions.isEmpty || !modifications.isEmpty { isEmpty = false }
        let kept = old.indices.filter { !deletions.contains($0) }
        let keptInNew = new.indices.filter { !insertions.contains($0) }
        if kept.count != keptInNew.count {
            return "\(kept.count) rows are not deleted, but \(keptInNew.count) rows are not inserted"
        }
        for (from, to) in zip(kept, keptInNew) {
            if old[from].identity != new[to].identity { return "row \(from) is another row" }
            if modifications.contains(from) {
                if !new[to].isWritten(since: old[from]) { return "modified row \(from): nothing was written" }
            } else if !new[to].isSame(as: old[from]) {
                return "row \(from) is not reported"
            }
        }
        return nil
    }

    /// Checks two states between which the observer was not notified. Returns an error if the states differ.
    static func missingChange(_ old: [Item], _ new: [Item]) -> String? {
        let isSame = old.count == new.count && zip(old, new).allSatisfy { $0.isSame(as: $1) && $0.key == $1.key }
        return isSame ? nil : "the change from \(old.map(\.text)) to \(new.map(\.text)) is not reported"
    }
}
