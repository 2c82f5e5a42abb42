import ConformanceModels
import Foundation
import Martlet
import MartletTestSupport
import Testing

@Suite struct DetachedTests {
    @Test("a detached copy is deep, keeps cycles, and belongs to no Realm O64 O10") func graph() throws {
        let test = try TestRealm()
        let (node, other) = (Node(id: 1, name: "a", amount: 2.5), Node(id: 2))
        node.next = other
        other.next = node
        node.children.append(objectsIn: [other, node, other])
        node.peers.insert(other)
        node.named.merge(["o": other, "none": nil])
        node.part = Part(name: "p", core: Screw(length: 3), screws: [Screw(length: 4)], node: other, tags: ["t"])
        try test.realm.write { test.realm.add(node) }
        let copy = node.detached()
        #expect(copy.realm == nil && copy !== node && copy.id == 1 && copy.name == "a" && copy.amount == 2.5)
        let second = try #require(copy.next)
        #expect(second.realm == nil && second.next === copy && second.id == 2)
        #expect(copy.children.count == 3 && copy.children[0] === second && copy.children[1] === copy)
        #expect(copy.children[2] === second && copy.peers.first === second)
        #expect(copy.named["o"] == .some(second) && copy.named["none"] == .some(nil) && copy.named.count == 2)
        #expect(copy.part?.core?.length == 3 && copy.part?.screws.map(\.length) == [4] && copy.part?.node === second)
        #expect(copy.part?.tags.first == "t" && copy.part?.realm == nil)
        copy.name = "changed"
        copy.children.removeAll()
        #expect(node.name == "a" && node.children.count == 3 && node.next === other)
        let target = try TestRealm()
        try target.realm.write { target.realm.add(copy) }
        #expect(target.realm.objects(Node.self).count == 2 && copy.realm == target.realm && copy.part?.node == second)
    }

    @Test("a detached copy has bitwise equal values O64 O10 O30") func values() throws {
        let test = try TestRealm()
        let scalars = Scalars(
            id: 1, float: -0.0, double: .nan, string: "e\u{301}", data: Data([0]), anyValue: .float(.nan))
        let lists = OptionalLists(id: 1, doubles: [nil, .nan, -0.0], strings: [nil, "a"], sizes: [nil, .best])
        try test.realm.write { test.realm.add([scalars, lists] as [Object]) }
        let (copy, list) = (scalars.detached(), lists.detached())
        #expect(copy.double.bitPattern == Double.nan.bitPattern && copy.float.sign == .minus)
        #expect(Array(copy.string.utf8) == Array("e\u{301}".utf8) && copy.data == Data([0]))
        #expect(list.doubles[0] == nil && list.doubles[1]?.isNaN == true && list.doubles[2]?.sign == .minus)
        #expect(Array(list.strings) == [nil, "a"] && Array(list.sizes) == [nil, .best])
    }

    @Test("detached() copies a long chain of links without a deep call stack, and copies each object once O64 O10")
    func chain()
        throws
    {
        let test = try TestRealm()
        let nodes = (0..<30_000).map { Node(id: $0) }
        try test.realm.write {
            test.realm.add(nodes)
            for (node, next) in zip(nodes, nodes.dropFirst()) { node.next = next }
        }
        let copies = test.realm.objects(Node.self).detached()
        #expect(copies.count == 30_000 && copies[0].next === copies[1] && copies[29_998].next === copies[29_999])
        for copy in copies { copy.next = nil }
    }
}
