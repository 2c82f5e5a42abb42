import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite struct IterationTests {
    private let test: TestRealm
    private let count = 700

    init() throws {
        test = try TestRealm()
        try test.realm.write { test.realm.add((0..<count).map { Node(id: $0, name: "node \($0)") }) }
    }

    private var all: Results<Node> { test.realm.objects(Node.self) }

    @Test("a loop visits the initial members of the collection, even if its body writes N130")
    func writesInTheBody() throws {
        var seen: [Int] = []
        for node in all {
            seen.append(node.id)
            if node.id % 100 == 50 {
                try test.realm.write {
                    test.realm.add(Node(id: 10_000 + node.id))
                    if let next = test.realm.object(ofType: Node.self, forPrimaryKey: node.id + 1) { next.name = "new" }
                    node.name = "mine"
                }
                #expect(node.name == "mine")
            } else {
                #expect(node.name == (node.id % 100 == 51 ? "new" : "node \(node.id)"))
            }
        }
        #expect(seen == Array(0..<count) && all.count == count + 7)
    }

    @Test("loops visit all objects if their keys span the whole range of Int N130 O11") func distantKeys() throws {
        let test = try TestRealm()
        let ids = [.min, .min + 1, -5, .max, .max - 1] + (0..<9).map { $0 * (1 << 58) }
        try test.realm.write { test.realm.add(ids.map { Node(id: $0, name: "\($0)") }) }
        let all = test.realm.objects(Node.self)
        let ascending = ids.sorted()
        #expect(Array(all).map(\.id) == ascending)
        #expect(all.where { $0.amount == 0 }.map(\.id) == ascending)
        #expect(Array(all.sorted(byKeyPath: "id", ascending: false)).map(\.id) == ascending.reversed())
        try test.realm.write {
            #expect(Array(all).map(\.id) == ascending)
            #expect(Array(all.sorted(byKeyPath: "id", ascending: false)).map(\.id) == ascending.reversed())
        }
        var visited: [Int] = []
        for node in all {
            try test.realm.write { node.amount += 1 }
            visited.append(node.id)
        }
        #expect(visited == ascending && all.allSatisfy { $0.amount == 1 })
    }

    @Test("a loop in a write reads a value that was assigned through another accessor of the row N130 O14")
    func furtherAccessor()
        throws
    {
        let test = try TestRealm()
        try test.realm.write { test.realm.add((0..<700).map { Node(id: $0, name: "a") }) }
        try test.realm.write {
            let other = Node(id: 500, name: "a")
            var found: [String] = []
            for node in test.realm.objects(Node.self) {
                if node.id == 0 {
                    test.realm.add(other, update: .modified)
                    other.name = "b"
                }
                if node.id == 500 { found.append(node.name) }
            }
            #expect(found == ["b"])
        }
        #expect(test.realm.object(ofType: Node.self, forPrimaryKey: 500)?.name == "b")
    }

    @Test("members that the body deletes are visited as invalidated objects N130") func deletesInTheBody()
        throws
    {
        var seen = 0
        var invalidated = 0
        for node in all {
            seen += 1
            if node.isInvalidated {
                invalidated += 1
                continue
            }
            if node.id == 300 {
                try test.realm.write { test.realm.delete(all.where { $0.id >= 400 && $0.id < 500 }) }
            }
        }
        #expect(seen == count && invalidated == 100)
    }

    @Test("a loop continues with the initial members after the Realm is refreshed and invalidated N130")
    func refreshesInTheBody() throws {
        var seen: [Int] = []
        for node in all {
            seen.append(node.id)
            if seen.count == 20 {
                try test.onNewThread { realm in
                    try realm.write {
                        realm.add((0..<50).map { Node(id: 20_000 + $0) })
                        realm.object(ofType: Node.self, forPrimaryKey: 21)?.name = "from elsewhere"
                    }
                }
                #expect(test.realm.refresh())
            }
            if node.id == 21 { #expect(node.name == "from elsewhere") }
            if seen.count == 400 { test.realm.invalidate() }
        }
        #expect(seen == Array(0..<count))
    }

    @Test("loops return the instances that the program retains, and keep no other instances alive O15")
    func identity() throws {
        let held = all.filter { $0.id % 3 == 0 }
        for (node, other) in zip(all, all) { #expect(node === other) }
        for node in all where node.id % 3 == 0 { #expect(node === held[node.id / 3]) }
        weak var dropped: Node?
        for node in all {
            if node.id == 10 { dropped = node }
            if node.id == 12 { #expect(dropped == nil) }
        }
        #expect(held.map(\.name) == stride(from: 0, to: count, by: 3).map { "node \($0)" })
        let kept = Array(all)
        #expect(kept.map(\.id) == Array(0..<count) && kept[6] === held[2])
    }

    @Test("objects from a loop are live O14") func staysCurrent() throws {
        let kept = Array(all)
        try test.realm.write { for node in all { node.amount = Double(node.id) } }
        #expect(kept.allSatisfy { $0.amount == Double($0.id) })
        try test.onNewThread { realm in try realm.write { for node in realm.objects(Node.self) { node.name = "again" } }
        }
        test.realm.refresh()
        #expect(kept.allSatisfy { $0.name == "again" && $0.amount == Double($0.id) })
    }

    @Test("sorted, filtered and frozen results can be iterated, and iterators can be copied O40") func kinds() throws {
        #expect(all.sorted(byKeyPath: "id", ascending: false).map(\.id) == Array((0..<count).reversed()))
        var backwards: [String] = []
        for node in all.sorted(byKeyPath: "id", ascending: false) { backwards.append(node.name) }
        #expect(backwards == (0..<count).reversed().map { "node \($0)" })
        var sparse: [Int] = []
        for node in all.filter("id IN {3, 77, 500, 699}") { sparse.append(node.id) }
        #expect(sparse == [3, 77, 500, 699])
        var iterator = all.makeIterator()
        for _ in 0..<100 { _ = iterator.next() }
        var copy = iterator
        #expect(iterator.next()?.id == 100 && copy.next()?.id == 100 && copy.next()?.id == 101)
        try test.realm.write { test.realm.delete(all.where { $0.id == 101 }) }
        #expect(iterator.next()?.isInvalidated == true && iterator.next()?.id == 102 && copy.next()?.id == 102)
        let frozen = all.freeze()
        try test.realm.write { test.realm.deleteAll() }
        var names: [String] = []
        for node in frozen { names.append(node.name) }
        #expect(names.count == count - 1 && names.last == "node \(count - 1)" && all.isEmpty)
    }

    @Test("a loop that ends early releases its cursor O40") func early() throws {
        for node in all where node.id == 3 { break }
        #expect(all.first { $0.id == 20 }?.name == "node 20" && test.realm.context.cursors.compactMap(\.cursor).isEmpty)
    }

    @Test("a loop inside a write sees earlier changes of the write O41") func withinWrite() throws {
        try test.realm.write {
            all.first?.name = "first"
            test.realm.add(Node(id: 5_000, name: "last"))
            var names: [String] = []
            for node in all {
                names.append(node.name)
                // The query first writes pending assignments to the file, so rows change during the loop.
                if node.id == 40 {
                    let later = test.realm.object(ofType: Node.self, forPrimaryKey: 45)
                    later?.name = "later"
                    #expect(all.where { $0.name == "later" }.count == 1)
                }
            }
            #expect(names.count == count + 1 && names.first == "first" && names.last == "last" && names[45] == "later")
        }
        #expect(all.last?.name == "last")
    }
}
