import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Calls that trap, and their messages.
@Suite("misuse of threads, actors and frozen objects")
struct IsolationMisuseTests {
    @Test("using an object outside its actor traps; the message names the object, its actor and the caller O1")
    func actor() async {
        let task = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            _ = try await Store(test.configuration).escapedObject().dog.name
        }
        expectMessage(task, "a 'Dog' with the key 1 was used on another task, but it belongs to the actor 'Store'")
        let queue = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let escaped = try await Store(test.configuration).escapedObject()
            DispatchQueue(label: "kennel").sync { escaped.dog.name = "Bo" }
        }
        expectMessage(queue, "a 'Dog' with the key 1 was used on the queue 'kennel'")
        let main = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let escaped = try await Store(test.configuration).escapedObject()
            await MainActor.run { _ = escaped.dog.name }
        }
        expectMessage(main, "was used on the main thread, but it belongs to the actor 'Store'")
    }

    @Test("using an object of the main actor on another thread traps O1")
    func mainActor() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let configuration = withoutScheduler(test.configuration)
            let escaped = try await MainActor.run {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.add(Dog(name: "Rex")) }
                return EscapedObject(dog: realm.objects(Dog.self)[0])
            }
            await onNewThread { _ = escaped.dog.name }
        }
        expectMessage(
            result, "a 'Dog' with the key 1 was used on a background thread, but it belongs to the main thread")
    }

    @Test("changing a frozen object, list or Realm traps O13")
    func change() async {
        let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let frozen = try test.dogs("Rex")[0].freeze()
            try test.realm.write { frozen.name = "Bo" }
        }
        expectMessage(object, "a 'Dog' is frozen and cannot be changed. Change what 'thaw()' returns")
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.dogs("Rex")[0].siblings.freeze().append(Dog(name: "Bo"))
        }
        expectMessage(list, "the list 'Dog.siblings' is frozen and cannot be changed")
        let realm = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TestRealm().realm.freeze().write {}
        }
        expectMessage(realm, "the Realm is frozen and cannot be changed")
        let delete = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let frozen = try test.dogs("Rex")[0].freeze()
            try test.realm.write { test.realm.delete(frozen) }
        }
        expectMessage(delete, "a 'Dog' of another Realm")
        let asynchronous = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TestRealm().realm.freeze().writeAsync {}
        }
        expectMessage(asynchronous, "the Realm is frozen and cannot be changed")
    }

    @Test("invalidating a frozen Realm traps, and so does setting its autorefresh O13")
    func frozenRealm() async {
        let invalidate = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TestRealm().realm.freeze().invalidate()
        }
        expectMessage(invalidate, "a frozen Realm was invalidated, but it never changes")
        let autorefresh = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TestRealm().realm.freeze().autorefresh = true
        }
        expectMessage(autorefresh, "a frozen Realm was set to refresh automatically")
    }

    @Test("observing a frozen object or collection traps N7")
    func observe() async {
        let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().dogs("Rex")[0].freeze().observe { _ in }
        }
        expectMessage(object, "is frozen and was observed, but it never changes")
        let results = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().allDogs.freeze().observe { _ in }
        }
        expectMessage(results, "a collection of 'Dog' is frozen and was observed")
        let keyValue = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().dogs("Rex")[0].freeze().addObserver(ChangeTarget(), forKeyPath: "name")
        }
        expectMessage(keyValue, "is frozen and was observed")
    }

    @Test("freezing an object that the open write created traps N125")
    func created() async {
        let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write {
                let dog = Dog(name: "Rex")
                test.realm.add(dog)
                _ = dog.freeze()
            }
        }
        expectMessage(object, "a 'Dog' with the key 1 was created in the open write transaction and frozen there")
    }

    @Test("freezing or thawing an unmanaged object traps, and so does freezing a deleted object N127")
    func unmanaged() async {
        let freeze = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Dog(name: "Rex").freeze()
        }
        expectMessage(freeze, "an unmanaged 'Dog' was frozen. Add it to a Realm first")
        let thaw = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Dog(name: "Rex").siblings.thaw()
        }
        expectMessage(thaw, "an unmanaged 'List<Dog>' was thawed")
        let deleted = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let dog = try test.dogs("Rex")[0]
            try test.realm.write { test.realm.delete(dog) }
            _ = dog.freeze()
        }
        expectMessage(deleted, "the 'Dog' with the key 1 was deleted")
    }

    @Test("resolving a reference twice, or in a Realm of another file, traps N128")
    func references() async {
        let twice = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let reference = ThreadSafeReference(to: try test.dogs("Rex")[0])
            _ = test.realm.resolve(reference)
            _ = test.realm.resolve(reference)
        }
        expectMessage(twice, "a 'ThreadSafeReference<Dog>' was resolved twice")
        let elsewhere = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            _ = try TestRealm().realm.resolve(ThreadSafeReference(to: try test.dogs("Rex")[0]))
        }
        expectMessage(elsewhere, "was resolved by a Realm of another file")
        let unmanaged = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ThreadSafeReference(to: Dog(name: "Rex"))
        }
        expectMessage(unmanaged, "an unmanaged 'Dog' was referred to")
    }

    @Test("an asynchronous write on a thread without a run loop traps N132")
    func noRunLoop() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TestRealm().onNewThread { $0.writeAsync {} }
        }
        expectMessage(result, "an asynchronous write was requested on a thread that runs no run loop")
    }

    @Test("a change after 'commitAsyncWrite' traps O4")
    func afterCommit() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            test.realm.beginAsyncWrite {
                test.realm.commitAsyncWrite(allowGrouping: true)
                test.realm.add(Dog(name: "Rex"))
            }
            test.realm.writeAsync {}
            test.finishAsyncWrites()
        }
        expectMessage(result, "the Realm was changed outside a write transaction")
    }

    @Test("an assignment after 'commitAsyncWrite' traps, even if the next write uses the same transaction O4")
    func assignmentAfterCommit() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let dog = try test.realm.write { test.realm.create(Dog.self, value: ["name": "Rex"]) }
            test.realm.beginAsyncWrite {
                test.realm.commitAsyncWrite(allowGrouping: true)
                dog.name = "Max"
            }
            test.realm.writeAsync {}
            test.finishAsyncWrites()
        }
        expectMessage(result, "a 'Dog' was changed outside a write transaction, at its property 'name'")
    }
}

private final class ChangeTarget: KeyValueObserver {
    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {}
}
