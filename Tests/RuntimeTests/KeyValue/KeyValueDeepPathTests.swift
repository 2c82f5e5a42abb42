import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("Key-value: deep paths")
struct KeyValueDeepPathTests {
    private let test: TestRealm
    private let nodes: [Node]

    /// Creates five nodes. The first links to the second, and the second links to the third.
    init() throws {
        test = try TestRealm()
        nodes = try test.nodes(5)
        try test.realm.write { [nodes] in
            nodes[0].next = nodes[1]
            nodes[1].next = nodes[2]
        }
    }

    @Test("observers of a deep path are notified of a changed last value, a changed link and a nil link K10")
    func local() throws {
        let recorder = nodes[0].recorder("next.next.name")
        try test.realm.write {
            nodes[2].name = "x"
            #expect(recorder.take() == ["next.next.name: n3 -> x"])
            nodes[1].next = nodes[3]
            #expect(recorder.take() == ["next.next.name: x -> n4"])
            nodes[2].name = "unobserved"
            nodes[0].name = "unobserved"
            #expect(recorder.take() == [])
            nodes[3].name = "y"
            #expect(recorder.take() == ["next.next.name: n4 -> y"])
            nodes[0].next = nodes[4]
            #expect(recorder.take() == ["next.next.name: y -> nil"])
            nodes[4].next = nodes[2]
            #expect(recorder.take() == ["next.next.name: nil -> unobserved"])
            nodes[0].next = nil
            #expect(recorder.take() == ["next.next.name: unobserved -> nil"])
            nodes[4].next = nil
            #expect(recorder.take() == [])
        }
    }

    @Test("deleting an object in the middle of a path changes the value to nil K10")
    func deletedMiddle() throws {
        let recorder = nodes[0].recorder("next.next.name", "next.isInvalidated")
        try test.realm.write { test.realm.delete(nodes[1]) }
        #expect(recorder.calls.sorted() == ["next.isInvalidated: false -> nil", "next.next.name: n3 -> nil"])
        try test.realm.write { nodes[2].name = "unobserved" }
        #expect(recorder.calls.count == 2)
    }

    @Test("observers of a path are not notified when its first object is deleted K10 K20")
    func deletedBeginning() throws {
        let recorder = nodes[0].recorder("next.next.name")
        var calls = 0
        let typed = nodes[0].observe(\.next?.next?.name, options: [.old, .new]) { _, _ in calls += 1 }
        try test.realm.write {
            test.realm.delete(nodes[0])
            nodes[1].next = nodes[3]
            nodes[3].name = "unobserved"
        }
        try test.changeRemotely(2) { node, realm in node.next = realm.node(5) }
        test.realm.refresh()
        #expect(recorder.take() == [] && calls == 0)
        withExtendedLifetime(typed) {}
    }

    @Test("at refresh, observers of a deep path are notified once of all remote changes K10")
    func remote() throws {
        let recorder = nodes[0].recorder("next.next.name")
        try test.changeRemotely(1) { node, realm in
            realm.node(3).name = "intermediate"
            realm.node(2).next = realm.node(4)
            realm.node(4).name = "x"
        }
        test.realm.refresh()
        #expect(recorder.take() == ["next.next.name: n3 -> x"])
        try test.changeRemotely(4) { node, _ in node.name = "y" }
        test.realm.refresh()
        #expect(recorder.take() == ["next.next.name: x -> y"])
        try test.changeRemotely(2) { node, realm in realm.delete(node) }
        try test.realm.beginWrite()
        #expect(recorder.take() == ["next.next.name: y -> nil"])
        test.realm.cancelWrite()
    }

    @Test("changes of a list behind a link have positions, and a changed link is reported as a setting K10")
    func listBehindLink() throws {
        let recorder = nodes[0].recorder("next.children")
        try test.realm.write {
            nodes[1].children.append(nodes[3])
            nodes[0].next = nodes[2]
            nodes[2].children.append(nodes[4])
        }
        #expect(
            recorder.take() == [
                "next.children insertion 0: - -> [#4]", "next.children: [#4] -> live[]",
                "next.children insertion 0: - -> [#5]",
            ])
        try test.changeRemotely(1) { node, realm in
            realm.node(3).children.append(realm.node(1))
            node.next = realm.node(2)
            realm.node(2).children.append(realm.node(1))
        }
        test.realm.refresh()
        #expect(recorder.take() == ["next.children: [#5] -> live[#4, #1]"])
    }

    @Test("a path can lead back to its first object, and invalidating the token ends the observation K10")
    func circle() throws {
        try test.realm.write { nodes[2].next = nodes[0] }
        var log: [String] = []
        var token: KeyValueObservation? = nodes[0].observe(\.next?.next?.next?.name, options: .both) { _, change in
            log.append("\((change.oldValue ?? nil) ?? "nil") \((change.newValue ?? nil) ?? "nil")")
        }
        try test.realm.write {
            nodes[0].name = "x"
            nodes[0].next = nodes[0]
            nodes[0].name = "y"
        }
        #expect(log == ["n1 x", "x x", "x y"])
        token?.invalidate()
        token = nil
        #expect(test.realm.context.keyValue.isEmpty)
        #expect(nodes.allSatisfy { $0._observers == nil })
    }

    @Test("a path can lead through embedded objects K10")
    func embedded() throws {
        let recorder = nodes[0].recorder("part.core.length")
        try test.realm.write {
            nodes[0].part = Part(name: "p", core: Screw(length: 1))
            nodes[0].part?.core?.length = 2
            nodes[0].part?.core = Screw(length: 3)
            nodes[0].part = nil
        }
        #expect(
            recorder.calls == [
                "part.core.length: nil -> 1", "part.core.length: 1 -> 2", "part.core.length: 2 -> 3",
                "part.core.length: 3 -> nil",
            ])
    }

    @Test("removing an observer of a deep path leaves no registrations on the objects of the path K9")
    func cleanUp() throws {
        let recorder = nodes[0].recorder("next.next.name")
        #expect(nodes[1]._observers != nil)
        nodes[0].removeObserver(recorder, forKeyPath: "next.next.name")
        #expect(nodes.allSatisfy { $0._observers == nil })
        var root: Node? = Node(id: 90)
        let next = Node(id: 91)
        root?.next = next
        let second = root?.recorder("next.name")
        root = nil
        next.name = "unobserved"
        #expect(second?.calls == [] && next._observers == nil)
    }
}
