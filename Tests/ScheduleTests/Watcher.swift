import ConformanceModels
import MartletEngine

@testable import Martlet

/// An observer that keeps a copy of the results. In each call, the observer applies the changes to the copy, and
/// compares the copy with the results.
final class Watcher: CheckedObserver {
    private let run: Run
    private var copy: [Row]?
    /// The version of the last notification.
    private var version: Version = 0
    private var token: NotificationToken?

    private struct Row: Equatable {
        let code: String
        var content: Int
    }

    init(_ realm: Realm, _ run: Run) {
        self.run = run
        token = realm.objects(StringKey.self).sorted(byKeyPath: "code").observe { [weak self, run] in
            guard let self else { return run.fail("an observer that has ended is called") }
            receive($0)
        }
    }

    func end() { token = nil }

    private func receive(_ change: RealmCollectionChange<Results<StringKey>>) {
        switch change {
        case .initial(let results): receive(results, nil)
        case .update(let results, let deletions, let insertions, let modifications):
            receive(results, (deletions, insertions, modifications))
        case .error(let error): run.fail("an observer is notified of the error \(error)")
        }
    }

    private func receive(
        _ results: Results<StringKey>, _ changes: (deletions: [Int], insertions: [Int], modifications: [Int])?
    ) {
        guard let realm = results.realm else { return run.fail("an observer is called without a Realm") }
        run.threadScheduler.addToTrace("an observer is notified of version \(realm.version)")
        run.notifications += 1
        if version >= realm.version { run.fail("notified of version \(realm.version) after \(version)") }
        version = realm.version
        let rows = results.map { Row(code: $0.code, content: $0.content) }
        if let changes, let copy {
            check(changes, from: copy, to: rows)
        } else if changes != nil || copy != nil {
            run.fail(copy == nil ? "an update comes before the initial call" : "a second initial call")
        }
        copy = rows
        run.check(realm)
    }

    private func check(
        _ changes: (deletions: [Int], insertions: [Int], modifications: [Int]), from old: [Row], to new: [Row]
    ) {
        let (deletions, insertions, modifications) = changes
        guard (deletions + modifications).allSatisfy(old.indices.contains), insertions.allSatisfy(new.indices.contains)
        else { return run.fail("notified of positions that do not exist: \(changes)") }
        // Without change sets, the runtime compares the old and the new results, and may report all remaining rows as
        // modified.
        let allowsExtraModifications = run.program.mayLoseChangeSets
        if deletions + insertions + modifications == [], !allowsExtraModifications {
            run.fail("notified without a change")
        }
        let (gone, modified) = (Set(deletions), Set(modifications))
        var expected = old.indices.filter { !gone.contains($0) }
            .map { (row: old[$0], isModified: modified.contains($0)) }
        for position in insertions {
            guard position <= expected.count else { return run.fail("notified of too few insertions: \(changes)") }
            expected.insert((new[position], false), at: position)
        }
        guard expected.count == new.count else { return run.fail("the changes give the wrong number of objects") }
        for (known, row) in zip(expected, new)
        where (known.row != row) != known.isModified && !(allowsExtraModifications && known.isModified) {
            run.fail(
                "'\(known.row.code)' was \(known.row.content), modified: \(known.isModified); the file has \(row)")
        }
    }

    func checkFinal(_ contents: Contents) {
        let known = copy.map { Contents(uniqueKeysWithValues: $0.map { ($0.code, $0.content) }) }
        if known != contents { run.fail("an observer was notified last of \(known ?? [:]) at version \(version)") }
    }
}
