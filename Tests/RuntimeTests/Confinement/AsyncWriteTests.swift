import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

extension TestRealm {
    /// Takes turns until no asynchronous write waits any more.
    func finishAsyncWrites(_ location: SourceLocation = #_sourceLocation) {
        while realm.isPerformingAsynchronousWriteOperations {
            guard scheduler.waitForTurn() else {
                Issue.record("no turn came", sourceLocation: location)
                return
            }
            scheduler.turn()
        }
    }

    var names: [String] { allDogs.map(\.name) }
}

@Suite("asynchronous writes")
struct AsyncWriteTests {
    @Test("N132 first in, first out, each block in a write of its own, on the Realm's scheduler")
    func order() throws {
        let test = try TestRealm()
        let log = Log(test.realm)
        let version = test.realm.context.version
        var done: [String] = []
        for number in 1...3 {
            test.realm.writeAsync {
                #expect(test.realm.isInWriteTransaction)
                #expect(test.allDogs.count == number - 1)
                test.realm.add(Dog(name: "\(number)"))
            } onComplete: { error in
                #expect(error == nil && !test.realm.isInWriteTransaction)
                done.append("\(number)")
            }
        }
        #expect(test.names.isEmpty && test.realm.isPerformingAsynchronousWriteOperations)
        test.finishAsyncWrites()
        #expect(test.names == ["1", "2", "3"] && done == ["1", "2", "3"])
        #expect(test.realm.context.version == version + 3)
        #expect(log.take().filter { $0 == "didChange" }.count == 3)
        #expect(try onOtherThread(test) { $0.objects(Dog.self).count } == 3)
    }

    @Test("N132 writes in one group that fail or are cancelled take nothing of the others with them")
    func group() throws {
        let test = try TestRealm()
        var ends: [String] = []
        func dog(_ name: String, _ number: Int) -> Dog { Dog(name: name, kennel: 1, number: number) }
        func end(_ name: String) -> ((any Error)?) -> Void {
            { ends.append("\(name): \(($0 as? Realm.Error)?.code.rawValue ?? "stored")") }
        }
        test.realm.writeAsync({ test.realm.add(dog("a", 1)) }, onComplete: end("a"))
        test.realm.writeAsync({ test.realm.add(dog("b", 2)) }, onComplete: end("b"))
        var lost: Dog?
        test.realm.beginAsyncWrite {
            lost = dog("lost", 3)
            if let lost { test.realm.add(lost) }
            test.realm.objects(Dog.self)[0].name = "nobody"
            test.realm.cancelWrite()
            #expect(lost?.isInvalidated == true && test.names == ["a", "b"])
        }
        test.realm.writeAsync({ test.realm.add(dog("c", 3)) }, onComplete: end("c"))
        test.finishAsyncWrites()
        #expect(test.names == ["a", "b", "c"])
        #expect(ends == ["a: stored", "b: stored", "c: stored"])
        #expect(try onOtherThread(test) { $0.objects(Dog.self).map(\.name) } == ["a", "b", "c"])
    }

    @Test("N132 changes of grouped writes reach observers here and elsewhere, each with its own version")
    func groupChanges() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        let (dogs, object) = (Log(test.allDogs), Log(object: rex))
        test.settle()
        let before = test.realm.context.version
        test.realm.writeAsync { rex.name = "Bo" }
        test.realm.writeAsync { test.realm.add(Dog(name: "Max")) }
        test.realm.writeAsync { rex.name = "Ace" }
        test.finishAsyncWrites()
        test.settle()
        #expect(dogs.take() == ["initial", "[] [1] [0]"])
        #expect(object.take() == ["name: Rex → Ace"])
        let context = test.realm.context
        let changes = try context.coordinator.changes(after: before + 1, through: before + 2, context.handle)
        #expect(changes?.changes.tables.values.map { Array($0.inserted) } == [[rex._key + 1]])
    }

    @Test("N133 a block may enqueue more, which run after those that wait")
    func more() throws {
        let test = try TestRealm()
        test.realm.writeAsync {
            test.realm.add(Dog(name: "1"))
            test.realm.writeAsync { test.realm.add(Dog(name: "3")) }
        }
        test.realm.writeAsync { test.realm.add(Dog(name: "2")) }
        test.finishAsyncWrites()
        #expect(test.names == ["1", "2", "3"])
    }

    @Test("N134 a synchronous write runs before queued ones; a queued one waits for an open one")
    func synchronous() throws {
        let test = try TestRealm()
        test.realm.writeAsync { test.realm.add(Dog(name: "queued")) }
        try test.dogs("first")
        test.realm.writeAsync { test.realm.add(Dog(name: "later")) }
        try test.realm.beginWrite()
        while test.scheduler.turn() > 0 {}
        #expect(test.names == ["first"])
        test.realm.add(Dog(name: "second"))
        try test.realm.commitWrite()
        test.finishAsyncWrites()
        #expect(test.names == ["first", "second", "queued", "later"])
    }

    @Test("N134 a write that waits for another thread in the background keeps no synchronous one from going first")
    func contention() throws {
        let test = try TestRealm()
        let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let done = DispatchSemaphore(value: 0)
        let configuration = plain(test.configuration)
        Thread.detachNewThread {
            if let realm = try? Realm(configuration: configuration) {
                try? realm.write {
                    realm.add(Dog(name: "elsewhere"))
                    begun.signal()
                    end.wait()
                }
            }
            done.signal()
        }
        begun.wait()
        test.realm.writeAsync { test.realm.add(Dog(name: "queued")) }
        test.scheduler.turn()
        #expect(test.names.isEmpty)
        end.signal()
        try test.realm.write { test.realm.add(Dog(name: "first")) }
        test.finishAsyncWrites()
        #expect(test.names == ["elsewhere", "first", "queued"])
        done.wait()
    }

    @Test("N134 a Realm that takes no turn locks nobody out, though its write was next")
    func noTurn() throws {
        let test = try TestRealm()
        let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let configuration = plain(test.configuration)
        Thread.detachNewThread {
            let realm = try? Realm(configuration: configuration)
            try? realm?.write {
                begun.signal()
                end.wait()
            }
        }
        begun.wait()
        test.realm.writeAsync { test.realm.add(Dog(name: "queued")) }
        test.scheduler.turn()
        end.signal()
        #expect(test.scheduler.waitForTurn())
        // The write lock is here now, and no turn is taken.
        try test.elsewhere { realm in try realm.write { realm.add(Dog(name: "elsewhere")) } }
        test.finishAsyncWrites()
        #expect(test.names == ["elsewhere", "queued"])
    }

    @Test("N135 a block that does not commit rolls back, and one that was cancelled before never runs")
    func uncommitted() throws {
        let test = try TestRealm()
        var completions = 0
        test.realm.beginAsyncWrite { test.realm.add(Dog(name: "rolled back")) }
        test.realm.beginAsyncWrite {
            test.realm.add(Dog(name: "committed"))
            test.realm.commitAsyncWrite { error in
                #expect(error == nil)
                completions += 1
            }
            #expect(!test.realm.isInWriteTransaction && completions == 0)
        }
        let id = test.realm.beginAsyncWrite { Issue.record("a cancelled block ran") }
        try test.realm.cancelAsyncWrite(id)
        test.finishAsyncWrites()
        #expect(test.names == ["committed"] && completions == 1)
        #expect(throws: Realm.Error.self) { try test.realm.cancelAsyncWrite(id) }
    }

    @Test("N135 what follows a grouped commit in its block sees a whole Realm")
    func afterCommit() throws {
        let test = try TestRealm()
        var completions: [String] = []
        test.realm.beginAsyncWrite {
            test.realm.add(Dog(name: "1"))
            test.realm.commitAsyncWrite(allowGrouping: true) { _ in completions.append("1") }
            #expect(!test.realm.isInWriteTransaction && test.names == ["1"])
        }
        test.realm.beginAsyncWrite {
            test.realm.add(Dog(name: "2"))
            test.realm.commitAsyncWrite(allowGrouping: true) { _ in completions.append("2") }
            // These need something durable, and so make it.
            #expect(!test.realm.refresh())
            #expect(test.realm.freeze().objects(Dog.self).count == 2)
            #expect((try? onOtherThread(test) { $0.objects(Dog.self).count }) == 2)
            #expect((try? test.realm.write { test.realm.add(Dog(name: "3")) }) != nil)
        }
        test.realm.beginAsyncWrite {
            test.realm.add(Dog(name: "4"))
            test.realm.commitAsyncWrite(allowGrouping: true) { _ in completions.append("4") }
        }
        test.finishAsyncWrites()
        #expect(test.names == ["1", "2", "3", "4"] && completions == ["1", "2", "4"])
    }

    @Test(
        "N134 N135 a block that has sealed its write may begin a synchronous one, or end the write of 'writeAsync' itself"
    )
    func writeAfterSeal() throws {
        let test = try TestRealm()
        var ends: [String] = []
        test.realm.beginAsyncWrite {
            test.realm.add(Dog(name: "1"))
            test.realm.commitAsyncWrite(allowGrouping: true) { ends.append("1: \($0 == nil)") }
            #expect((try? test.realm.write { test.realm.add(Dog(name: "2")) }) != nil)
        }
        test.realm.writeAsync {
            test.realm.add(Dog(name: "nobody"))
            test.realm.cancelWrite()
        } onComplete: {
            ends.append("2: \($0 == nil)")
        }
        test.realm.writeAsync({ test.realm.add(Dog(name: "3")) }, onComplete: { ends.append("3: \($0 == nil)") })
        test.finishAsyncWrites()
        #expect(test.names == ["1", "2", "3"] && ends == ["1: true", "2: true", "3: true"])
    }

    @Test("O4 a synchronous write may be committed with 'commitAsyncWrite', and tells on a later turn")
    func commitOutside() throws {
        let test = try TestRealm()
        var isDone = false
        try test.realm.beginWrite()
        test.realm.add(Dog(name: "Rex"))
        test.realm.commitAsyncWrite { isDone = $0 == nil }
        #expect(!isDone && test.names == ["Rex"])
        test.finishAsyncWrites()
        #expect(isDone)
    }

    @Test("N137 pending work keeps the Realm alive")
    func keepsAlive() throws {
        let test = try TestRealm()
        let scheduler = ManualScheduler()
        var configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString)
        configuration.scheduler = scheduler
        weak var context: RealmContext?
        var count = 0
        do {
            let realm = try Realm(configuration: configuration)
            context = realm.context
            realm.writeAsync { [weak context] in
                context.map { Realm($0).add(Dog(name: "Rex")) }
            } onComplete: { [weak context] _ in
                count = context.map { Realm($0).objects(Dog.self).count } ?? -1
            }
        }
        #expect(context != nil)
        while context != nil, scheduler.count > 0 { scheduler.turn() }
        #expect(count == 1 && context == nil)
        withExtendedLifetime(test) {}
    }

    @Test("N36 asynchronous writes notify as local commits do")
    func notifies() throws {
        let test = try TestRealm()
        let (realm, dogs) = (Log(test.realm), Log(test.allDogs))
        test.settle()
        test.realm.autorefresh = false
        test.realm.writeAsync { test.realm.add(Dog(name: "Rex")) }
        test.scheduler.turn()
        #expect(realm.take() == ["didChange"])
        test.finishAsyncWrites()
        test.settle()
        #expect(dogs.take() == ["initial", "[] [0] []"])
        test.realm.beginAsyncWrite { test.realm.add(Dog(name: "nobody")) }
        test.finishAsyncWrites()
        test.settle()
        #expect(dogs.take().isEmpty && realm.take().isEmpty)
    }

    @Test("N110 writeAsync from a callback is always legal")
    func fromCallback() throws {
        let test = try TestRealm()
        var log: [String] = []
        let token = test.allDogs.observe { change in
            log.append(text(change))
            if case .initial = change { test.realm.writeAsync { test.realm.add(Dog(name: "Rex")) } }
        }
        try test.realm.beginWrite()
        #expect(log == ["initial"])
        try test.realm.commitWrite()
        test.finishAsyncWrites()
        test.settle()
        #expect(log == ["initial", "[] [0] []"] && test.names == ["Rex"])
        withExtendedLifetime(token) {}
    }

    @Test("N132 N134 many Realms that write asynchronously and synchronously lose nothing")
    func stress() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        try test.realm.write { rex.age = 0 }
        let id = rex.id
        let configuration = plain(test.configuration)
        let group = DispatchGroup()
        for number in 0..<4 {
            let queue = DispatchQueue(label: "writer \(number)")
            for round in 0..<25 {
                group.enter()
                queue.async {
                    guard let realm = try? Realm(configuration: configuration, queue: queue) else { return }
                    let add = {
                        let dog = realm.object(ofType: Dog.self, forPrimaryKey: id)
                        dog?.age = (dog?.age ?? 0) + 1
                    }
                    if round % 5 == 4 {
                        try? realm.write(add)
                        group.leave()
                    } else {
                        realm.writeAsync(add) { _ in group.leave() }
                    }
                }
            }
        }
        #expect(group.wait(timeout: .now() + 120) == .success)
        test.realm.refresh()
        #expect(rex.age == 100)
    }
}
