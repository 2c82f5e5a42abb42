import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("Key-value: collections")
struct KeyValueListTests {
    private let test: TestRealm
    private let nodes: [Node]
    private let owner: Node
    private let recorder: KeyValueRecorder

    /// Creates six nodes. The children of the first node are the second and the third node.
    init() throws {
        test = try TestRealm()
        nodes = try test.nodes(6)
        owner = nodes[0]
        try test.realm.write { [owner, nodes] in owner.children.append(objectsIn: [nodes[1], nodes[2]]) }
        recorder = owner.recorder("children")
    }

    @Test("between equal states of an unmanaged list, no edit is reported K15")
    func equalStates() {
        #expect(CollectionNotifier.edit(from: [1, 2], to: [1, 2]) == nil)
        #expect(CollectionNotifier.edit(from: [1, 2], to: [1, 3]) != nil)
        #expect(CollectionNotifier.edit(from: [1], to: [1, 1]) != nil)
        #expect(CollectionNotifier.edit(from: [1], to: [] as [Int]) != nil)
    }

    @Test("insertions, removals and replacements of a list have positions K12 K15")
    func local() throws {
        try test.realm.write {
            owner.children.append(nodes[3])
            #expect(recorder.take() == ["children insertion 2: - -> [#4]"])
            owner.children.insert(nodes[4], at: 0)
            #expect(recorder.take() == ["children insertion 0: - -> [#5]"])
            owner.children[1] = nodes[5]
            #expect(recorder.take() == ["children replacement 1: [#2] -> [#6]"])
            owner.children.remove(at: 0)
            #expect(recorder.take() == ["children removal 0: [#5] -> -"])
            owner.children.removeAll()
            #expect(recorder.take() == ["children removal 0,1,2: [#6, #3, #4] -> -"])
            owner.children.removeAll()
            #expect(recorder.take() == [])
        }
    }

    @Test("a change of many elements calls observers once for its removals and once for its insertions K12 O42")
    func batches() throws {
        try test.realm.write {
            owner.children.append(objectsIn: [nodes[3], nodes[4]])
            #expect(recorder.take() == ["children insertion 2,3: - -> [#4, #5]"])
            owner.children.replaceSubrange(1..<3, with: [nodes[5], nodes[0], nodes[3]])
            #expect(
                recorder.take() == [
                    "children removal 1,2: [#3, #4] -> -", "children insertion 1,2,3: - -> [#6, #1, #4]",
                ])
            owner.children.removeAll { $0.id < 3 }
            #expect(
                recorder.take() == ["children removal 0,2: [#2, #1] -> -"])
            owner.children.append(objectsIn: [])
            owner.children.removeSubrange(1..<1)
            #expect(recorder.take() == [])
            owner.children.sort { $0.id < $1.id }
            #expect(recorder.take().count == 1 && owner.children.map(\.id) == [4, 5, 6])
        }
    }

    @Test("a removal at several offsets is one change, and unmanaged lists report the positions of managed lists K12")
    func samePositions() throws {
        let unmanaged = Node(id: 9)
        unmanaged.children.append(objectsIn: [nodes[1], nodes[2]].map { Node(id: $0.id) })
        let other = unmanaged.recorder("children")
        func change(_ node: Node, _ added: Node) {
            node.children.append(node.children[0])
            node.children.insert(node.children[0], at: 0)
            node.children.remove(at: 0)
            node.children.remove(at: 2)
            node.children.replaceSubrange(0..<1, with: [node.children[1]])
            node.children.append(objectsIn: [added, added])
            node.children.remove(atOffsets: [0, 2])
            node.children.move(from: 0, to: 1)
            node.children.swapAt(0, 1)
            node.children[0] = added
            node.children.removeAll()
        }
        try test.realm.write { change(owner, nodes[3]) }
        change(unmanaged, Node(id: 4))
        let calls = recorder.take()
        #expect(calls.contains { $0.hasPrefix("children removal 0,2:") })
        #expect(other.take() == calls)
    }

    @Test("observers get several remote changes of one kind as one call K12")
    func remoteKinds() throws {
        try test.changeRemotely(1) { node, realm in
            node.children.append(realm.node(4))
            node.children.insert(realm.node(5), at: 0)
        }
        try test.changeRemotely(1) { node, realm in node.children.append(realm.node(6)) }
        test.realm.refresh()
        #expect(recorder.take() == ["children insertion 0,3,4: - -> [#5, #4, #6]"])
        try test.changeRemotely(1) { node, _ in
            node.children.remove(at: 4)
            node.children.remove(at: 0)
        }
        test.realm.refresh()
        #expect(recorder.take() == ["children removal 0,4: [#5, #6] -> -"])
        try test.changeRemotely(1) { node, realm in
            node.children[0] = realm.node(5)
            node.children[2] = realm.node(6)
        }
        try test.realm.beginWrite()
        #expect(recorder.take() == ["children replacement 0,2: [#2, #4] -> [#5, #6]"])
        test.realm.cancelWrite()
    }

    @Test("observers get remote changes of several kinds as one setting K12")
    func mixed() throws {
        try test.changeRemotely(1) { node, realm in
            node.children.remove(at: 0)
            node.children.append(realm.node(4))
            node.children.append(realm.node(5))
        }
        test.realm.refresh()
        #expect(recorder.take() == ["children: [#2, #3] -> live[#3, #4, #5]"])
    }

    @Test("assigning a list is reported as one setting K4 K12")
    func assignment() throws {
        let other = nodes[1]
        try test.realm.write {
            other.children.append(objectsIn: [nodes[3], nodes[4]])
            owner.children = other.children
        }
        #expect(recorder.take() == ["children: [#2, #3] -> live[#4, #5]"])
        try test.realm.write { owner.children = owner.children }
        #expect(recorder.take() == [])
        try test.realm.write { owner.children.removeAll() }
        _ = recorder.take()
        try test.realm.write { owner.children = List() }
        #expect(recorder.take() == ["children: [] -> live[]"])
    }

    @Test("a move or swap is reported as a replacement of the range that it spans K13")
    func moves() throws {
        try test.realm.write { owner.children.append(objectsIn: [nodes[3], nodes[4], nodes[5]]) }
        _ = recorder.take()
        try test.realm.write {
            owner.children.move(from: 1, to: 3)
            #expect(recorder.take() == ["children replacement 1,2,3: [#3, #4, #5] -> [#4, #5, #3]"])
            owner.children.move(from: 3, to: 1)
            #expect(recorder.take() == ["children replacement 1,2,3: [#4, #5, #3] -> [#3, #4, #5]"])
            owner.children.swapAt(0, 2)
            #expect(recorder.take() == ["children replacement 0,1,2: [#2, #3, #4] -> [#4, #3, #2]"])
            owner.children.swapAt(0, 2)
            _ = recorder.take()
            owner.children.move(from: 2, to: 2)
            #expect(recorder.take() == [])
        }
        try test.changeRemotely(1) { node, _ in node.children.move(from: 0, to: 4) }
        test.realm.refresh()
        #expect(recorder.take() == ["children replacement 0,1,2,3,4: [#2, #3, #4, #5, #6] -> [#3, #4, #5, #6, #2]"])
    }

    @Test("remote changes without a net effect notify no observer K13")
    func noEffect() throws {
        try test.changeRemotely(1) { node, realm in
            node.children.append(realm.node(4))
            node.children.removeLast()
            node.children.move(from: 0, to: 1)
            node.children.move(from: 1, to: 0)
        }
        test.realm.refresh()
        #expect(recorder.take() == [])
        #expect(owner.children.count == 2)
    }

    @Test("clearing a list after an append is reported as the removal of its original elements K14")
    func clear() throws {
        try test.changeRemotely(1) { node, realm in
            node.children.append(realm.node(4))
            node.children.removeAll()
        }
        test.realm.refresh()
        #expect(recorder.take() == ["children removal 0,1: [#2, #3] -> -"])
    }

    @Test("changes through mutableArrayValue notify observers of the list K15")
    func mutableArray() throws {
        let array = owner.mutableArrayValue(forKey: "children")
        #expect(array.count == 2 && array[0] as? Node == nodes[1])
        try test.realm.write {
            array.append(nodes[3])
            array.insert(nodes[4], at: 0)
            array[0] = nodes[5]
            array.move(from: 0, to: 1)
            array.remove(at: 0)
            array.removeAll()
        }
        #expect(
            recorder.take() == [
                "children insertion 2: - -> [#4]", "children insertion 0: - -> [#5]",
                "children replacement 0: [#5] -> [#6]", "children replacement 0,1: [#6, #2] -> [#2, #6]",
                "children removal 0: [#2] -> -", "children removal 0,1,2: [#6, #3, #4] -> -",
            ])
        let lists = OptionalLists()
        lists.mutableArrayValue(forKey: "ints").append(nil)
        lists.mutableArrayValue(forKey: "ints").append(3)
        #expect(Array(lists.ints) == [nil, 3])
    }

    @Test("observers with Swift key paths get the live list and the indexes K12")
    func typed() throws {
        var log: [String] = []
        let token = owner.observe(\.children, options: .both) { node, change in
            log.append("\(change.kind) \(change.indexes.map { Array($0) } ?? []) \(change.newValue?.count ?? -1)")
            #expect(change.oldValue == nil && change.newValue === node.children)
        }
        try test.realm.write {
            owner.children.append(nodes[3])
            owner.children.remove(at: 0)
            owner.children = [nodes[4]]
        }
        #expect(log == ["insertion [2] 3", "removal [0] 2", "setting [] 1"])
        token.invalidate()
    }

    @Test("each change of a set or map is reported as one setting K16")
    func setsAndMaps() throws {
        let recorder = owner.recorder("peers", "named", options: [])
        try test.realm.write {
            owner.peers.insert(nodes[1])
            owner.peers.insert(nodes[1])
            owner.peers.remove(nodes[1])
            #expect(recorder.take() == ["peers", "peers"])
            owner.named["a"] = nodes[1]
            #expect(recorder.take() == ["named"])
            owner.named["a"] = nodes[2]
            #expect(recorder.take() == ["named"])
            owner.named.removeObject(for: "a")
            #expect(recorder.take() == ["named"])
            owner.named.merge(["b": nodes[1]])
            owner.named.removeAll()
            #expect(recorder.take() == ["named", "named"])
        }
        try test.changeRemotely(1) { node, realm in
            node.peers.insert(realm.node(2))
            node.peers.insert(realm.node(3))
            node.named["x"] = realm.node(3)
        }
        test.realm.refresh()
        #expect(recorder.take() == ["peers", "named"])
    }

    @Test("the number of elements of a list can be observed K17")
    func count() throws {
        let recorder = owner.recorder("children.@count", "next.children.@count")
        try test.realm.write {
            owner.children.append(nodes[3])
            owner.children[0] = nodes[4]
            owner.children.remove(at: 0)
        }
        #expect(recorder.take() == ["children.@count: 2 -> 3", "children.@count: 3 -> 2"])
        try test.changeRemotely(1) { node, realm in
            node.children.append(realm.node(4))
            node.children.append(realm.node(5))
            node.next = realm.node(2)
            realm.node(2).children.append(realm.node(5))
        }
        test.realm.refresh()
        #expect(recorder.take().sorted() == ["children.@count: 2 -> 4", "next.children.@count: nil -> 1"])
        try test.changeRemotely(2) { node, realm in node.children.append(realm.node(4)) }
        test.realm.refresh()
        #expect(recorder.take() == ["next.children.@count: 1 -> 2"])
    }

    @Test("the number of elements of sets and maps can be observed, also when a write is cancelled K16 K17 K27")
    func countOfSetsAndMaps() throws {
        let counts = owner.recorder("peers.@count", "named.@count")
        let settings = owner.recorder("peers", "named", options: [])
        try test.realm.beginWrite()
        owner.peers.insert(nodes[1])
        owner.named["a"] = nodes[1]
        owner.named["a"] = nodes[2]
        #expect(counts.take() == ["peers.@count: 0 -> 1", "named.@count: 0 -> 1"])
        #expect(settings.take() == ["peers", "named", "named"])
        test.realm.cancelWrite()
        #expect(counts.take().sorted() == ["named.@count: 1 -> 0", "peers.@count: 1 -> 0"])
        #expect(settings.take().sorted() == ["named", "peers"])
        try test.changeRemotely(1) { node, realm in
            node.peers.insert(realm.node(2))
            node.peers.insert(realm.node(3))
            node.named.merge(["x": realm.node(3), "y": nil])
            realm.delete(realm.node(2))
        }
        test.realm.refresh()
        #expect(counts.take().sorted() == ["named.@count: 0 -> 2", "peers.@count: 0 -> 1"])
        #expect(settings.take().sorted() == ["named", "peers"])
    }

    @Test("changes of long lists of scalars have exact indexes K12")
    func scalars() throws {
        let lists = ScalarLists(id: 7)
        try test.realm.write { test.realm.add(lists) }
        let recorder = lists.recorder("ints", options: [])
        try test.realm.write { lists.ints.append(1) }
        try test.onNewThread { realm in
            try realm.write {
                realm.object(ofType: ScalarLists.self, forPrimaryKey: 7)?.ints.append(objectsIn: 0..<1_000)
            }
        }
        test.realm.refresh()
        #expect(recorder.changes.last?[.indexesKey] as? IndexSet == IndexSet(1...1_000))
        #expect(recorder.calls.count == 2)
    }
}
