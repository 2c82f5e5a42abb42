import MartletEngine

/// The observers of a Realm itself, in the order of registration.
struct RealmObservers {
    struct Observer {
        fileprivate let number: Int
        let registration: Registration
        let block: (Realm.Notification, Realm) -> Void
        // An observer keeps its Realm alive.
        let context: RealmContext
        /// The version of the Realm when the observer was added. This version may not be durable yet.
        fileprivate(set) var since: Version
    }

    private(set) var all: [Observer] = []
    private var nextNumber = 0

    var isEmpty: Bool { all.isEmpty }

    /// Adds an observer and returns the number with which it can be removed. The observer is not notified of versions
    /// up to `version`.
    mutating func add(
        _ registration: Registration, _ context: RealmContext, since version: Version,
        _ block: @escaping (Realm.Notification, Realm) -> Void
    ) -> Int {
        defer { nextNumber += 1 }
        all.append(
            Observer(number: nextNumber, registration: registration, block: block, context: context, since: version))
        return nextNumber
    }

    /// Called when the versions after `version` are rolled back. An observer that was added at one of them is treated
    /// as added at `version`.
    mutating func rollBack(to version: Version) {
        for index in all.indices where all[index].since > version { all[index].since = version }
    }

    /// Removes an observer and returns it, so that the caller can release it without holding the lock. Complexity:
    /// O(log n) comparisons.
    mutating func remove(_ number: Int) -> Observer? {
        let position = all.indices.partitionPoint { all[$0].number >= number }
        guard position < all.count, all[position].number == number else { return nil }
        return all.remove(at: position)
    }
}
