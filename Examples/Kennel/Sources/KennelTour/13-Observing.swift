import Foundation
import Martlet

/// Observers receive exact changes, including the changes of other threads and processes.
func observing(_ realm: Realm) throws {
    chapter(13, "Observing")
    say(
        "An observer receives the initial elements, then the positions of each change. Here 'refresh' delivers changes; in an"
    )
    say("app the run loop or queue does.")
    let olderDogs = realm.objects(Dog.self).where { $0.age > 3 }.sorted(byKeyPath: "name")
    let token = olderDogs.observe { change in
        switch change {
        case .initial(let dogs): show("at first: \(dogs.map(\.name).joined(separator: ", "))")
        case .update(let dogs, let deletions, let insertions, let modifications):
            show(
                "deleted \(deletions), inserted \(insertions), modified \(modifications): \(dogs.map(\.name).joined(separator: ", "))"
            )
        case .error(let error): show("\(error)")
        }
    }
    realm.refresh()

    say("Another thread writes with its own Realm:")
    try onAnotherThread(realm.configuration) { realm in
        try realm.write {
            realm.add(Dog(name: "Argos", age: 20))
            for dog in realm.objects(Dog.self).where({ $0.name == "Rex" }) { dog.age = 2 }
            for dog in realm.objects(Dog.self).where({ $0.name == "Bello" }) { dog.favoriteToy = "stick" }
        }
    }
    realm.refresh()

    say("Object observers receive the changed properties with old and new values:")
    guard let bello = realm.objects(Dog.self).where({ $0.name == "Bello" }).first else { return }
    let tokenOfBello = bello.observe(keyPaths: ["age", "name"]) { change in
        guard case .change(_, let properties) = change else { return }
        for property in properties {
            show("\(property.name): \(property.oldValue ?? "nil") -> \(property.newValue ?? "nil")")
        }
    }
    try realm.write {
        bello.age = 11
        bello.favoriteToy = "shoe"
    }
    realm.refresh()
    token.invalidate()
    tokenOfBello.invalidate()
}

private func onAnotherThread(
    _ configuration: Realm.Configuration, _ body: @escaping @Sendable (Realm) throws -> Void
) throws {
    let (done, failure) = (DispatchSemaphore(value: 0), Failure())
    Thread.detachNewThread {
        do { try body(Realm(configuration: configuration)) } catch { failure.error = error }
        done.signal()
    }
    done.wait()
    if let error = failure.error { throw error }
}

// The class can be shared: one thread sets `error` before it signals the semaphore, and the other thread reads `error`
// after it has waited for the semaphore.
private final class Failure: @unchecked Sendable {
    var error: (any Error)?
}
