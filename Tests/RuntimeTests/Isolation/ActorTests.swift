import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

/// An actor that opens a Realm.
actor Store {
    private(set) var realm: Realm?
    var log: [String] = []
    let configuration: Realm.Configuration

    init(_ configuration: Realm.Configuration) { self.configuration = withoutScheduler(configuration) }

    func open() async throws { realm = try await Realm(configuration: configuration, actor: self) }

    /// Whether the synchronous initializer returns the Realm that `open` opened.
    func opensSameRealm() throws -> Bool { try Realm(configuration: configuration) == realm }

    func add(_ name: String) async throws {
        let realm = try await Realm(configuration: configuration)
        try await realm.asyncWrite { realm.add(Dog(name: name)) }
    }

    func addSynchronously(_ name: String) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add(Dog(name: name)) }
    }

    func names() throws -> [String] { try Realm(configuration: configuration).objects(Dog.self).map(\.name) }

    func refresh() async throws -> Bool { try await Realm(configuration: configuration).asyncRefresh() }

    func setAutorefresh(_ value: Bool) { realm?.autorefresh = value }

    func write<R>(_ block: @escaping @Sendable (Realm) throws -> R) async throws -> R {
        let realm = try await Realm(configuration: configuration)
        return try await realm.asyncWrite { try block(realm) }
    }

    func escapedObject() throws -> EscapedObject {
        let dog = Dog(name: "Rex")
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add(dog) }
        return EscapedObject(dog: dog)
    }

    var contextID: ObjectIdentifier? { realm.map { ObjectIdentifier($0.context) } }

    var isWriting: Bool { realm?.isPerformingAsynchronousWriteOperations ?? false }
}

/// An object that a test passes out of its actor. The compiler reports no error for this misuse.
// Sendable: unsafe on purpose, because the tests use the object outside its actor.
struct EscapedObject: @unchecked Sendable {
    let dog: Dog
}

@globalActor
actor KennelActor {
    static let shared = KennelActor()
}

/// Waits until other tasks make `condition` true. Returns false after 15 minutes.
func eventually(_ condition: () async throws -> Bool) async rethrows -> Bool {
    let deadline = Date(timeIntervalSinceNow: 900)
    while Date() < deadline {
        if try await condition() { return true }
        await _Concurrency.Task.yield()
    }
    return false
}

@Suite("actors")
struct ActorTests {
    @Test("an actor gets the same Realm from the asynchronous and the synchronous initializer O1")
    func open() async throws {
        let test = try TestRealm()
        let store = Store(test.configuration)
        try await store.open()
        #expect(try await store.opensSameRealm())
        try await store.addSynchronously("Rex")
        try await store.add("Max")
        #expect(try await store.names() == ["Rex", "Max"])
    }

    @Test("a Realm that is opened in code of the main actor belongs to the main actor O1") @MainActor
    func main() async throws {
        // A 'TestRealm' is not used here: opening its file would return its Realm, which has a manual scheduler.
        let configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString)
        let realm = try await Realm(configuration: configuration, actor: MainActor.shared)
        let again = try await Realm(configuration: configuration)
        #expect(again == realm)
        #expect(try Realm(configuration: configuration, queue: .main) == realm)
        try await realm.asyncWrite { realm.add(Dog(name: "Rex")) }
        #expect(realm.objects(Dog.self).count == 1)
    }

    @Test("a Realm can belong to a global actor, and 'Realm(configuration:)' opens it for the actor of the caller O1")
    @KennelActor
    func global() async throws {
        let test = try TestRealm()
        let configuration = withoutScheduler(test.configuration)
        let realm = try await Realm(configuration: configuration, actor: KennelActor.shared)
        let again = try await Realm(configuration: configuration)
        #expect(again == realm)
        try realm.write { realm.add(Dog(name: "Rex")) }
        #expect(realm.objects(Dog.self)[0].name == "Rex")
    }

    @Test("a queue, an actor and a thread get different Realms of one file O1")
    func different() async throws {
        let test = try TestRealm()
        let configuration = withoutScheduler(test.configuration)
        let queue = DispatchQueue(label: "kennel")
        let store = Store(configuration)
        try await store.open()
        nonisolated(unsafe) let ofQueue = try Realm(configuration: configuration, queue: queue)
        let isSame = queue.sync { (try? Realm(configuration: configuration, queue: queue)) == ofQueue }
        #expect(isSame)
        #expect(ofQueue != test.realm)
        let contexts = await [store.contextID, ObjectIdentifier(ofQueue.context), ObjectIdentifier(test.realm.context)]
        #expect(Set(contexts).count == 3)
    }

    @Test("observe(on: actor) runs the block on the actor, with objects of its Realm N17")
    func observe() async throws {
        let test = try TestRealm()
        let (source, watcher) = (Store(test.configuration), Store(test.configuration))
        let tokens = try await [source.observeDogs(on: watcher), source.observeList(on: watcher)]
        #expect(await eventually { await watcher.log.sorted() == ["dogs: initial", "list: initial"] })
        try await source.addSynchronously("Max")
        #expect(await eventually { await watcher.log.last == "dogs: [] [1] []" })
        tokens[0].invalidate()
        try await source.appendSibling()
        #expect(await eventually { await watcher.log.last == "list: [] [0] []" })
        #expect(await watcher.log.count == 4)
    }

    @Test("an observer is notified of every commit that is made after 'await observe' returns N17")
    func nothingLost() async throws {
        let test = try TestRealm()
        let (source, watcher) = (Store(test.configuration), Store(test.configuration))
        for round in 1...20 {
            let token = try await source.observeDog(on: watcher)
            try await source.rename("\(round)")
            #expect(await eventually { await watcher.log.last?.hasSuffix("→ \(round)") == true })
            token.invalidate()
        }
        #expect(await watcher.log.count == 20)
    }

    @Test("an observer on an actor gets '.deleted' if its object was deleted before the registration N17 N75")
    func deleted() async throws {
        let test = try TestRealm()
        let (source, watcher) = (Store(test.configuration), Store(test.configuration))
        try await source.open()
        try await source.rename("Rex")
        await source.setAutorefresh(false)
        try await Store(test.configuration).deleteAll()
        let token = try await source.observeDog(on: watcher)
        #expect(!token.invalidate())
        #expect(await eventually { await watcher.log == ["dog: deleted"] })
    }

    @Test("projections can be observed on actors N17 N124")
    func projection() async throws {
        let test = try TestRealm()
        let (source, watcher) = (Store(test.configuration), Store(test.configuration))
        let token = try await source.observeProjection(on: watcher)
        try await source.renamePerson("Bea")
        #expect(await eventually { await watcher.log == ["projection: firstName: Ada → Bea"] })
        token.invalidate()
    }

    @Test("'await observe' in a cancelled task returns an invalidated token and registers no observer N18")
    func cancelledObserve() async throws {
        let test = try TestRealm()
        let (source, watcher) = (Store(test.configuration), Store(test.configuration))
        let task = _Concurrency.Task {
            while !_Concurrency.Task.isCancelled { await _Concurrency.Task.yield() }
            return try await source.observeDogs(on: watcher)
        }
        task.cancel()
        let token = try await task.value
        #expect(!token.invalidate())
        try await source.addSynchronously("Max")
        _ = try await watcher.refresh()
        #expect(await watcher.log.isEmpty)
    }

    @Test("asyncWrite returns the result of its block, and rethrows an error of the block after a rollback N138")
    func asyncWrite() async throws {
        struct Failure: Error {}
        let test = try TestRealm()
        let store = Store(test.configuration)
        let count = try await store.write { realm in
            realm.add(Dog(name: "Rex"))
            return realm.objects(Dog.self).count
        }
        #expect(count == 1)
        await #expect(throws: Failure.self) {
            try await store.write { realm in
                realm.add(Dog(name: "Max"))
                throw Failure()
            }
        }
        #expect(try await store.names() == ["Rex"])
    }

    @Test("in a cancelled task, a waiting asyncWrite throws 'CancellationError' and never runs its block N138")
    func cancelledWrite() async throws {
        let test = try TestRealm()
        let store = Store(test.configuration)
        try await store.open()
        let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let configuration = withoutScheduler(test.configuration)
        Thread.detachNewThread {
            let realm = try? Realm(configuration: configuration)
            try? realm?.write {
                begun.signal()
                end.wait()
            }
        }
        await onNewThread { begun.wait() }
        let ran = LockedValue(false)
        let task = _Concurrency.Task {
            try await store.write { _ in ran.update { $0 = true } }
        }
        #expect(await eventually { await store.isWriting })
        // The actor runs other calls while its write waits for the other thread.
        #expect(try await store.names().isEmpty)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        end.signal()
        try await store.add("Rex")
        #expect(!ran.value)
        let cancelledFirst = _Concurrency.Task {
            while !_Concurrency.Task.isCancelled { await _Concurrency.Task.yield() }
            return try await store.write { _ in ran.update { $0 = true } }
        }
        cancelledFirst.cancel()
        await #expect(throws: CancellationError.self) { try await cancelledFirst.value }
        #expect(!ran.value)
    }

    @Test("concurrent asyncWrites of many tasks and actors are all committed N132")
    func concurrentWrites() async throws {
        let test = try TestRealm()
        let stores = (0..<3).map { _ in Store(test.configuration) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<90 { group.addTask { try await stores[number % 3].add("\(number)") } }
            try await group.waitForAll()
        }
        for store in stores {
            _ = try await store.refresh()
            #expect(try await Set(store.names()) == Set((0..<90).map { "\($0)" }))
        }
    }

    @Test("asyncRefresh waits until the newest version is visible, and returns false if no newer one exists N29")
    func asyncRefresh() async throws {
        let test = try TestRealm()
        let store = Store(test.configuration)
        try await store.open()
        await store.setAutorefresh(false)
        #expect(try await store.refresh() == false)
        try await Store(test.configuration).addSynchronously("Rex")
        #expect(try await store.names().isEmpty)
        #expect(try await store.refresh())
        #expect(try await store.names() == ["Rex"])
    }

    @Test("frozen results can be sent between actors O13")
    func frozen() async throws {
        let test = try TestRealm()
        let (source, other) = (Store(test.configuration), Store(test.configuration))
        try await source.addSynchronously("Rex")
        let dogs = try await source.frozenDogs()
        try await source.deleteAll()
        #expect(dogs.map(\.name) == ["Rex"])
        #expect(try await other.thawedCount(dogs) == 0)
    }
}

extension Store {
    private func opened() throws -> Realm { try Realm(configuration: configuration) }

    /// Returns the first dog. Adds a dog with an owner if there is none.
    private func rex() throws -> Dog {
        let realm = try opened()
        if let dog = realm.objects(Dog.self).first { return dog }
        let dog = Dog(name: "Rex", owner: Person(firstName: "Ada"))
        try realm.write { realm.add(dog) }
        return dog
    }

    func observeDogs(on other: Store) async throws -> NotificationToken {
        let realm = try rex().realm
        return try await #require(realm).objects(Dog.self).observe(on: other) { other, change in
            other.log.append("dogs: \(text(change))")
        }
    }

    func observeList(on other: Store) async throws -> NotificationToken {
        try await rex().siblings.observe(on: other) { other, change in other.log.append("list: \(text(change))") }
    }

    func observeDog(on other: Store) async throws -> NotificationToken {
        try await rex().observe(keyPaths: ["name"], on: other) { other, change in
            other.log.append("dog: \(text(change))")
        }
    }

    func observeProjection(on other: Store) async throws -> NotificationToken {
        let person = try #require(try rex().owner)
        return await PersonProjection(projecting: person).observe(on: other) { other, change in
            other.log.append("projection: \(text(change))")
        }
    }

    func rename(_ name: String) throws {
        let dog = try rex()
        try opened().write { dog.name = name }
    }

    func renamePerson(_ name: String) throws {
        let person = try rex().owner
        try opened().write { person?.firstName = name }
    }

    func appendSibling() throws {
        let dog = try rex()
        try opened().write { dog.siblings.append(Dog(name: "Bo")) }
    }

    func deleteAll() throws {
        let realm = try opened()
        try realm.write { realm.deleteAll() }
    }

    func frozenDogs() throws -> Frozen<Results<Dog>> { Frozen(try opened().objects(Dog.self)) }

    func thawedCount(_ dogs: Frozen<Results<Dog>>) throws -> Int {
        let (thawed, realm) = (dogs.thaw(), try opened())
        #expect(thawed?.realm == realm)
        return thawed?.count ?? -1
    }
}

/// Runs a blocking `body` on a new thread, so that no thread of the task pool is blocked.
func onNewThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            body()
            continuation.resume()
        }
    }
}
