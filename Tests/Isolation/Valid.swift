// Valid ways to pass objects to another isolation domain. Tests/generated-check.sh compiles this file together with the
// models of Schemas/Kennel.
import Dispatch
import Martlet

actor Store {
    private var realm: Realm?

    func open() async throws { realm = try await Realm() }

    func rename(_ id: ObjectId, to name: String) async throws {
        let realm = try await Realm()
        try await realm.asyncWrite { realm.object(ofType: Dog.self, forPrimaryKey: id)?.name = name }
    }

    func take(_ reference: ThreadSafeReference<Dog>) throws -> String? { try Realm().resolve(reference)?.name }

    func take(_ dog: Frozen<Dog>) -> String { dog.name }

    func end(_ token: NotificationToken) { token.invalidate() }
}

func byPrimaryKey(_ dog: Dog, _ queue: DispatchQueue) {
    let id = dog.id
    queue.async { _ = try? Realm().object(ofType: Dog.self, forPrimaryKey: id)?.name }
}

func byReference(_ dog: Dog, _ store: Store) {
    let reference = ThreadSafeReference(to: dog)
    _Concurrency.Task { try await store.take(reference) }
}

func byFrozenObject(_ dog: Dog, _ store: Store) async -> String { await store.take(Frozen(dog)) }

func byWrapper(_ dog: Dog, _ queue: DispatchQueue) {
    @ThreadSafe var dog = dog
    queue.async { [dog = $dog] in print(dog.wrappedValue?.name ?? "deleted") }
}

struct Job: Sendable {
    @ThreadSafe var dog: Dog?

    func start(_ queue: DispatchQueue) { queue.async { print(dog?.name ?? "deleted") } }
}

func byValues(_ dogs: Results<Dog>, _ queue: DispatchQueue) {
    let names = dogs.map(\.name)
    queue.async { print(names) }
}

@MainActor func onTheMainActor() async throws -> Int {
    let realm = try await Realm()
    return realm.objects(Dog.self).count
}

func observedOnAnotherQueue(_ dogs: Results<Dog>, _ store: Store) async {
    let token = dogs.observe(on: DispatchQueue(label: "observers")) { _ in }
    await store.end(token)
}
