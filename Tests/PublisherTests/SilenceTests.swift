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

@Suite("publishers: silent writes while nothing is asked for")
struct SilenceTests {
    private final class Screen { var token: NotificationToken? }

    private func add(_ ids: ClosedRange<Int>, _ test: TestRealm, silencing screen: Screen? = nil) throws {
        let tokens = [screen?.token].compactMap { $0 }
        for id in ids { try test.realm.write(withoutNotifying: tokens) { test.realm.add(Node(id: id)) } }
    }

    @Test("N111 N112 what is written silently is not told later, and keeps no version in use")
    func results() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let screen = Screen()
        let asking = Asking<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(asking)
        asking.ask(.max(1))
        test.realm.refresh()
        try add(4...4, test)
        try add(5...104, test, silencing: screen)
        while !test.realm.context.hub.isIdle { test.scheduler.turn() }
        #expect(test.realm.pinnedVersions.map(\.version) == [test.realm.version])
        asking.ask(.max(1))
        test.realm.refresh()
        #expect(asking.values.map(\.text) == ["initial", "[] [3] []"])
        try test.commit { test.realm.object(ofType: Node.self, forPrimaryKey: 104)?.name = "x" }
        asking.ask(.max(1))
        test.realm.refresh()
        #expect(asking.values.map(\.text) == ["initial", "[] [3] []", "[] [] [103]"])
    }

    @Test("N111 N40 what lies between silent writes comes as one change for each, in order, as it is asked for")
    func between() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let screen = Screen()
        let asking = Asking<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(asking)
        asking.ask(.max(1))
        test.realm.refresh()
        try add(4...5, test)
        try add(6...6, test, silencing: screen)
        try add(7...8, test)
        try add(9...10, test, silencing: screen)
        try add(11...11, test)
        #expect(asking.values.count == 1)
        asking.ask(.max(1))
        #expect(asking.values.map(\.text) == ["initial", "[] [3, 4] []"])
        asking.ask(.max(5))
        test.realm.refresh()
        #expect(asking.values.map(\.text) == ["initial", "[] [3, 4] []", "[] [6, 7] []", "[] [10] []"])
    }

    @Test("N111 what is written after others in the round of the last value asked for is not told later either")
    func sameRound() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let screen = Screen()
        var writes = false
        let first = test.realm.objects(Node.self).observe { _ in
            guard writes else { return }
            writes = false
            do {
                try self.add(5...5, test)
                try self.add(6...7, test, silencing: screen)
            } catch {
                Issue.record(error)
            }
        }
        let asking = Asking<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(asking)
        asking.ask(.max(1))
        test.realm.refresh()
        asking.ask(.max(1))
        writes = true
        try test.elsewhere { realm in try realm.write { realm.add(Node(id: 4)) } }
        test.realm.refresh()
        #expect(asking.values.map(\.text) == ["initial", "[] [3] []"])
        try add(8...8, test)
        asking.ask(.max(2))
        test.realm.refresh()
        #expect(asking.values.map(\.text) == ["initial", "[] [3] []", "[] [4] []", "[] [7] []"])
        withExtendedLifetime(first) {}
    }

    @Test("N111 N71 values of an object's changes lead on from what was written silently")
    func values() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let screen = Screen()
        let asking = Asking<ObjectChange<Node>, Never>()
        changesetPublisher(nodes[0]).saveToken(on: screen, at: \.token).subscribe(asking)
        for name in ["a", "b", "c", "d"] {
            let tokens = name == "b" ? [try #require(screen.token)] : []
            try test.realm.write(withoutNotifying: tokens) { nodes[0].name = name }
        }
        asking.ask(.max(5))
        test.realm.refresh()
        let names = asking.values.map { change in
            guard case .change(_, let properties) = change else { return "" }
            return properties.map { "\($0.oldValue ?? "") \($0.newValue ?? "")" }.joined(separator: ",")
        }
        #expect(names == ["n1 a", "b d"])
    }

    @Test("N75 N111 an end before a silent write is told when it is asked for, once")
    func end() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let screen = Screen()
        let asking = Asking<ObjectChange<Node>, Never>()
        changesetPublisher(nodes[2]).saveToken(on: screen, at: \.token).subscribe(asking)
        try test.realm.write { test.realm.delete(nodes[2]) }
        try add(4...5, test, silencing: screen)
        #expect(asking.values.isEmpty && !asking.isFinished)
        asking.ask(.max(2))
        test.realm.refresh()
        #expect(asking.values.count == 1 && asking.isFinished)
        guard case .deleted? = asking.values.last else {
            Issue.record("not told of the deletion")
            return
        }
    }

    @Test("N111 N112 who asks for more inside of a silent write is told of what came before it, alone")
    func askedInside() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let screen = Screen()
        let asking = Asking<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(asking)
        asking.ask(.max(1))
        test.realm.refresh()
        try add(4...4, test)
        try test.realm.write(withoutNotifying: [try #require(screen.token)]) {
            test.realm.add(Node(id: 5))
            asking.ask(.max(1))
        }
        test.realm.refresh()
        #expect(asking.values.map(\.text) == ["initial", "[] [3] []"])
        try add(6...6, test)
        asking.ask(.max(1))
        test.realm.refresh()
        #expect(asking.values.map(\.text) == ["initial", "[] [3] []", "[] [5] []"])
    }

    /// How a subscriber comes to be behind a silent write when it is called.
    enum Way: CaseIterable { case noDemand, changeInCallback }

    @Test(
        "N111 who writes silently in the last value asked for is not told of silent writes before that",
        arguments: Way.allCases)
    func writesInValue(_ way: Way) throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let screen = Screen()
        var (writes, changes) = (false, false)
        let tokens = [
            test.realm.observe { _, _ in
                guard writes else { return }
                (writes, changes) = (false, true)
                #expect(throws: Never.self) { try self.add(5...5, test, silencing: screen) }
            },
            test.realm.objects(Node.self).observe { _ in
                guard changes else { return }
                changes = false
                // Inside of the silent write that is beginning: the subscriber is called after it.
                nodes[0].name = "x"
            },
        ]
        let asking = Asking<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(asking)
        asking.ask(.max(1))
        test.realm.refresh()
        asking.onValue = { #expect(throws: Never.self) { try self.add(6...6, test, silencing: screen) } }
        switch way {
        case .noDemand:
            try add(4...4, test)
            try add(5...5, test, silencing: screen)
            asking.ask(.max(1))
        case .changeInCallback:
            asking.ask(.max(1))
            writes = true
            try test.elsewhere { realm in try realm.write { realm.add(Node(id: 4)) } }
        }
        test.realm.refresh()
        asking.onValue = nil
        #expect(asking.values.map(\.text) == ["initial", "[] [3] []"])
        #expect(test.realm.objects(Node.self).count == 6)
        try add(7...7, test)
        asking.ask(.max(5))
        test.realm.refresh()
        #expect(asking.values.map(\.text) == ["initial", "[] [3] []", "[] [6] []"])
        withExtendedLifetime(tokens) {}
    }

    @Test("N111 N104 what a subscriber adds in a value that comes as a silent write begins is silent, too")
    func addsInValue() throws {
        let test = try TestRealm()
        _ = try test.graph()
        let screen = Screen()
        var writes = false
        let first = test.realm.objects(Node.self).observe { _ in
            guard writes else { return }
            writes = false
            #expect(throws: Never.self) { try self.add(5...5, test, silencing: screen) }
        }
        let asking = Asking<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(asking)
        asking.ask(.max(1))
        test.realm.refresh()
        asking.ask(.max(1))
        asking.onValue = {
            // Beginning another write here traps.
            #expect(test.realm.isInWriteTransaction)
            test.realm.add(Node(id: 6))
        }
        writes = true
        try test.elsewhere { realm in try realm.write { realm.add(Node(id: 4)) } }
        test.realm.refresh()
        asking.onValue = nil
        #expect(test.realm.objects(Node.self).count == 6)
        try add(7...7, test)
        asking.ask(.max(5))
        test.realm.refresh()
        #expect(asking.values.map(\.text) == ["initial", "[] [3] []", "[] [6] []"])
        withExtendedLifetime(first) {}
    }

    @Test("N111 N40 who asks while it is told of what came before a silent write pauses again after that")
    func asksLate() throws {
        let (asked, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // Set before the thread that asks begins, and unset by that.
        nonisolated(unsafe) var isToStop = false
        let test = try TestRealm {
            $0.environment.step = { point in
                guard case .beforeCatchUp = point, isToStop else { return }
                isToStop = false
                asked.signal()
                goesOn.wait()
            }
        }
        _ = try test.graph()
        let screen = Screen()
        let asking = Asking<RealmCollectionChange<Results<Node>>, Never>()
        test.realm.objects(Node.self).changesetPublisher.saveToken(on: screen, at: \.token).subscribe(asking)
        asking.ask(.max(1))
        test.realm.refresh()
        try add(4...4, test)
        nonisolated(unsafe) let other = asking
        let hasAsked = DispatchSemaphore(value: 0)
        isToStop = true
        Thread.detachNewThread {
            other.ask(.max(1))
            hasAsked.signal()
        }
        asked.wait()
        try add(5...5, test, silencing: screen)
        while !test.realm.context.hub.isIdle || test.scheduler.count > 0 { test.scheduler.turn() }
        goesOn.signal()
        hasAsked.wait()
        for id in 6...8 { try test.commit { test.realm.add(Node(id: id)) } }
        #expect(asking.values.map(\.text) == ["initial", "[] [3] []"])
        asking.ask(.max(5))
        test.realm.refresh()
        #expect(asking.values.map(\.text) == ["initial", "[] [3] []", "[] [5, 6, 7] []"])
    }
}
