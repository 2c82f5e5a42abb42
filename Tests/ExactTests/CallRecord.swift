import Foundation

@testable import Martlet

/// One call of an observer.
struct CallRecord {
    /// The number of reported changes.
    let size: Int
    /// The call in words.
    let text: () -> String

    static var initial: CallRecord { CallRecord(size: 1) { "initial call" } }
}

extension CallRecord {
    init(_ error: any Error) { self.init(size: 1) { "fails: \(error)" } }

    init(_ change: CollectionChangeSet) {
        self.init(size: change.deletions.count + change.insertions.count + change.modifications.count) {
            "deletions \(change.deletions), insertions \(change.insertions), modifications \(change.modifications)"
                + (change.moves.isEmpty ? "" : ", moves \(change.moves.map { "\($0.from) to \($0.to)" })")
        }
    }

    init(_ deletions: [String], _ insertions: [String], _ modifications: [String]) {
        self.init(size: deletions.count + insertions.count + modifications.count) {
            "deletions \(deletions), insertions \(insertions), modifications \(modifications)"
        }
    }

    init(_ change: ChangeChecker.SectionChange) {
        self.init(
            size: change.deletions.count + change.insertions.count + change.modifications.count + change.inserted.count
                + change.deleted.count
        ) {
            "deletions \(change.deletions), insertions \(change.insertions), modifications \(change.modifications), "
                + "sections inserted \(Array(change.inserted)), deleted \(Array(change.deleted))"
        }
    }

    init(_ changes: [PropertyChange]) {
        self.init(size: changes.count) { "changes of \(changes.map(\.name))" }
    }
}
