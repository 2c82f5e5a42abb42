import MartletEngine

/// The observers of a Realm itself, in the order in which they began.
struct RealmObservers {
    struct Observer {
        fileprivate let number: Int
        let registration: Registration
        let block: (Realm.Notification, Realm) -> Void
        // Realms live as long as they are observed.
        let context: RealmContext
    }

    private(set) var all: [Observer] = []
    private var nextNumber = 0

    var isEmpty: Bool { all.isEmpty }

    /// Adds an observer, and returns the number by which it is removed.
    mutating func add(
        _ registration: Registration, _ context: RealmContext, _ block: @escaping (Realm.Notification, Realm) -> Void
    ) -> Int {
        defer { nextNumber += 1 }
        all.append(Observer(number: nextNumber, registration: registration, block: block, context: context))
        return nextNumber
    }

    /// Removes an observer, and returns it so that it can be released elsewhere. Complexity: O(log n) comparisons.
    mutating func remove(_ number: Int) -> Observer? {
        let place = all.indices.partitionPoint { all[$0].number >= number }
        guard place < all.count, all[place].number == number else { return nil }
        return all.remove(at: place)
    }
}
