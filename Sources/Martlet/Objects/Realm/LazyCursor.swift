import MartletEngine

/// The cursor of a loop over a collection. The loop visits the members that the collection had when the loop began.
///
/// While the Realm shows the same state, the loop reads the members in steps. Before the Realm moves to another state,
/// the cursor reads all members. Members are keys of objects, or stored values.
final class LazyCursor<Members>: MemberCursor {
    /// All members; nil while the Realm shows the state in which the loop began.
    @exclusivity(unchecked) private(set) var members: Members?
    private let findMembers: () -> Members

    init(_ findMembers: @escaping () -> Members) { self.findMembers = findMembers }

    func loadMembers() {
        if members == nil { members = findMembers() }
    }
}

/// A cursor whose members are of any type.
protocol MemberCursor: AnyObject {
    func loadMembers()
}

extension RealmContext {
    /// Registers a cursor, so that its members are read before the Realm moves to another state. A cursor of a frozen
    /// Realm is not registered, because the state of a frozen Realm never changes.
    func register(_ cursor: some MemberCursor) {
        if isFrozen { return }
        cursors.removeAll { $0.cursor == nil }
        cursors.append(WeakCursor(cursor: cursor))
    }

    func loadCursors() {
        if cursors.isEmpty { return }
        for cursor in cursors { cursor.cursor?.loadMembers() }
        cursors = []
    }
}
