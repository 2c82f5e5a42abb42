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

@Suite("publishers: other queues")
struct HandoverTests {
    /// Values that come on a queue, waited for.
    private final class Mailbox: @unchecked Sendable {
        private let lock = NSCondition()
        private var texts: [String] = []

        func put(_ text: String) {
            lock.lock()
            texts.append(text)
            lock.broadcast()
            lock.unlock()
        }

        /// The texts once there are so many, or after a long time.
        func take(_ count: Int) -> [String] {
            let deadline = Date(timeIntervalSinceNow: 30)
            lock.lock()
            defer { lock.unlock() }
            while texts.count < count, lock.wait(until: deadline) {}
            return texts
        }
    }

    @Test("N16 subscribe(on:) observes on a serial queue, and what is published belongs to it")
    func subscribing() throws {
        let test = try TestRealm { $0.scheduler = nil }
        let nodes = (1...2).map { Node(id: $0) }
        try test.realm.write { test.realm.add(nodes) }
        let (queue, mailbox) = (DispatchQueue(label: "publishing"), Mailbox())
        let cancellable = test.realm.objects(Node.self).collectionPublisher.subscribe(on: queue).sink { _ in
        } receiveValue: { results in
            dispatchPrecondition(condition: .onQueue(queue))
            mailbox.put(results.map { "\($0.id)" }.joined(separator: ","))
        }
        #expect(mailbox.take(1) == ["1,2"])
        try test.realm.write { test.realm.add(Node(id: 3)) }
        #expect(mailbox.take(2) == ["1,2", "1,2,3"])
        cancellable.cancel()
        queue.sync {}
    }

    @Test("N126 what is frozen on the way can be read on any thread")
    func freezing() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        var frozen: [Results<Node>] = []
        var changes: [RealmCollectionChange<List<Node>>] = []
        var objects: [ObjectChange<Node>] = []
        let kept: [AnyCancellable] = [
            test.realm.objects(Node.self).collectionPublisher.freeze().sink { _ in
            } receiveValue: {
                frozen.append($0)
            },
            nodes[0].children.changesetPublisher.freeze().sink { changes.append($0) },
            changesetPublisher(nodes[0]).freeze().sink { objects.append($0) },
        ]
        test.realm.refresh()
        try test.commit {
            nodes[0].children.append(nodes[2])
            nodes[0].name = "a"
        }
        try test.commit { test.realm.deleteAll() }
        nonisolated(unsafe) let results = frozen
        let names = DispatchQueue.global().sync { results.map { $0.map(\.name) } }
        #expect(names == [["n1", "n2", "n3"], ["a", "n2", "n3"], []])
        guard case .update(let list, _, let insertions, _) = changes[1], case .change(let node, _) = objects[0] else {
            Issue.record("no change")
            return
        }
        #expect(list.isFrozen && list[insertions[0]].name == "n3")
        #expect(node.isFrozen && node.name == "a")
        withExtendedLifetime(kept) {}
    }

    @Test("N128 threadSafeReference().receive(on:) leads to the live thing on the queue, and passes over what is gone")
    func handingOver() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let (queue, mailbox) = (DispatchQueue(label: "receiving"), Mailbox())
        let kept: [AnyCancellable] = [
            valuePublisher(nodes[0]).threadSafeReference().receive(on: queue).sink { _ in
                mailbox.put("finished")
            } receiveValue: { node in
                dispatchPrecondition(condition: .onQueue(queue))
                mailbox.put(node.name)
            },
            nodes[0].children.changesetPublisher.threadSafeReference().receive(on: queue).sink { change in
                if case .update(let list, _, _, _) = change { mailbox.put("\(list.count)") }
            },
        ]
        test.realm.refresh()
        try test.commit { nodes[0].name = "a" }
        #expect(mailbox.take(1) == ["a"])
        try test.commit { nodes[0].children.append(nodes[2]) }
        #expect(mailbox.take(3).sorted() == ["2", "a", "a"])
        queue.suspend()
        try test.commit { nodes[0].name = "b" }
        try test.commit { test.realm.delete(nodes[0]) }
        queue.resume()
        #expect(mailbox.take(4).last == "finished")
        #expect(!mailbox.take(4).contains("b"))
        withExtendedLifetime(kept) {}
    }
}
