/// A database of live objects, opened on one thread or serial queue.
///
/// ```swift
/// let realm = try Realm()
/// try realm.write { realm.add(Dog(name: "Rex")) }
/// let dogs = realm.objects(Dog.self).where { $0.name == "Rex" }
/// ```
///
/// Everything that comes from a Realm stays on the executor it was opened on; opening the same file there again gives the
/// same instance. What a Realm shows changes only when it is refreshed, when it begins a write, and by its own writes.
public struct Realm {
    let context: RealmContext

    init(_ context: RealmContext) { self.context = context }

    /// What happens when an object with the same primary key exists.
    public enum UpdatePolicy: Sendable {
        /// It is a mistake of the program, and traps.
        case error
        /// The existing object gets those values that differ; equal ones notify nobody.
        case modified
        /// The existing object gets every given value.
        case all
    }
}

@available(
    *, unavailable, message: "a Realm stays where it was opened; open another one with the same configuration there"
)
extension Realm: Sendable {}
