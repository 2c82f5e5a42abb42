// Uses of live objects in the wrong isolation domain. Tests/generated-check.sh expects an error on each line that
// begins with 'func'.
import Dispatch
import Martlet

func a(_ dog: Dog, _ queue: DispatchQueue) { queue.async { print(dog.name) } }
func b(_ dog: Dog) { _Concurrency.Task { print(dog.name) } }
func c(_ dog: Dog) { _Concurrency.Task.detached { dog.name = "Rex" } }
func d(_ dogs: Results<Dog>) { _Concurrency.Task { @MainActor in print(dogs.count) } }
func e(_ dog: Dog, _ store: Store) async { await store.print(dog) }
func f(_ store: Store) async { print(await store.dog.name) }
func g(_ store: Store) async throws { print(try await store.dogs().count) }
func h(_ list: List<Dog>) { DispatchQueue.main.async { print(list.count) } }
func i(_ realm: Realm) { DispatchQueue.global().async { try? realm.write {} } }
func j(_ realm: Realm, _ store: Store) async { await store.use(realm) }
func n(_ address: Address) { _Concurrency.Task.detached { print(address.city) } }
func o(_ projection: PersonProjection) { _Concurrency.Task.detached { print(projection) } }
func p(_ dogs: Results<Dog>) async { await withTaskGroup { group in group.addTask { print(dogs.count) } } }
func q(_ dogs: Results<Dog>) async { async let count = dogs.count; _ = await count }
func r(_ dogs: Results<Dog>) { dogs.forEach { dog in _Concurrency.Task { print(dog.name) } } }
func s(_ map: Map<Double>) { DispatchQueue.concurrentPerform(iterations: 2) { _ in print(map.count) } }
func t(_ dog: Dog) -> @Sendable () -> String { { dog.name } }
func u(_ dog: Dog) -> any Sendable { dog }
func v(_ dog: Dog, _ store: Store) async { await store.take { dog.name } }

actor Store {
    let dog = Dog()
    func dogs() throws -> Results<Dog> { try Realm().objects(Dog.self) }
    func print(_ dog: Dog) {}
    func take(_ name: @Sendable () -> String) {}
    func use(_ realm: Realm) {}
}
