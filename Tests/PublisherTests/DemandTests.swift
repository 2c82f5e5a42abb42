import ConformanceModels
import Foundation
import MartletCombine
import MartletTestSupport
import Testing

@testable import Martlet

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

@Suite("publishers: demand")
struct DemandTests {
    @Test("a subscriber gets as many values as it requests; changes before the next request are merged N170 N40")
    func one() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let subscriber = DemandSubscriber<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.subscribe(subscriber)
        test.realm.refresh()
        #expect(subscriber.values.isEmpty)
        subscriber.request(.max(1))
        test.realm.refresh()
        #expect(subscriber.values.map(\.text) == ["initial"])
        for id in 4...6 { try test.commit { test.realm.add(Node(id: id)) } }
        try test.commit { test.realm.object(ofType: Node.self, forPrimaryKey: 1)?.name = "a" }
        try test.onNewThread { realm in try realm.write { realm.add(Node(id: 7)) } }
        test.realm.refresh()
        #expect(subscriber.values.count == 1)
        subscriber.request(.max(2))
        test.realm.refresh()
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3, 4, 5, 6] [0]"])
        try test.commit { test.realm.add(Node(id: 8)) }
        try test.commit { test.realm.add(Node(id: 9)) }
        #expect(subscriber.values.map(\.text).last == "[] [7] []" && subscriber.values.count == 3)
    }

    @Test("a request on any thread schedules the delivery of missed changes N170")
    func scheduling() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let subscriber = DemandSubscriber<Results<Node>, any Error>()
        test.realm.objects(Node.self).collectionPublisher.subscribe(subscriber)
        subscriber.request(.max(1))
        test.realm.refresh()
        try test.commit { test.realm.add(Node(id: 4)) }
        while !test.realm.context.hub.isIdle { test.scheduler.run() }
        #expect(subscriber.values.count == 1)
        nonisolated(unsafe) let other = subscriber
        DispatchQueue.global().sync { other.request(.max(1)) }
        #expect(test.scheduler.waitForWork())
        test.scheduler.run()
        #expect(subscriber.values.count == 2)
    }

    @Test("the demand that a subscriber returns for a value is added to its remaining demand N170")
    func more() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let subscriber = DemandSubscriber<Node, any Error>()
        subscriber.demandPerValue = .max(1)
        valuePublisher(nodes[0]).subscribe(subscriber)
        subscriber.request(.max(1))
        for number in 1...3 { try test.commit { nodes[0].amount = Double(number) } }
        #expect(subscriber.values.count == 3)
        subscriber.demandPerValue = .none
        for number in 4...6 { try test.commit { nodes[0].amount = Double(number) } }
        #expect(subscriber.values.count == 4)
    }

    @Test("a write in the callback of a subscriber delivers no more values than the subscriber requested N102")
    func nested() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let subscriber = DemandSubscriber<Node, any Error>()
        valuePublisher(nodes[0]).subscribe(subscriber)
        subscriber.request(.max(1))
        subscriber.onValue = {
            do {
                try test.onNewThread { realm in
                    try realm.write { realm.object(ofType: Node.self, forPrimaryKey: 1)?.name = "remote" }
                }
                try test.realm.write { nodes[0].amount = 10 }
            } catch {
                Issue.record(error)
            }
        }
        try test.commit { nodes[0].amount = 1 }
        subscriber.onValue = nil
        test.realm.refresh()
        #expect(subscriber.values.count == 1)
        subscriber.request(.max(1))
        test.realm.refresh()
        #expect(subscriber.values.count == 2)
    }

    @Test("pausing an observer releases the version of a change set that was computed before the pause N33")
    func computedBeforePause() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let token = test.realm.objects(Node.self).observe { _ in }
        test.realm.refresh()
        while !test.realm.context.hub.isIdle { test.scheduler.run() }
        for id in 4...6 {
            try test.onNewThread { realm in try realm.write { realm.add(Node(id: id)) } }
            // The delivery is scheduled as soon as the change set is computed.
            #expect(test.scheduler.waitForWork())
            token.pause()
            test.scheduler.run()
            #expect(test.realm.objects(Node.self).count == id)
            // A computation in the background may still pin a version for a short time.
            test.waitForSinglePin()
            #expect(test.realm.pinnedVersions.map(\.version) == [test.realm.version])
        }
        withExtendedLifetime(token) {}
    }

    @Test("the publisher of a Realm delivers in the isolation of the Realm, even if another thread requests values")
    func requestOnOtherThread() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        while !test.realm.context.hub.isIdle { test.scheduler.run() }
        let subscriber = DemandSubscriber<Void, Never>()
        test.realm.objectWillChange.subscribe(subscriber)
        try test.commit { nodes[0].amount = 2 }
        while !test.realm.context.hub.isIdle { test.scheduler.run() }
        nonisolated(unsafe) let other = subscriber
        let requested = DispatchSemaphore(value: 0)
        // The test starts a thread, because a queue may run a block on the thread of the test.
        Thread.detachNewThread {
            other.request(.max(1))
            requested.signal()
        }
        requested.wait()
        #expect(subscriber.values.isEmpty)
        #expect(test.scheduler.waitForWork())
        test.scheduler.run()
        #expect(subscriber.values.count == 1)
    }

    @Test("changes of a Realm while its subscriber has no demand cause one value at the next request N170")
    func realm() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let subscriber = DemandSubscriber<Void, Never>()
        test.realm.objectWillChange.subscribe(subscriber)
        for number in 1...3 { try test.commit { nodes[0].amount = Double(number) } }
        #expect(subscriber.values.isEmpty)
        subscriber.request(.max(2))
        #expect(subscriber.values.count == 1)
        for number in 1...3 { try test.commit { nodes[0].amount = Double(number) } }
        #expect(subscriber.values.count == 2)
    }
}
