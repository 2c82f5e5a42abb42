import Foundation

@testable import Martlet

/// One call of an observer.
struct News {
    /// How much was told.
    let size: Int
    let text: () -> String

    static var initial: News { News(size: 1) { "is there" } }
}

extension News {
    init(_ error: any Error) { self.init(size: 1) { "fails: \(error)" } }

    init(_ told: CollectionChangeSet) {
        self.init(size: told.deletions.count + told.insertions.count + told.modifications.count) {
            "deletions \(told.deletions), insertions \(told.insertions), modifications \(told.modifications)"
                + (told.moves.isEmpty ? "" : ", moves \(told.moves.map { "\($0.from) to \($0.to)" })")
        }
    }

    init(_ deletions: [String], _ insertions: [String], _ modifications: [String]) {
        self.init(size: deletions.count + insertions.count + modifications.count) {
            "deletions \(deletions), insertions \(insertions), modifications \(modifications)"
        }
    }

    init(_ told: Judge.SectionChange) {
        self.init(
            size: told.deletions.count + told.insertions.count + told.modifications.count + told.inserted.count
                + told.deleted.count
        ) {
            "deletions \(told.deletions), insertions \(told.insertions), modifications \(told.modifications), "
                + "sections inserted \(Array(told.inserted)), deleted \(Array(told.deleted))"
        }
    }

    init(_ changes: [PropertyChange]) {
        self.init(size: changes.count) { "changes of \(changes.map(\.name))" }
    }
}
