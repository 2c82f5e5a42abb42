import MartletEngine

/// The cursor of a loop over a collection. The loop visits the members that the collection has when the loop begins.
///
/// The loop reads the members in steps while its Realm shows the same state. Before the Realm moves to another state,
/// the cursor reads the keys of all members.
final class LazyCursor {
    /// The keys of all members; nil while the Realm shows the state in which the loop began.
    @exclusivity(unchecked) private(set) var keys: KeySequence?
    private let findKeys: () -> KeySequence

    init(_ findKeys: @escaping () -> KeySequence) { self.findKeys = findKeys }

    func loadKeys() {
        if keys == nil { keys = findKeys() }
    }
}

extension RealmContext {
    /// Registers a cursor, so that its keys are read before the Realm moves to another state. A cursor of a frozen
    /// Realm is not registered, because the state of a frozen Realm never changes.
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
