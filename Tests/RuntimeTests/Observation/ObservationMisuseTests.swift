import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Registrations, writes and reads that trap, and the messages with which they trap.
@Suite("misuse of observation")
struct ObservationMisuseTests {
    @Test("registering on the wrong thread traps N3")
    func wrongThread() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            nonisolated(unsafe) let dogs = test.allDogs
            try test.onNewThread { _ in _ = dogs.observe { _ in } }
        }
        expect(result, "a collection of 'Dog' was used on", "belongs to")
    }

    @Test("observing an unmanaged object or collection traps N6")
    func unmanaged() async {
        let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Dog(name: "Rex").observe(keyPaths: ["name"]) { _ in }
        }
        expect(object, "an unmanaged 'Dog' was observed")
        let list = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Dog(name: "Rex").siblings.observe(keyPaths: ["name"]) { _ in }
        }
        expect(list, "an unmanaged 'List<Dog>' was observed")
        let links = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Person(firstName: "Ada").dogs.observe { _ in }
        }
        expect(links, "an unmanaged 'LinkingObjects<Dog>' was observed")
    }

    @Test("observing in a read-only Realm traps N7")
    func readOnly() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).realm")
            do { _ = try Realm(configuration: .init(fileURL: url)) }
            let realm = try Realm(configuration: .init(fileURL: url, readOnly: true))
            _ = realm.objects(Dog.self).observe { _ in }
        }
        expect(result, "opened with 'readOnly' was observed")
    }

    @Test("observing on a thread without a run loop traps if no queue is given N7")
    func noRunLoop() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try TestRealm().onNewThread { _ = $0.objects(Dog.self).observe { _ in } }
        }
        expect(result, "a collection of 'Dog' was observed on a thread that runs no run loop", "'on:'")
    }

    @Test("observing a deleted object traps N8")
    func deleted() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let dog = try test.dogs("Rex")[0]
            try test.realm.write { test.realm.delete(dog) }
            _ = dog.observe { _ in }
        }
        expect(result, "the 'Dog'", "was deleted")
    }

    @Test("an unknown key path traps, and the message names the class and the component N9")
    func unknownKeyPath() async {
        let collection = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().allDogs.observe(keyPaths: ["owner.address.town"]) { _ in }
        }
        expect(collection, "'owner.address.town' cannot be observed: 'Address' has no property 'town'")
        let object = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().dogs("Rex")[0].observe(keyPaths: ["nam"]) { _ in }
        }
        expect(object, "'nam' cannot be observed: 'Dog' has no property 'nam'")
        let star = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().allDogs.observe(keyPaths: ["name.*"]) { _ in }
        }
        expect(star, "'Dog.name' has no property '*'")
        let empty = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try TestRealm().allDogs.observe(keyPaths: [""]) { _ in }
        }
        expect(empty, "'Dog' has no property ''")
    }

    @Test("registering inside a write that has changed something traps N10")
    func insideWrite() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write {
                test.realm.add(Dog(name: "Rex"))
                _ = test.allDogs.observe { _ in }
            }
        }
        expect(result, "inside a write transaction that has changed something")
    }

    @Test("beginning a write in a callback that beginWrite calls traps N104")
    func writeInside() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let token = test.allDogs.observe { _ in try? test.realm.beginWrite() }
            try test.realm.write {}
            withExtendedLifetime(token) {}
        }
        expect(result, "a write transaction was begun inside another one")
    }

    @Test("beginning a write traps in a callback that is called because another callback begins a write N103 N104")
    func writeInsideAnothersWrite() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let tokens = (0..<2).map { _ in test.allDogs.observe { _ in try? test.realm.write {} } }
            test.realm.refresh()
            withExtendedLifetime(tokens) {}
        }
        expect(result, "a write transaction was begun inside another one", "isInWriteTransaction", "writeAsync")
    }

    @Test("reading a list of an invalidated Realm traps K23 N32")
    func listOfInvalidatedRealm() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let siblings = try test.dogs("Rex")[0].siblings
            test.realm.invalidate()
            _ = siblings.count
        }
        expect(result, "that owns 'siblings'", "or its Realm was invalidated")
    }

    @Test("withoutNotifying with a token of another Realm, or of an observer on another queue, traps N114")
    func foreignToken() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let other = try TestRealm()
            let token = other.allDogs.observe { _ in }
            try test.realm.write(withoutNotifying: [token]) { test.realm.add(Dog(name: "Rex")) }
        }
        expect(result, "'withoutNotifying' was called with a token of another Realm")
        let queued = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let token = test.allDogs.observe(on: DispatchQueue(label: "other")) { _ in }
            try test.realm.write(withoutNotifying: [token]) {}
        }
        expect(queued, "'withoutNotifying' was called with a token of another Realm")
    }

    @Test("commitWrite(withoutNotifying:) outside of a write traps N114")
    func outsideWrite() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            let token = test.allDogs.observe { _ in }
            try test.realm.commitWrite(withoutNotifying: [token])
        }
        expect(result, "a write transaction was committed although none is open")
    }

    @Test("observing a key path that a projection does not contain traps N122")
    func unknownLabel() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let test = try TestRealm()
            try test.realm.write { test.realm.add(Person(firstName: "Ada")) }
            _ = try #require(test.realm.objects(PersonProjection.self).first).observe(keyPaths: ["lastName"]) { _ in }
        }
        expect(result, "'PersonProjection' has no label of that name", "'homeCity'")
    }

    private func expect(_ result: ExitTest.Result?, _ parts: String..., at location: SourceLocation = #_sourceLocation)
    {
        let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        for part in parts { #expect(text.contains(part), sourceLocation: location) }
    }
}
