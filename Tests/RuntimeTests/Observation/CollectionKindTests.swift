import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// Returns `initial`, or the keys of the deletions, insertions and modifications as text.
private func text<C>(_ change: RealmMapChange<C>) -> String {
    switch change {
    case .initial: "initial"
    case .update(_, let deletions, let insertions, let modifications): "\(deletions) \(insertions) \(modifications)"
    case .error(let error): "\(error)"
    }
}

@Suite("sets, maps and collections of values")
struct CollectionKindTests {
    private func start() throws -> (test: TestRealm, nodes: [Node], log: Log) {
        let test = try TestRealm()
        let nodes = (0..<5).map { Node(id: $0, name: "\($0)") }
        try test.realm.write { test.realm.add(nodes) }
        return (test, nodes, Log())
    }

    private func expect(_ test: TestRealm, _ log: Log, _ lines: [String], _ location: SourceLocation = #_sourceLocation)
    {
        test.realm.refresh()
        #expect(log.take() == lines, sourceLocation: location)
    }

    @Test("a set reports positions in the order of the set N66") func sets() throws {
        let (test, nodes, log) = try start()
        try test.realm.write { nodes[0].peers.insert(objectsIn: nodes[1...3]) }
        let peers = nodes[0].peers
        log.tokens = [
            peers.observe { change in
                if case .update(let set, _, _, _) = change { #expect(set === peers) }
                log.lines.append(text(change))
            }
        ]
        expect(test, log, ["initial"])
        try test.realm.write { nodes[0].peers.insert(nodes[4]) }
        expect(test, log, ["[] [3] []"])
        try test.realm.write { nodes[0].peers.insert(nodes[4]) }
        expect(test, log, [])
        try test.realm.write {
            nodes[0].peers.remove(nodes[1])
            nodes[3].name = "x"
        }
        expect(test, log, ["[0] [] [2]"])
        try test.realm.write { test.realm.delete(nodes[4]) }
        expect(test, log, ["[2] [] []"])
        try test.onNewThread { realm in
            try realm.write { realm.object(ofType: Node.self, forPrimaryKey: 0)?.peers.removeAll() }
        }
        expect(test, log, ["[0, 1] [] []"])
        try test.realm.write { nodes[0].children.append(nodes[1]) }
        expect(test, log, [])
    }

    @Test("deleting the owner of a set and a map reports all elements as deleted and ends the observation N59 N63")
    func owner() throws {
        let (test, nodes, log) = try start()
        try test.realm.write {
            nodes[0].peers.insert(nodes[1])
            nodes[0].named["a"] = nodes[1]
        }
        log.tokens = [
            nodes[0].peers.observe { log.lines.append("set " + text($0)) },
            nodes[0].named.observe { log.lines.append("map " + text($0)) },
        ]
        expect(test, log, ["set initial", "map initial"])
        try test.realm.write { nodes[0].named["b"] = nodes[2] }
        expect(test, log, [#"map [] ["b"] []"#])
        try test.realm.write { test.realm.delete(nodes[0]) }
        expect(test, log, ["set [0] [] []", #"map ["a", "b"] [] []"#])
        try test.realm.write { test.realm.add(Node(id: 0, peers: [nodes[1]], named: ["a": nodes[1]])) }
        expect(test, log, [])
    }

    @Test("the keys of a map are reported in ascending order, and compared by their bytes N64") func mapKeys() throws {
        let (test, nodes, log) = try start()
        let map = nodes[0].named
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        try test.realm.write { map[composed] = nodes[1] }
        log.tokens = [map.observe { log.lines.append(text($0)) }]
        expect(test, log, ["initial"])
        try test.realm.write {
            map.removeObject(for: composed)
            map[decomposed] = nodes[1]
        }
        expect(test, log, ["[\"\(composed)\"] [\"\(decomposed)\"] []"])
        try test.realm.write { for key in ["z", "b", "a"] { map[key] = nodes[2] } }
        expect(test, log, [#"[] ["a", "b", "z"] []"#])
        try test.realm.write { for key in ["z", "a", "b"] { map[key] = nodes[3] } }
        expect(test, log, [#"[] [] ["a", "b", "z"]"#])
        try test.realm.write { for key in ["z", "a", "b"] { map.removeObject(for: key) } }
        expect(test, log, [#"["a", "b", "z"] [] []"#])
    }

    @Test("a map reports keys, and reports an entry whose object is deleted as a modification N64") func maps() throws {
        let (test, nodes, log) = try start()
        try test.realm.write { nodes[0].named.merge(["a": nodes[1], "b": nodes[2], "c": nil]) }
        let map = nodes[0].named
        log.tokens = [map.observe { log.lines.append(text($0)) }]
        expect(test, log, ["initial"])
        try test.realm.write { map["d"] = nodes[3] }
        expect(test, log, [#"[] ["d"] []"#])
        try test.realm.write { map["c"] = nodes[4] }
        expect(test, log, [#"[] [] ["c"]"#])
        try test.realm.write { map["a"] = nil }
        expect(test, log, [#"["a"] [] []"#])
        try test.realm.write { nodes[2].name = "x" }
        expect(test, log, [#"[] [] ["b"]"#])
        try test.realm.write { test.realm.delete(nodes[3]) }
        expect(test, log, [#"[] [] ["d"]"#])
        #expect(map["d"] == .some(nil) && map.count == 3)
        try test.realm.write {
            map.removeObject(for: "b")
            map["b"] = nodes[1]
            map["e"] = nodes[1]
            map.removeObject(for: "e")
        }
        expect(test, log, [#"[] [] ["b"]"#])
        try test.onNewThread { realm in
            try realm.write { realm.object(ofType: Node.self, forPrimaryKey: 0)?.named.removeAll() }
        }
        expect(test, log, [#"["b", "c", "d"] [] []"#])
    }

    @Test("key paths of maps are strings, Swift key paths or descriptors N64 N87") func mapKeyPaths() throws {
        let (test, nodes, log) = try start()
        try test.realm.write { nodes[0].named["a"] = nodes[1] }
        let map = nodes[0].named
        log.tokens = [
            map.observe(keyPaths: ["name"]) { log.lines.append("a \(text($0))") },
            map.observe(keyPaths: [\Node.name]) { log.lines.append("b \(text($0))") },
            map.observe(keyPaths: [Node.fields.name]) { log.lines.append("c \(text($0))") },
        ]
        expect(test, log, ["a initial", "b initial", "c initial"])
        try test.realm.write { nodes[1].amount = 2 }
        expect(test, log, [])
        try test.realm.write { nodes[1].name = "x" }
        expect(test, log, [#"a [] [] ["a"]"#, #"b [] [] ["a"]"#, #"c [] [] ["a"]"#])
    }

    @Test("lists, sets and maps of values report their changes N56 N64 N66") func values() throws {
        let (test, _, log) = try start()
        let (lists, sets, maps) = (ScalarLists(), ScalarSets(), ScalarMaps())
        try test.realm.write {
            test.realm.add([lists])
            test.realm.add([sets])
            test.realm.add([maps])
            lists.ints.append(objectsIn: [1, 2, 1])
            sets.strings.insert(objectsIn: ["a", "b"])
            maps.doubles.merge(["x": 1, "y": 2])
        }
        log.tokens = [
            lists.ints.observe { log.lines.append("list \(text($0))") },
            sets.strings.observe { log.lines.append("set \(text($0))") },
            maps.doubles.observe { log.lines.append("map \(text($0))") },
        ]
        expect(test, log, ["list initial", "set initial", "map initial"])
        try test.realm.write {
            lists.ints[2] = 1
            lists.ints.insert(7, at: 1)
            sets.strings.remove("a")
            sets.strings.insert("c")
            maps.doubles["x"] = 1
            maps.doubles["z"] = 3
        }
        expect(test, log, ["list [] [1] [2]", "set [0] [1] []", #"map [] ["z"] ["x"]"#])
        try test.realm.write { lists.floats.append(1) }
        expect(test, log, [])
    }

    @Test("observers of sets, maps and sections on a queue are called on that queue N16") func queues() throws {
        let (test, nodes, _) = try start()
        let queue = DispatchQueue(label: "observers")
        let delivered = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var lines: [String] = []
        let owner = nodes[0]
        let tokens = [
            owner.peers.observe(on: queue) { change in
                if case .initial(let set) = change { lines.append("set \(set.count)") }
                if case .update(let set, _, _, _) = change { lines.append("set \(set.map(\.id))") }
                delivered.signal()
            },
            owner.named.observe(on: queue) { change in
                if case .initial(let map) = change { lines.append("map \(map.count)") }
                if case .update(let map, _, _, _) = change { lines.append("map \(map.keys)") }
                delivered.signal()
            },
            test.realm.objects(Node.self).sectioned(by: \.name).observe(on: queue) { change in
                if case .initial(let sections) = change { lines.append("sections \(sections.count)") }
                if case .update(let sections, _, _, _, _, _) = change { lines.append("sections \(sections.allKeys)") }
                delivered.signal()
            },
        ]
        for _ in 0..<3 { delivered.wait() }
        #expect(queue.sync { lines.sorted() } == ["map 0", "sections 5", "set 0"])
        queue.sync { lines = [] }
        try test.realm.write {
            nodes[0].peers.insert(nodes[2])
            nodes[0].named["a"] = nodes[3]
            nodes[4].name = "3"
        }
        for _ in 0..<3 { delivered.wait() }
        #expect(
            queue.sync { lines.sorted() } == [#"map ["a"]"#, #"sections ["0", "1", "2", "3"]"#, "set [2]"])
        withExtendedLifetime(tokens) {}
    }

    @Test("results of sets, maps and linking objects report changes N67") func queried() throws {
        let (test, nodes, log) = try start()
        try test.realm.write {
            nodes[0].peers.insert(objectsIn: [nodes[1], nodes[2]])
            nodes[0].named.merge(["a": nodes[1], "b": nodes[3]])
            nodes[1].next = nodes[4]
            nodes[2].next = nodes[4]
        }
        log.tokens = [
            nodes[0].peers.where { $0.amount < 5 }.sorted(byKeyPath: "name", ascending: false)
                .observe { log.lines.append("set \(text($0))") },
            nodes[0].named.where { $0.amount < 5 }.observe { log.lines.append("map \(text($0))") },
            nodes[4].previous.sorted(byKeyPath: "name").observe { log.lines.append("links \(text($0))") },
            nodes[0].children.sorted(byKeyPath: "name").observe { log.lines.append("list \(text($0))") },
        ]
        expect(test, log, ["set initial", "map initial", "links initial", "list initial"])
        try test.realm.write { nodes[1].amount = 7 }
        expect(test, log, ["set [1] [] []", "map [0] [] []", "links [] [] [0]"])
        try test.realm.write {
            nodes[0].peers.insert(nodes[4])
            nodes[0].named["c"] = nodes[3]
            nodes[1].next = nil
            nodes[0].children.append(objectsIn: [nodes[3], nodes[2]])
        }
        expect(test, log, ["set [] [0] []", "map [] [1] []", "links [0] [] []", "list [] [0, 1] []"])
        try test.realm.write { nodes[0].named.removeObject(for: "b") }
        expect(test, log, ["map [0] [] []"])
        try test.realm.write { test.realm.delete(nodes[0]) }
        expect(test, log, ["set [0, 1] [] []", "map [0] [] []", "list [0, 1] [] []"])
        try test.realm.write { test.realm.add(Node(id: 0, children: [nodes[1]], peers: [nodes[1]])) }
        expect(test, log, [])
    }

    @Test("distinct results report an object as deleted when it becomes a duplicate, and later as inserted again N51")
    func distinct() throws {
        let (test, nodes, log) = try start()
        log.tokens = [test.realm.objects(Node.self).distinct(by: ["name"]).observe { log.lines.append(text($0)) }]
        expect(test, log, ["initial"])
        try test.realm.write { nodes[3].name = "1" }
        expect(test, log, ["[3] [] []"])
        try test.realm.write { nodes[3].amount = 4 }
        expect(test, log, [])
        try test.realm.write { nodes[1].amount = 4 }
        expect(test, log, ["[] [] [1]"])
        try test.realm.write { nodes[3].name = "7" }
        expect(test, log, ["[] [3] []"])
        try test.realm.write {
            nodes[3].name = "1"
            test.realm.delete(nodes[1])
        }
        expect(test, log, ["[1] [] [3]"])
    }

    @Test("in results with a limit, only changes inside the limit are reported N54") func limit() throws {
        let (test, nodes, log) = try start()
        let window = test.realm.objects(Node.self).sorted(byKeyPath: "name").limit(2, offset: 1)
        log.tokens = [window.observe { log.lines.append(text($0)) }]
        expect(test, log, ["initial"])
        #expect(window.map(\.id) == [1, 2])
        try test.realm.write { nodes[4].amount = 1 }
        expect(test, log, [])
        try test.realm.write { nodes[0].name = "9" }
        expect(test, log, ["[0] [1] []"])
        try test.realm.write { nodes[2].amount = 1 }
        expect(test, log, ["[] [] [0]"])
        try test.realm.write { nodes[1].name = "8" }
        expect(test, log, ["[0] [1] []"])
        #expect(window.map(\.id) == [3, 4])
    }

    @Test("embedded objects in lists and maps report changes N68") func embedded() throws {
        let (test, nodes, log) = try start()
        try test.realm.write {
            nodes[0].parts.append(objectsIn: [Part(name: "a"), Part(name: "b")])
            nodes[0].partsByName["x"] = Part(name: "c")
        }
        log.tokens = [
            nodes[0].parts.observe { log.lines.append("list \(text($0))") },
            nodes[0].partsByName.observe { log.lines.append("map \(text($0))") },
            nodes[0].parts[1].observe { log.lines.append("part \(text($0))") },
        ]
        expect(test, log, ["list initial", "map initial"])
        try test.realm.write {
            nodes[0].parts[1].name = "bb"
            nodes[0].partsByName["x"]??.name = "cc"
        }
        expect(test, log, ["list [] [] [1]", #"map [] [] ["x"]"#, "part name: b → bb"])
        try test.realm.write {
            nodes[0].parts[0] = Part(name: "z")
            nodes[0].partsByName["x"] = Part(name: "y")
        }
        expect(test, log, ["list [] [] [0]", #"map [] [] ["x"]"#])
        try test.realm.write { nodes[0].parts.remove(at: 0) }
        expect(test, log, ["list [0] [] []"])
        try test.realm.write { test.realm.delete(nodes[0]) }
        expect(test, log, ["list [0] [] []", #"map ["x"] [] []"#, "part deleted"])
    }
}
