import ConformanceModels
import Foundation
import MartletCombine
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

@Suite("publishers: silent writes while the subscriber requests no values")
struct SilentWritePublisherTests {
    private final class Screen { var token: NotificationToken? }

    /// Adds a node for each id, each in its own write. If `screen` is not nil, the writes do not notify its token.
    private func add(_ ids: ClosedRange<Int>, _ test: TestRealm, silencing screen: Screen? = nil) throws {
        let tokens = [screen?.token].compactMap { $0 }
        for id in ids { try test.realm.write(withoutNotifying: tokens) { test.realm.add(Node(id: id)) } }
    }

    @Test("a silent write is not reported later, and pins no version N111 N112")
    func results() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let screen = Screen()
        let subscriber = DemandSubscriber<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(subscriber)
        subscriber.request(.max(1))
        test.realm.refresh()
        try add(4...4, test)
        try add(5...104, test, silencing: screen)
        while !test.realm.context.hub.isIdle { test.scheduler.run() }
        #expect(test.realm.pinnedVersions.map(\.version) == [test.realm.version])
        subscriber.request(.max(1))
        test.realm.refresh()
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3] []"])
        try test.commit { test.realm.object(ofType: Node.self, forPrimaryKey: 104)?.name = "x" }
        subscriber.request(.max(1))
        test.realm.refresh()
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3] []", "[] [] [103]"])
    }

    @Test("changes between two silent writes are merged into one value, and requests get the values in order N111 N40")
    func between() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let screen = Screen()
        let subscriber = DemandSubscriber<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(subscriber)
        subscriber.request(.max(1))
        test.realm.refresh()
        try add(4...5, test)
        try add(6...6, test, silencing: screen)
        try add(7...8, test)
        try add(9...10, test, silencing: screen)
        try add(11...11, test)
        #expect(subscriber.values.count == 1)
        subscriber.request(.max(1))
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3, 4] []"])
        subscriber.request(.max(5))
        test.realm.refresh()
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3, 4] []", "[] [6, 7] []", "[] [10] []"])
    }

    @Test("a silent write during the delivery of the last requested value is not reported later N111")
    func sameDelivery() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let screen = Screen()
        var shouldWrite = false
        let first = test.realm.objects(Node.self).observe { _ in
            guard shouldWrite else { return }
            shouldWrite = false
            do {
                try self.add(5...5, test)
                try self.add(6...7, test, silencing: screen)
            } catch {
                Issue.record(error)
            }
        }
        let subscriber = DemandSubscriber<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(subscriber)
        subscriber.request(.max(1))
        test.realm.refresh()
        subscriber.request(.max(1))
        shouldWrite = true
        try test.onNewThread { realm in try realm.write { realm.add(Node(id: 4)) } }
        test.realm.refresh()
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3] []"])
        try add(8...8, test)
        subscriber.request(.max(2))
        test.realm.refresh()
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3] []", "[] [4] []", "[] [7] []"])
        withExtendedLifetime(first) {}
    }

    @Test("after a silent write, an object change has the silently written values as old values N111 N71")
    func values() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let screen = Screen()
        let subscriber = DemandSubscriber<ObjectChange<Node>, Never>()
        changesetPublisher(nodes[0]).saveToken(on: screen, at: \.token).subscribe(subscriber)
        for name in ["a", "b", "c", "d"] {
            let tokens = name == "b" ? [try #require(screen.token)] : []
            try test.realm.write(withoutNotifying: tokens) { nodes[0].name = name }
        }
        subscriber.request(.max(5))
        test.realm.refresh()
        let names = subscriber.values.map { change in
            guard case .change(_, let properties) = change else { return "" }
            return properties.map { "\($0.oldValue ?? "") \($0.newValue ?? "")" }.joined(separator: ",")
        }
        #expect(names == ["n1 a", "b d"])
    }

    @Test("a deletion before a silent write is reported once, at the next request N75 N111")
    func end() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let screen = Screen()
        let subscriber = DemandSubscriber<ObjectChange<Node>, Never>()
        changesetPublisher(nodes[2]).saveToken(on: screen, at: \.token).subscribe(subscriber)
        try test.realm.write { test.realm.delete(nodes[2]) }
        try add(4...5, test, silencing: screen)
        #expect(subscriber.values.isEmpty && !subscriber.isFinished)
        subscriber.request(.max(2))
        test.realm.refresh()
        #expect(subscriber.values.count == 1 && subscriber.isFinished)
        guard case .deleted? = subscriber.values.last else {
            Issue.record("the deletion was not reported")
            return
        }
    }

    @Test("a request inside a silent write delivers only the changes before that write N111 N112")
    func requestInside() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let screen = Screen()
        let subscriber = DemandSubscriber<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(subscriber)
        subscriber.request(.max(1))
        test.realm.refresh()
        try add(4...4, test)
        try test.realm.write(withoutNotifying: [try #require(screen.token)]) {
            test.realm.add(Node(id: 5))
            subscriber.request(.max(1))
        }
        test.realm.refresh()
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3] []"])
        try add(6...6, test)
        subscriber.request(.max(1))
        test.realm.refresh()
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3] []", "[] [5] []"])
    }

    /// The reason why the subscriber gets the changes before a silent write only after this write.
    enum Cause: CaseIterable { case noDemand, changeInCallback }

    @Test(
        "earlier silent writes are not reported, even if the subscriber makes a silent write in its callback N111",
        arguments: Cause.allCases)
    func writesInValue(_ cause: Cause) throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let screen = Screen()
        var (shouldWrite, shouldChange) = (false, false)
        let tokens = [
            test.realm.observe { _, _ in
                guard shouldWrite else { return }
                (shouldWrite, shouldChange) = (false, true)
                #expect(throws: Never.self) { try self.add(5...5, test, silencing: screen) }
            },
            test.realm.objects(Node.self).observe { _ in
                guard shouldChange else { return }
                shouldChange = false
                // This observer runs while the silent write begins. Its change postpones the call of the subscriber.
                nodes[0].name = "x"
            },
        ]
        let subscriber = DemandSubscriber<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(subscriber)
        subscriber.request(.max(1))
        test.realm.refresh()
        subscriber.onValue = { #expect(throws: Never.self) { try self.add(6...6, test, silencing: screen) } }
        switch cause {
        case .noDemand:
            try add(4...4, test)
            try add(5...5, test, silencing: screen)
            subscriber.request(.max(1))
        case .changeInCallback:
            subscriber.request(.max(1))
            shouldWrite = true
            try test.onNewThread { realm in try realm.write { realm.add(Node(id: 4)) } }
        }
        test.realm.refresh()
        subscriber.onValue = nil
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3] []"])
        #expect(test.realm.objects(Node.self).count == 6)
        try add(7...7, test)
        subscriber.request(.max(5))
        test.realm.refresh()
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3] []", "[] [6] []"])
        withExtendedLifetime(tokens) {}
    }

    @Test("changes that a subscriber makes while a silent write begins are silent N111 N104")
    func addsInValue() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let screen = Screen()
        var shouldWrite = false
        let first = test.realm.objects(Node.self).observe { _ in
            guard shouldWrite else { return }
            shouldWrite = false
            #expect(throws: Never.self) { try self.add(5...5, test, silencing: screen) }
        }
        let subscriber = DemandSubscriber<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(subscriber)
        subscriber.request(.max(1))
        test.realm.refresh()
        subscriber.request(.max(1))
        subscriber.onValue = {
            // The silent write has already begun, so beginning another write here would trap.
            #expect(test.realm.isInWriteTransaction)
            test.realm.add(Node(id: 6))
        }
        shouldWrite = true
        try test.onNewThread { realm in try realm.write { realm.add(Node(id: 4)) } }
        test.realm.refresh()
        subscriber.onValue = nil
        #expect(test.realm.objects(Node.self).count == 6)
        try add(7...7, test)
        subscriber.request(.max(5))
        test.realm.refresh()
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3] []", "[] [6] []"])
        withExtendedLifetime(first) {}
    }

    @Test("a request during a silent write delivers one value, then the subscription pauses again N111 N40")
    func requestDuringSilentWrite() throws {
        let (reachedCatchUp, mayContinue) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // The test sets this variable before it starts the requesting thread, and that thread clears it.
        nonisolated(unsafe) var shouldBlock = false
        let test = try TestRealm {
            $0.environment.onYield = { point in
                guard case .beforeCatchUp = point, shouldBlock else { return }
                shouldBlock = false
                reachedCatchUp.signal()
                mayContinue.wait()
            }
        }
        _ = try test.graph()
        let screen = Screen()
        let subscriber = DemandSubscriber<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(subscriber)
        subscriber.request(.max(1))
        test.realm.refresh()
        try add(4...4, test)
        nonisolated(unsafe) let other = subscriber
        let requestReturned = DispatchSemaphore(value: 0)
        shouldBlock = true
        Thread.detachNewThread {
            other.request(.max(1))
            requestReturned.signal()
        }
        reachedCatchUp.wait()
        try add(5...5, test, silencing: screen)
        while !test.realm.context.hub.isIdle || test.scheduler.count > 0 { test.scheduler.run() }
        mayContinue.signal()
        requestReturned.wait()
        for id in 6...8 { try test.commit { test.realm.add(Node(id: id)) } }
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3] []"])
        subscriber.request(.max(5))
        test.realm.refresh()
        #expect(subscriber.values.map(\.text) == ["initial", "[] [3] []", "[] [5, 6, 7] []"])
    }
}
