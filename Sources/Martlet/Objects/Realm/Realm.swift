/// A database of live objects, opened on a thread, a serial queue or an actor.
///
/// ```swift
/// let realm = try Realm()
/// try realm.write { realm.add(Dog(name: "Rex")) }
/// let dogs = realm.objects(Dog.self).where { $0.name == "Rex" }
/// ```
///
/// A Realm and everything obtained from it are confined to the thread, queue or actor on which it was opened. If the
/// program opens the same file again on the same thread, queue or actor, it gets the same Realm. The contents of a
/// Realm change only when the Realm is refreshed, when it begins a write, and through its own writes. The program calls
/// `refresh()`, or the Realm refreshes automatically with `autorefresh`.
public struct Realm {
    let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    /// What `add` and `create` do if an object with the same primary key exists.
    public enum UpdatePolicy: Sendable {
        /// Stop the program with a message, because a duplicate key is a programming error.
        case error
        /// Assign the values that differ. Observers are not notified of equal values.
        case modified
        /// Assign all given values.
        case all
    }
}

@available(
    *, unavailable,
    message: "a Realm stays on its thread, queue or actor; elsewhere, open another Realm with the same configuration"
)
extension Realm: Sendable {}
