import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet
@testable import MartletCombine

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

@Suite("publishers: other queues")
struct QueuePublisherTests {
    /// Collects the texts that observers on a queue add. A test can wait for a number of texts.
    // Sendable: the lock guards the texts.
    private final class Mailbox: @unchecked Sendable {
        private let lock = NSCondition()
        private var texts: [String] = []

        func put(_ text: String) {
            lock.lock()
            texts.append(text)
            lock.broadcast()
            lock.unlock()
        }

        /// Waits at most 30 seconds until there are `count` texts, and returns all texts.
        func waitForTexts(_ count: Int) -> [String] {
            let deadline = Date(timeIntervalSinceNow: 30)
            lock.lock()
            defer { lock.unlock() }
            while texts.count < count, lock.wait(until: deadline) {}
            return texts
        }
    }

    @Test("subscribe(on:) observes on a serial queue, and publishes collections of a Realm of the queue N16")
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
        #expect(mailbox.waitForTexts(1) == ["1,2"])
        try test.realm.write { test.realm.add(Node(id: 3)) }
        #expect(mailbox.waitForTexts(2) == ["1,2", "1,2,3"])
        cancellable.cancel()
        queue.sync {}
    }

    @Test("if a Realm cannot be opened on the queue, the error is published at the next request for a value N170 N172")
    func openingFails() {
        let (queue, mailbox) = (DispatchQueue(label: "publishing"), Mailbox())
        let subscriber = DemandSubscriber<RealmCollectionChange<Results<Node>>, Never>()
        subscriber.onValue = {
            dispatchPrecondition(condition: .onQueue(queue))
            mailbox.put("value")
        }
        let subscription = ObservationSubscription(subscriber, queue: queue)
        subscriber.receive(subscription: subscription)
        // The queue passes the error to the subscription before the subscriber has requested a value.
        queue.sync { subscription.receive(.last(.error(CancellationError()))) }
        #expect(subscriber.values.isEmpty)
        subscriber.request(.max(1))
        #expect(mailbox.waitForTexts(1) == ["value"])
        queue.sync { #expect(subscriber.values.map(\.text) == ["CancellationError()"] && subscriber.isFinished) }
    }

    @Test("values of freeze() can be read on any thread N126")
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

    @Test(
        "threadSafeReference().receive(on:) publishes objects of a Realm of the queue, and skips deleted ones N173 N128"
    )
    func transferring() throws {
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
        #expect(mailbox.waitForTexts(1) == ["a"])
        try test.commit { nodes[0].children.append(nodes[2]) }
        #expect(mailbox.waitForTexts(3).sorted() == ["2", "a", "a"])
        queue.suspend()
        try test.commit { nodes[0].name = "b" }
        try test.commit { test.realm.delete(nodes[0]) }
        queue.resume()
        #expect(mailbox.waitForTexts(4).last == "finished")
        #expect(!mailbox.waitForTexts(4).contains("b"))
        withExtendedLifetime(kept) {}
    }

    @Test("freeze() publishes the version of the change set, even if an earlier callback has made a write N126 N103")
    func freezingAfterWrite() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        var writes = false
        let first = test.realm.objects(Node.self).observe { _ in
            guard writes else { return }
            writes = false
            try? test.realm.write {
                test.realm.add(Node(id: 100))
                nodes[0].name = "later"
                nodes[0].children.removeAll()
            }
        }
        var lines: [String] = []
        let kept: [AnyCancellable] = [
            test.realm.objects(Node.self).changesetPublisher.freeze().sink { change in
                if case .update(let results, _, _, _) = change { lines.append("\(change.text) \(results.count)") }
            },
            nodes[0].children.changesetPublisher.freeze().sink { change in
                if case .update(let list, _, _, _) = change { lines.append("\(change.text) \(list.count)") }
            },
            valuePublisher(nodes[0]).freeze().sink { _ in
            } receiveValue: {
                lines.append($0.name)
            },
        ]
        test.realm.refresh()
        try test.onNewThread { realm in
            try realm.write {
                realm.add(Node(id: 4))
                guard let node = realm.object(ofType: Node.self, forPrimaryKey: 1) else { return }
                node.name = "a"
                node.children.append(node)
            }
        }
        writes = true
        test.realm.refresh()
        #expect(lines == ["[] [3] [0] 4", "[] [1] [] 2", "a"])
        withExtendedLifetime((first, kept)) {}
    }

    @Test("the linked objects in the values of a frozen change are frozen N126 N71")
    func freezingValues() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        var values: [Any?] = []
        let cancellable = changesetPublisher(nodes[0]).freeze().sink { change in
            guard case .change(_, let properties) = change else { return }
            for property in properties { values += [property.oldValue, property.newValue] }
        }
        test.realm.refresh()
        try test.commit { nodes[0].next = nodes[2] }
        let frozen = try values.map { try #require($0 as? Node) }
        try #require(frozen.count == 2 && frozen.allSatisfy { $0.isFrozen })
        nonisolated(unsafe) let linked = frozen
        #expect(DispatchQueue.global().sync { linked.map(\.name) } == ["n2", "n3"])
        withExtendedLifetime(cancellable) {}
    }

    @Test("the objects in AnyRealmValue values of a frozen change are frozen N126 N71")
    func freezingAnyValues() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let holder = Scalars()
        try test.realm.write { test.realm.add(holder) }
        var values: [AnyRealmValue?] = []
        let cancellable = changesetPublisher(holder).freeze().sink { change in
            if case .change(_, let properties) = change { values += properties.map { $0.newValue as? AnyRealmValue } }
        }
        try test.commit { holder.anyValue = .list([.object(nodes[0]), .int(3), .map(["a": .object(nodes[1])])]) }
        guard case .list(let elements)? = values.first, case .object(let first) = elements[0],
            case .int(3) = elements[1], case .map(let entries) = elements[2], case .object(let second)? = entries["a"]
        else {
            Issue.record("unexpected values")
            return
        }
        #expect(first.isFrozen && (first as? Node)?.name == "n1")
        #expect(second.isFrozen && (second as? Node)?.name == "n2")
        withExtendedLifetime(cancellable) {}
    }

    @Test("the values of a change received on a queue are objects of a Realm of the queue N128 N71")
    func transferringValues() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let (queue, mailbox) = (DispatchQueue(label: "receiving"), Mailbox())
        let cancellable = changesetPublisher(nodes[0]).threadSafeReference().receive(on: queue).sink { change in
            guard case .change(_, let properties) = change else { return }
            for value in properties.flatMap({ [$0.oldValue, $0.newValue] }) {
                let node = value as? Node
                let isOfQueue = node?.realm?.context.confinement.isCurrent == true
                mailbox.put(isOfQueue ? node?.name ?? "" : "\(value == nil ? "nothing" : "not of the queue")")
            }
        }
        test.realm.refresh()
        try test.commit { nodes[0].next = nodes[2] }
        #expect(mailbox.waitForTexts(2) == ["n2", "n3"])
        try test.commit {
            nodes[0].next = nodes[1]
            test.realm.delete(nodes[2])
        }
        #expect(mailbox.waitForTexts(4) == ["n2", "n3", "nothing", "n2"])
        withExtendedLifetime(cancellable) {}
    }

    /// Returns a `RealmOpening` that throws `count` times before it opens Realms. Retries follow without a pause.
    private func failing(_ count: Int, _ mailbox: Mailbox) -> RealmOpening {
        var failures = count
        var opening = RealmOpening()
        opening.pauseMilliseconds = { _ in 0 }
        opening.open = { configuration, queue in
            if failures > 0 {
                failures -= 1
                mailbox.put("failed")
                throw CancellationError()
            }
            return try Realm(configuration: configuration, queue: queue)
        }
        return opening
    }

    @Test(
        "if opening the Realm of a queue fails, the publisher tries again, and skips or reorders no change N128")
    func openingLater() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let (queue, mailbox) = (DispatchQueue(label: "receiving"), Mailbox())
        var publisher = nodes[0].children.changesetPublisher.threadSafeReference().receive(on: queue)
        publisher.opening = failing(3, mailbox)
        let cancellable = publisher.sink { mailbox.put($0.text) }
        test.realm.refresh()
        try test.commit { nodes[0].children.append(nodes[2]) }
        try test.commit { nodes[0].children.remove(at: 0) }
        #expect(mailbox.waitForTexts(6) == ["failed", "failed", "failed", "initial", "[] [1] []", "[0] [] []"])
        withExtendedLifetime(cancellable) {}
    }

    @Test(
        "if the Realm of a queue cannot be opened, an error replaces the change, or the publisher fails N173"
    )
    func openingNever() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let (queue, first, second) = (DispatchQueue(label: "receiving"), Mailbox(), Mailbox())
        var changes = nodes[0].children.changesetPublisher.threadSafeReference().receive(on: queue)
        changes.opening = failing(11, Mailbox())
        var values = nodes[0].children.collectionPublisher.threadSafeReference().receive(on: queue)
        values.opening = failing(.max, Mailbox())
        let kept: [AnyCancellable] = [
            changes.sink { change in
                if case .error = change { first.put("error") } else { first.put(change.text) }
            },
            values.sink { completion in
                if case .failure = completion { second.put("failure") }
            } receiveValue: { _ in
                second.put("value")
            },
        ]
        test.realm.refresh()
        try test.commit { nodes[0].children.append(nodes[2]) }
        #expect(first.waitForTexts(2) == ["error", "[] [1] []"])
        #expect(second.waitForTexts(1) == ["failure"])
        withExtendedLifetime(kept) {}
    }
}
