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

@Suite("publishers")
struct PublisherTests {
    @Test("every kind of collection publishes itself initially and after each change N19 N23")
    func collections() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        var counts: [String: Int] = [:]
        var kept: Set<AnyCancellable> = []
        func count<P: Publisher>(_ name: String, _ publisher: P) {
            counts[name] = 0
            publisher.sink { _ in
            } receiveValue: { _ in
                counts[name, default: 0] += 1
            }.store(in: &kept)
        }
        count("results", test.realm.objects(Node.self).collectionPublisher)
        count("list", nodes[0].children.collectionPublisher)
        count("set", nodes[0].peers.collectionPublisher)
        count("map", nodes[0].named.collectionPublisher)
        count("links", nodes[1].parents.collectionPublisher)
        count("sections", test.realm.objects(Node.self).sectioned(by: \.name).collectionPublisher)
        count("projections", test.realm.objects(NodeProjection.self).collectionPublisher)
        count("value", valuePublisher(nodes[0].children))
        #expect(counts.values.allSatisfy { $0 == 0 })
        test.realm.refresh()
        #expect(counts.filter { $0.value != 1 } == [:])
        try test.commit {
            nodes[0].name = "a"
            nodes[1].name = "b"
        }
        #expect(counts.filter { $0.value != 2 } == [:])
        kept = []
        #expect(test.realm.context.hub.observerCount == 0)
    }

    @Test("publishers and 'observe' deliver equal change sets, also with key paths N47")
    func changesets() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let children = nodes[0].children
        var (changes, named, observed): ([String], [String], [String]) = ([], [], [])
        let token = children.observe { observed.append($0.text) }
        let first = children.changesetPublisher.sink { changes.append($0.text) }
        let second = children.changesetPublisher(keyPaths: ["name"]).sink { named.append($0.text) }
        test.realm.refresh()
        try test.commit { children.append(nodes[2]) }
        try test.commit { nodes[1].amount = 3 }
        try test.commit { nodes[2].name = "x" }
        #expect(changes == observed)
        #expect(changes == ["initial", "[] [1] []", "[] [] [0]", "[] [] [1]"])
        #expect(named == ["initial", "[] [1] []", "[] [] [1]"])
        withExtendedLifetime((token, first, second)) {}
    }

    @Test("maps and sections publish their change sets N64")
    func keyed() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        var (keys, sections): ([String], [Int]) = ([], [])
        let first = nodes[0].named.changesetPublisher.sink { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                keys.append("\(deletions) \(insertions) \(modifications)")
            }
        }
        let second = test.realm.objects(Node.self).sectioned(by: \.name).changesetPublisher.sink { change in
            if case .update(_, _, _, _, let inserted, _) = change { sections.append(inserted.count) }
        }
        test.realm.refresh()
        try test.commit {
            nodes[0].named["b"] = nodes[2]
            nodes[2].name = "new"
        }
        #expect(keys == ["[] [\"b\"] []"])
        #expect(sections == [1])
        withExtendedLifetime((first, second)) {}
    }

    @Test("an object publishes itself and its changes, and finishes when it is deleted N70 N75")
    func objects() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let (values, changes) = (DemandSubscriber<Node, any Error>(), DemandSubscriber<ObjectChange<Node>, Never>())
        valuePublisher(nodes[2]).subscribe(values)
        changesetPublisher(nodes[2], keyPaths: ["name"]).subscribe(changes)
        values.request(.unlimited)
        changes.request(.unlimited)
        try test.commit { nodes[2].amount = 1 }
        #expect(values.values.count == 1 && changes.values.isEmpty)
        try test.commit { nodes[2].name = "a" }
        guard case .change(let node, let properties)? = changes.values.first else {
            Issue.record("no change")
            return
        }
        #expect(node === nodes[2] && properties.map(\.name) == ["name"])
        #expect(values.values.count == 2)
        try test.commit { test.realm.delete(nodes[2]) }
        #expect(values.isFinished && values.values.count == 2)
        #expect(changes.isFinished && changes.values.count == 2)
        #expect(test.realm.context.hub.observerCount == 0)
    }

    @Test("the published changes of a projection contain the names of its properties N120")
    func projections() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let view = NodeProjection(projecting: nodes[0])
        var (names, values, calls): ([String], Int, Int) = ([], 0, 0)
        let first = changesetPublisher(view, keyPaths: ["name"]).sink { change in
            if case .change(_, let properties) = change { names += properties.map(\.name) }
        }
        let second = valuePublisher(view).sink { _ in
        } receiveValue: { _ in
            values += 1
        }
        let third = view.objectWillChange.sink { calls += 1 }
        try test.commit { nodes[0].name = "a" }
        #expect(names == ["name"] && values == 1 && calls == 1)
        withExtendedLifetime((first, second, third)) {}
    }

    @Test("objectWillChange publishes after each change, and at no other time N171")
    func willChange() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        var counts = [0, 0, 0, 0]
        let object: any ObservableObject = nodes[0]
        #expect(object === nodes[0])
        let kept = [
            nodes[0].objectWillChange.sink { counts[0] += 1 },
            nodes[0].children.objectWillChange.sink { counts[1] += 1 },
            nodes[0].named.objectWillChange.sink { counts[2] += 1 },
            test.realm.objectWillChange.sink { counts[3] += 1 },
        ]
        test.realm.refresh()
        #expect(counts == [0, 0, 0, 0])
        try test.commit { nodes[0].amount = 2 }
        #expect(counts == [1, 0, 0, 1])
        try test.commit { nodes[0].children.removeAll() }
        #expect(counts == [2, 1, 0, 2])
        try test.onNewThread { realm in try realm.write { realm.deleteAll() } }
        test.realm.refresh()
        #expect(counts == [3, 1, 1, 3])
        withExtendedLifetime(kept) {}
    }

    @Test(
        "if a change set cannot be computed, objectWillChange continues, and valuePublisher fails with the error N172"
    )
    func failures() throws {
        let test = try TestRealm()
        let source = FaultySource(node: try test.graph()[0])
        var (count, isOver, ends) = (0, false, [String]())
        let first = RealmPublishers.WillChange(source: ObservedSource(source)).sink { _ in
            isOver = true
        } receiveValue: {
            count += 1
        }
        let second = valuePublisher(source).sink { completion in
            if case .failure = completion { ends.append("failure") }
        } receiveValue: { _ in
        }
        source.observers.notify(.failed(FaultySource.Fault()))
        #expect(count == 0 && !isOver)
        source.observers.notify(.changed(source))
        #expect(count == 1 && ends == ["failure"])
        withExtendedLifetime((first, second)) {}
    }

    @Test("cancelling or releasing a subscription ends the observation N2")
    func cancelling() throws {
        let test = try TestRealm()
        let nodes = try test.graph()
        let hub = test.realm.context.hub
        let subscriber = DemandSubscriber<List<Node>, any Error>()
        nodes[0].children.collectionPublisher.subscribe(subscriber)
        subscriber.request(.unlimited)
        #expect(hub.observerCount == 1)
        subscriber.cancel()
        #expect(hub.observerCount == 0)
        try test.commit { nodes[0].children.removeAll() }
        #expect(subscriber.values.isEmpty && !subscriber.isFinished)
        let other = DemandSubscriber<List<Node>, any Error>()
        nodes[0].children.collectionPublisher.subscribe(other)
        #expect(hub.observerCount == 1)
        other.releaseSubscription()
        #expect(hub.observerCount == 0)
        let realm = DemandSubscriber<Void, Never>()
        test.realm.objectWillChange.subscribe(realm)
        #expect(hub.isObserved)
        realm.releaseSubscription()
        #expect(!hub.isObserved)
    }

    @Test("a saved token silences a publisher for one write N111")
    func savedToken() throws {
        final class Screen { var token: NotificationToken? }
        let test = try TestRealm()
        let nodes = try test.graph()
        let screen = Screen()
        var (changes, realmChanges) = ([String](), 0)
        let cancellable = nodes[0].children.changesetPublisher.saveToken(on: screen, at: \.token).sink {
            changes.append($0.text)
        }
        test.realm.refresh()
        let token = try #require(screen.token)
        try test.realm.write(withoutNotifying: [token]) { nodes[0].children.append(nodes[2]) }
        test.realm.refresh()
        #expect(changes == ["initial"])
        try test.commit { nodes[0].children.removeLast() }
        #expect(changes == ["initial", "[1] [] []"])
        let second = test.realm.objectWillChange.saveToken(on: screen, for: \.token).sink { realmChanges += 1 }
        try test.realm.write(withoutNotifying: [#require(screen.token)]) { nodes[0].name = "a" }
        #expect(realmChanges == 0)
        withExtendedLifetime((cancellable, second)) {}
    }
}

/// An observable value. A test notifies its observers directly, so that it can report failures.
private struct FaultySource: RealmSubscribable {
    struct Fault: Error {}

    final class Observers {
        var all: [(_PublishedEvent) -> Void] = []
        func notify(_ event: _PublishedEvent) { for observer in all { observer(event) } }
    }

    let node: Node
    let observers = Observers()
    var realm: Realm? { node.realm }
    var isInvalidated: Bool { node.isInvalidated }
    var isFrozen: Bool { node.isFrozen }

    func _locator() -> _Locator? { node._locator() }

    func _publish(_ keyPaths: [String]?, _ notify: @escaping (_PublishedEvent) -> Void) -> NotificationToken {
        observers.all.append(notify)
        return node.observe { _ in }
    }
}
