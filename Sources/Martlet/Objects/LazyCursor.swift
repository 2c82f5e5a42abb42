import MartletEngine

/// The members of a collection at the beginning of a loop, read in steps instead of all at once.
///
/// The loop reads in steps while its Realm shows the same state. Before the Realm shows another state, the keys of all members
/// are read.
final class LazyCursor {
    /// The keys of all members; nil while the Realm shows the state at the beginning of the loop.
    private(set) var keys: KeySequence?
    private let findKeys: () -> KeySequence

    init(_ findKeys: @escaping () -> KeySequence) { self.findKeys = findKeys }

    func loadKeys() {
        if keys == nil { keys = findKeys() }
    }
}

extension RealmContext {
    /// Registers a cursor, whose keys are read before the Realm shows another state. A frozen Realm never does.
    func register(_ cursor: LazyCursor) {
        if isFrozen { return }
        cursors.removeAll { $0.cursor == nil }
        cursors.append(WeakCursor(cursor: cursor))
    }

    func loadCursorKeys() {
        if cursors.isEmpty { return }
        for cursor in cursors { cursor.cursor?.loadKeys() }
        cursors = []
    }
}
