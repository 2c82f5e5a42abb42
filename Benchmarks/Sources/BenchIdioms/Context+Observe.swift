import Dispatch
import Martlet

/// Counts the changes that an observer has received, as one number: 10,000 for each deletion, 100 for each insertion,
/// and 1 for each modification.
final class Received {
    var total = 0

    func add(deletions: Int, insertions: Int, modifications: Int) {
        total += deletions * 10_000 + insertions * 100 + modifications
    }
}

extension Context {
    /// Measures one write and the `refresh` that calls the observer. `expected` is the value of `Received.total` after
    /// the call.
    ///
    /// After each measurement, `undo` runs in a further write, which is not measured.
    func measureDelivery(
        _ expected: Int, observe: (Received) -> NotificationToken, undo: ((Int) throws -> Void)? = nil,
        change: (Int) throws -> Void
    ) throws -> Measurement {
        let received = Received()
        let token = observe(received)
        defer { token.invalidate() }
        realm.refresh()
        return try measure(
            expected,
            before: { _ in received.total = 0 },
            after: { round in
                guard let undo else { return }
                try realm.write { try undo(round) }
                realm.refresh()
            },
            execution: { round in
                try realm.write { try change(round) }
                realm.refresh()
                return received.total
            })
    }

    /// Measures one write and the call of the observer of a collection.
    func measureDelivery<Observed: ObservableCollection>(
        _ expected: Int, of collection: Observed, keyPaths: [String]? = nil, undo: ((Int) throws -> Void)? = nil,
        change: (Int) throws -> Void
    ) throws -> Measurement {
        try measureDelivery(
            expected,
            observe: { received in
                collection.observe(keyPaths: keyPaths) { change in
                    guard case .update(_, let deletions, let insertions, let modifications) = change else { return }
                    received.add(
                        deletions: deletions.count, insertions: insertions.count, modifications: modifications.count)
                }
            }, undo: undo, change: change)
    }

    /// Measures one write and the call of the observer of sections.
    func measureDelivery<Observed: ObservableSections>(
        _ expected: Int, ofSections sections: Observed, undo: ((Int) throws -> Void)? = nil,
        change: (Int) throws -> Void
    ) throws -> Measurement {
        try measureDelivery(
            expected,
            observe: { received in
                sections.observe { change in
                    guard case .update(_, let deletions, let insertions, let modifications, _, _) = change else {
                        return
                    }
                    received.add(
                        deletions: deletions.count, insertions: insertions.count, modifications: modifications.count)
                }
            }, undo: undo, change: change)
    }

    /// Measures one write and the call of an observer on a queue. The measurement ends when the observer has been
    /// called.
    func measureQueueDelivery(
        observe: (DispatchQueue, DispatchSemaphore) -> NotificationToken, change: (Int) throws -> Void
    ) throws -> Measurement {
        let queue = DispatchQueue(label: "observer"), called = DispatchSemaphore(value: 0)
        let token = observe(queue, called)
        defer { token.invalidate() }
        return try measure(1) { round in
            try realm.write { try change(round) }
            called.wait()
            return 1
        }
    }

    /// Measures the creation of a collection, the registration of an observer, and the first call of the observer.
    func measureFirstCall<Observed: ObservableCollection>(
        _ expected: Int, of collection: () -> Observed, count: @escaping (Observed) -> Int
    ) throws -> Measurement {
        try measure(expected) {
            let received = Received()
            let token = collection().observe { change in
                if case .initial(let collection) = change { received.total = count(collection) }
            }
            realm.refresh()
            token.invalidate()
            return received.total
        }
    }
}
