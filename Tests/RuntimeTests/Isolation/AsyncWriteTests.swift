import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

extension TestRealm {
    /// Runs the scheduler until no asynchronous write is pending.
    func finishAsyncWrites(_ location: SourceLocation = #_sourceLocation) {
        while realm.isPerformingAsynchronousWriteOperations {
            guard scheduler.waitForWork() else {
                Issue.record("no work was scheduled", sourceLocation: location)
                return
            }
            scheduler.run()
        }
    }

    var names: [String] { allDogs.map(\.name) }
}

@Suite("asynchronous writes")
struct AsyncWriteTests {
    @Test(
        "asynchronous writes run on the scheduler of the Realm in the order of the calls, each as its own version N132"
    )
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

    @Test("an observer that a callback adds is not called for writes that were committed before N132")
    func observerAddedInCallback() throws {
        let test = try TestRealm()
        var calls = (first: 0, added: 0)
        var tokens: [NotificationToken] = []
        tokens.append(
            test.realm.observe { _, realm in
                calls.first += 1
                if tokens.count == 1 { tokens.append(realm.observe { _, _ in calls.added += 1 }) }
            })
        test.realm.writeAsync { test.realm.add(Dog(name: "1")) }
        test.realm.writeAsync { test.realm.add(Dog(name: "2")) }
        test.finishAsyncWrites()
        #expect(calls == (2, 0))
        try test.realm.write { test.realm.add(Dog(name: "3")) }
        #expect(calls == (3, 1))
    }

    @Test("a cancelled write of a group does not affect the other writes N132")
    func group() throws {
        let test = try TestRealm()
        var outcomes: [String] = []
        func dog(_ name: String, _ number: Int) -> Dog { Dog(name: name, kennel: 1, number: number) }
        func end(_ name: String) -> ((any Error)?) -> Void {
            { outcomes.append("\(name): \(($0 as? Realm.Error)?.code.rawValue ?? "stored")") }
        }
        test.realm.writeAsync({ test.realm.add(dog("a", 1)) }, onComplete: end("a"))
        test.realm.writeAsync({ test.realm.add(dog("b", 2)) }, onComplete: end("b"))
        var lost: Dog?
        test.realm.beginAsyncWrite {
            lost = dog("lost", 3)
            if let lost { test.realm.add(lost) }
            test.realm.objects(Dog.self)[0].name = "cancelled"
            test.realm.cancelWrite()
            #expect(lost?.isInvalidated == true && test.names == ["a", "b"])
        }
        test.realm.writeAsync({ test.realm.add(dog("c", 3)) }, onComplete: end("c"))
        test.finishAsyncWrites()
        #expect(test.names == ["a", "b", "c"])
        #expect(outcomes == ["a: stored", "b: stored", "c: stored"])
        #expect(try onOtherThread(test) { $0.objects(Dog.self).map(\.name) } == ["a", "b", "c"])
    }

    @Test("observers receive the changes of grouped writes, and each write has its own version N132")
    func groupChanges() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        let (dogs, object) = (Log(test.allDogs), Log(object: rex))
        test.deliverAll()
        let before = test.realm.context.version
        test.realm.writeAsync { rex.name = "Bo" }
        test.realm.writeAsync { test.realm.add(Dog(name: "Max")) }
        test.realm.writeAsync { rex.name = "Ace" }
        test.finishAsyncWrites()
        test.deliverAll()
        #expect(dogs.take() == ["initial", "[] [1] [0]"])
        #expect(object.take() == ["name: Rex → Ace"])
        let context = test.realm.context
        let changes = try context.coordinator.changes(after: before + 1, through: before + 2, context.handle)
        #expect(changes?.changes.tables.values.map { Array($0.inserted) } == [[rex._key + 1]])
    }

    @Test("a block can enqueue a write, which runs after the writes that already wait N133")
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

    @Test("a synchronous write runs before queued writes; a queued write waits for an open write N134")
    func synchronous() throws {
        let test = try TestRealm()
        test.realm.writeAsync { test.realm.add(Dog(name: "queued")) }
        try test.dogs("first")
        test.realm.writeAsync { test.realm.add(Dog(name: "later")) }
        try test.realm.beginWrite()
        while test.scheduler.run() > 0 {}
        #expect(test.names == ["first"])
        test.realm.add(Dog(name: "second"))
        try test.realm.commitWrite()
        test.finishAsyncWrites()
        #expect(test.names == ["first", "second", "queued", "later"])
    }

    @Test("a synchronous write runs before a queued write that waits in the background for another thread N134")
    func contention() throws {
        let test = try TestRealm()
        let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let done = DispatchSemaphore(value: 0)
        let configuration = withoutScheduler(test.configuration)
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
        test.scheduler.run()
        #expect(test.names.isEmpty)
        end.signal()
        try test.realm.write { test.realm.add(Dog(name: "first")) }
        test.finishAsyncWrites()
        #expect(test.names == ["elsewhere", "first", "queued"])
        done.wait()
    }

    @Test("while the scheduler of a Realm is idle, its queued write does not block other writers N134")
    func idleScheduler() throws {
        let test = try TestRealm()
        let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let configuration = withoutScheduler(test.configuration)
        Thread.detachNewThread {
            let realm = try? Realm(configuration: configuration)
            try? realm?.write {
                begun.signal()
                end.wait()
            }
        }
        begun.wait()
        test.realm.writeAsync { test.realm.add(Dog(name: "queued")) }
        test.scheduler.run()
        end.signal()
        #expect(test.scheduler.waitForWork())
        // The write lock is acquired for this Realm now. The lock is released after 100 ms, because the scheduler does
        // not run.
        try test.onNewThread { realm in try realm.write { realm.add(Dog(name: "elsewhere")) } }
        test.finishAsyncWrites()
        #expect(test.names == ["elsewhere", "queued"])
    }

    @Test("a write that its block does not commit is rolled back, and a cancelled block never runs N135")
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

    @Test("code after a grouped commit in the same block can use the Realm N135")
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
            // The first of these calls needs a durable version, and therefore commits the group.
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
        "a block can begin a synchronous write after its commit, and can cancel the write of 'writeAsync' N134 N135"
    )
    func writeAfterCommit() throws {
        let test = try TestRealm()
        var outcomes: [String] = []
        test.realm.beginAsyncWrite {
            test.realm.add(Dog(name: "1"))
            test.realm.commitAsyncWrite(allowGrouping: true) { outcomes.append("1: \($0 == nil)") }
            #expect((try? test.realm.write { test.realm.add(Dog(name: "2")) }) != nil)
        }
        test.realm.writeAsync {
            test.realm.add(Dog(name: "cancelled"))
            test.realm.cancelWrite()
        } onComplete: {
            outcomes.append("2: \($0 == nil)")
        }
        test.realm.writeAsync({ test.realm.add(Dog(name: "3")) }, onComplete: { outcomes.append("3: \($0 == nil)") })
        test.finishAsyncWrites()
        #expect(test.names == ["1", "2", "3"] && outcomes == ["1: true", "2: true", "3: true"])
    }

    @Test("'commitAsyncWrite' can commit a synchronous write, and calls its completion handler later O4")
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

    @Test("pending asynchronous writes keep the Realm alive N137")
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
        while context != nil, scheduler.count > 0 { scheduler.run() }
        #expect(count == 1 && context == nil)
        withExtendedLifetime(test) {}
    }

    @Test("asynchronous writes notify observers like local commits N36")
    func notifies() throws {
        let test = try TestRealm()
        let (realm, dogs) = (Log(test.realm), Log(test.allDogs))
        test.deliverAll()
        test.realm.autorefresh = false
        test.realm.writeAsync { test.realm.add(Dog(name: "Rex")) }
        test.scheduler.run()
        #expect(realm.take() == ["didChange"])
        test.finishAsyncWrites()
        test.deliverAll()
        #expect(dogs.take() == ["initial", "[] [0] []"])
        test.realm.beginAsyncWrite { test.realm.add(Dog(name: "cancelled")) }
        test.finishAsyncWrites()
        test.deliverAll()
        #expect(dogs.take().isEmpty && realm.take().isEmpty)
    }

    @Test("writeAsync is allowed in a callback N110")
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
        test.deliverAll()
        #expect(log == ["initial", "[] [0] []"] && test.names == ["Rex"])
        withExtendedLifetime(token) {}
    }

    @Test("asynchronous and synchronous writes of many Realms are all committed N132 N134")
    func stress() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        try test.realm.write { rex.age = 0 }
        let id = rex.id
        let configuration = withoutScheduler(test.configuration)
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
