import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Observation
import Synchronization
import Testing

@_spi(Generated) @testable import Martlet

/// A reader is a closure that reads in `withObservationTracking`. A call of its `onChange` notifies the reader.
@Suite("tracked reads: unmanaged objects")
struct TrackedUnmanagedTests {
    private func trackingRealm() throws -> TestRealm { try TestRealm { $0.tracksReads = true } }

    @Test("assigning properties and changing collections of unmanaged objects notifies readers N165")
    func assignment() throws {
        let test = try trackingRealm()
        let node = Node(id: 1, name: "a")
        #expect(
            onChangeCalls {
                _ = node.name
            } _: {
                node.name = "b"
            } == 1)
        #expect(
            onChangeCalls {
                _ = node.name
            } _: {
                node.amount = 2
            } == 0)
        #expect(
            onChangeCalls {
                _ = node.name
            } _: {
                (node.name, node.name) = ("c", "d")
            } == 1)
        #expect(
            onChangeCalls {
                _ = node.children.count
            } _: {
                node.children.append(Node(id: 2))
            } == 1)
        #expect(
            onChangeCalls {
                _ = node.peers.count
            } _: {
                node.peers.insert(Node(id: 3))
            } == 1)
        #expect(
            onChangeCalls {
                _ = node.named["a"]
            } _: {
                node.named["a"] = node
            } == 1)
        #expect(
            onChangeCalls {
                _ = node.children
            } _: {
                node.children = []
            } == 1)
        withExtendedLifetime(test) {}
    }

    @Test("adding an object to a Realm notifies readers, and the Realm tracks later reads N165")
    func added() throws {
        let test = try trackingRealm()
        let node = Node(id: 1, name: "a")
        node.children.append(Node(id: 2))
        let read = { _ = (node.name, node.children.count) }
        try #expect(onChangeCalls(read) { try test.realm.write { test.realm.add(node) } } == 1)
        try #expect(onChangeCalls(read) { try test.realm.write { node.name = "b" } } == 1)
        try #expect(onChangeCalls(read) { try test.realm.write { node.children.removeAll() } } == 1)
        #expect(node._observers == nil)
    }

    @Test("if a reader reads an object again while the object is added, later changes of the object notify the reader")
    func addedAndReadAgain() throws {
        let test = try trackingRealm()
        nonisolated(unsafe) let node = Node(id: 1, name: "a")
        let later = OnChangeCounter()
        withObservationTracking {
            _ = node.name
        } onChange: {
            later.track { _ = node.name }
        }
        try test.realm.write { test.realm.add(node) }
        #expect(later.count == 0)
        try test.changeRemotely(1) { node, _ in node.name = "b" }
        test.realm.refresh()
        #expect(later.count == 1)
    }

    @Test("each thread tracks its own reads N166")
    func threads() throws {
        let test = try trackingRealm()
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            for _ in 0..<200 {
                let node = Node(id: number, name: "a")
                _ = node.name
                #expect(
                    onChangeCalls {
                        _ = node.name
                    } _: {
                        node.name = "b"
                    } == 1)
            }
        }
        withExtendedLifetime(test) {}
    }
}

@Suite("tracked reads: which Realms track")
struct TrackingRealmTests {
    @Test("without tracking, reading a decoded value checks only the guard word N166")
    func untracked() throws {
        let test = try TestRealm { $0.tracksReads = false }
        let node = try test.nodes(1)[0]
        #expect(node.name == "n1")
        #expect(node._guard != 0)
        // The read is not tracked: the value is already decoded, and no tracking closure has read the file yet.
        try #expect(
            onChangeCalls {
                _ = node.name
            } _: {
                try test.realm.write { node.name = "a" }
            } == 0)
        #expect(test.realm.context.reads.isEmpty)
        #expect(node._guard != 0)
    }

    @Test("a Realm starts to track reads when a tracking closure reads its file N166", arguments: 0..<3)
    func begins(kind: Int) throws {
        let test = try TestRealm { $0.tracksReads = false }
        let node = try test.nodes(1)[0]
        #expect(node.name == "n1")
        try test.changeRemotely(1) { node, _ in node.amount = 2 }
        test.realm.refresh()
        let count = try onChangeCalls {
            switch kind {
            case 0: _ = node.name
            case 1: _ = test.realm.objects(Node.self).where { $0.name == "n1" }.count
            default: _ = test.realm.object(ofType: Node.self, forPrimaryKey: 1)?.name
            }
        } _: {
            try test.realm.write { node.name = "a" }
        }
        #expect(count == 1)
        #expect(test.realm.context.reads.isOn)
        #expect(node._guard == 0)
        try #expect(
            onChangeCalls {
                _ = node.name
            } _: {
                try test.realm.write { node.name = "b" }
            } == 1)
    }

    @Test("the Realm removes tracked reads after their readers were notified")
    func forgets() throws {
        let (test, nodes) = try trackedNodes()
        let reads = test.realm.context.reads
        let count = try onChangeCalls {
            _ = (nodes[0].name, nodes[0].children.count, nodes[1].isInvalidated)
            _ = test.realm.objects(Node.self).where { $0.amount > 1 }.count
        } _: {
            #expect(!reads.isEmpty)
            try test.realm.write { nodes[0].name = "a" }
            #expect(!reads.isEmpty)
            test.realm.invalidate()
        }
        #expect(count == 1)
        #expect(reads.isEmpty)
    }
}

@Suite("tracked reads: abandoned readers")
struct AbandonedReaderTests {
    private final class Screen: Sendable {}

    @Test("closures of readers that end without a notification are released, at most once a minute N167")
    func abandonedReaders() throws {
        let now = LockedValue<UInt64>(1)
        let test = try TestRealm {
            $0.tracksReads = true
            $0.environment.now = { now.value }
        }
        let nodes = try test.nodes(3)
        while !test.realm.context.hub.isIdle { test.scheduler.run() }
        weak var closed: Screen?
        do {
            let screen = Screen()
            closed = screen
            withObservationTracking {
                _ = nodes[0].name
            } onChange: {
                _ = screen
            }
        }
        #expect(closed != nil)
        let waiting = OnChangeCounter()
        func readManyTimes() {
            for _ in 0..<20_000 {
                withObservationTracking {
                    _ = nodes[1].name
                } onChange: {
                }
            }
            while test.scheduler.count > 0 { test.scheduler.run() }
        }
        waiting.track { _ = nodes[2].name }
        readManyTimes()
        #expect(closed == nil)
        // To release the `onChange` closures, the Realm calls all of them, including the closure of a reader that still
        // waits for a change. Such a reader must then read again.
        #expect(waiting.count == 1)
        waiting.track { _ = nodes[2].name }
        readManyTimes()
        #expect(waiting.count == 1)
        now.update { $0 += 60_000_000_000 }
        readManyTimes()
        #expect(waiting.count == 2)
        waiting.track { _ = nodes[2].name }
        try test.realm.write { nodes[2].name = "a" }
        #expect(waiting.count == 3)
    }

    @Test("tracking on one thread does not affect another thread N166")
    func threads() throws {
        let test = try TestRealm { $0.tracksReads = true }
        let isOver = Atomic<Bool>(false)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let node = Node(id: 1)
            while !isOver.load(ordering: .relaxed) {
                withObservationTracking {
                    for _ in 0..<100 { _ = node.name }
                } onChange: {
                }
            }
            done.signal()
        }
        let registrar = ReadRegistrar()
        let count = (0..<1_000_000).count { _ in registrar.isTracking }
        isOver.store(true, ordering: .relaxed)
        done.wait()
        #expect(count == 0)
        withExtendedLifetime(test) {}
    }
}

@Suite("tracked reads: Observations")
struct ObservationsTests {
    @Test("a loop over Observations gets the values of local assignments and of remote commits")
    @MainActor func observations() async throws {
        let test = try TestRealm { $0.tracksReads = true }
        let node = try test.nodes(1)[0]
        let names = Observations { node.name }
        var iterator = names.makeAsyncIterator()
        #expect(await iterator.next() == "n1")
        try test.realm.write { node.name = "a" }
        #expect(await iterator.next() == "a")
        try test.changeRemotely(1) { node, _ in node.name = "b" }
        test.realm.refresh()
        #expect(await iterator.next() == "b")
    }
}
