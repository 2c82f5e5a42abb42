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
    @Test("N170 N40 who asks for one gets one; what happens meanwhile is one change")
    func one() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let asking = Asking<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.subscribe(asking)
        test.realm.refresh()
        #expect(asking.values.isEmpty)
        asking.ask(.max(1))
        test.realm.refresh()
        #expect(asking.values.map(\.text) == ["initial"])
        for id in 4...6 { try test.commit { test.realm.add(Node(id: id)) } }
        try test.commit { test.realm.object(ofType: Node.self, forPrimaryKey: 1)?.name = "a" }
        try test.elsewhere { realm in try realm.write { realm.add(Node(id: 7)) } }
        test.realm.refresh()
        #expect(asking.values.count == 1)
        asking.ask(.max(2))
        test.realm.refresh()
        #expect(asking.values.map(\.text) == ["initial", "[] [3, 4, 5, 6] [0]"])
        try test.commit { test.realm.add(Node(id: 8)) }
        try test.commit { test.realm.add(Node(id: 9)) }
        #expect(asking.values.map(\.text).last == "[] [7] []" && asking.values.count == 3)
    }

    @Test("N170 a turn is taken for what was missed when more is asked for, on any thread")
    func turn() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let asking = Asking<Results<Node>, any Error>()
        test.realm.objects(Node.self).collectionPublisher.subscribe(asking)
        asking.ask(.max(1))
        test.realm.refresh()
        try test.commit { test.realm.add(Node(id: 4)) }
        while !test.realm.context.hub.isIdle { test.scheduler.turn() }
        #expect(asking.values.count == 1)
        nonisolated(unsafe) let other = asking
        DispatchQueue.global().sync { other.ask(.max(1)) }
        #expect(test.scheduler.waitForTurn())
        test.scheduler.turn()
        #expect(asking.values.count == 2)
    }

    @Test("N170 what a subscriber asks for with each value counts")
    func more() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let asking = Asking<Node, any Error>()
        asking.more = .max(1)
        valuePublisher(nodes[0]).subscribe(asking)
        asking.ask(.max(1))
        for number in 1...3 { try test.commit { nodes[0].amount = Double(number) } }
        #expect(asking.values.count == 3)
        asking.more = .none
        for number in 4...6 { try test.commit { nodes[0].amount = Double(number) } }
        #expect(asking.values.count == 4)
    }

    @Test("N102 a write within a value tells nobody more than was asked for")
    func nested() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let asking = Asking<Node, any Error>()
        valuePublisher(nodes[0]).subscribe(asking)
        asking.ask(.max(1))
        asking.onValue = {
            do {
                try test.elsewhere { realm in
                    try realm.write { realm.object(ofType: Node.self, forPrimaryKey: 1)?.name = "remote" }
                }
                try test.realm.write { nodes[0].amount = 10 }
            } catch {
                Issue.record(error)
            }
        }
        try test.commit { nodes[0].amount = 1 }
        asking.onValue = nil
        test.realm.refresh()
        #expect(asking.values.count == 1)
        asking.ask(.max(1))
        test.realm.refresh()
        #expect(asking.values.count == 2)
    }

    @Test("N33 what was worked out before a pause keeps no version in use")
    func workedOut() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let token = test.realm.objects(Node.self).observe { _ in }
        test.realm.refresh()
        while !test.realm.context.hub.isIdle { test.scheduler.turn() }
        for id in 4...6 {
            try test.elsewhere { realm in try realm.write { realm.add(Node(id: id)) } }
            // The turn comes when all is worked out.
            #expect(test.scheduler.waitForTurn())
            token.pause()
            test.scheduler.turn()
            #expect(test.realm.objects(Node.self).count == id)
            #expect(test.realm.pinnedVersions.map(\.version) == [test.realm.version])
        }
        withExtendedLifetime(token) {}
    }

    @Test("a Realm's publisher tells where the Realm belongs, whoever asks")
    func realmElsewhere() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        while !test.realm.context.hub.isIdle { test.scheduler.turn() }
        let asking = Asking<Void, Never>()
        test.realm.objectWillChange.subscribe(asking)
        try test.commit { nodes[0].amount = 2 }
        while !test.realm.context.hub.isIdle { test.scheduler.turn() }
        nonisolated(unsafe) let other = asking
        let asked = DispatchSemaphore(value: 0)
        // A queue might be served by this thread.
        Thread.detachNewThread {
            other.ask(.max(1))
            asked.signal()
        }
        asked.wait()
        #expect(asking.values.isEmpty)
        #expect(test.scheduler.waitForTurn())
        test.scheduler.turn()
        #expect(asking.values.count == 1)
    }

    @Test("N170 a Realm tells once of what it showed while nothing was asked for")
    func realm() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let asking = Asking<Void, Never>()
        test.realm.objectWillChange.subscribe(asking)
        for number in 1...3 { try test.commit { nodes[0].amount = Double(number) } }
        #expect(asking.values.isEmpty)
        asking.ask(.max(2))
        #expect(asking.values.count == 1)
        for number in 1...3 { try test.commit { nodes[0].amount = Double(number) } }
        #expect(asking.values.count == 2)
    }
}
