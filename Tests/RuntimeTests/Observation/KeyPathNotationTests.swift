import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

/// The rules of key paths, each in every notation: what holds of one must hold of all.
@Suite("key paths in three notations")
struct KeyPathNotationTests {
    enum Notation: CaseIterable { case strings, swift, descriptors }

    private struct Paths {
        let strings: [String]
        let swift: [PartialKeyPath<Node>]
        let descriptors: [any KeyPathDescriptor<Node>]
    }

    /// Node 0 with the child 1, the peer 2 and 3 by name; 4 links to it, and has it as a child.
    private struct Graph {
        let test: TestRealm
        let nodes: [Node]
        let log = Log()

        init() throws {
            test = try TestRealm()
            nodes = (0..<8).map { Node(id: $0, name: "\($0)") }
            try test.realm.write {
                test.realm.add(nodes)
                nodes[0].next = nodes[1]
                nodes[1].next = nodes[2]
                nodes[2].next = nodes[3]
                nodes[0].children.append(nodes[1])
                nodes[0].peers.insert(nodes[2])
                nodes[0].named["x"] = nodes[3]
                nodes[0].part = Part(name: "p", node: nodes[5])
                nodes[4].next = nodes[0]
                nodes[4].children.append(nodes[0])
            }
        }

        /// Watches node 0, and a result that holds it alone.
        func watch(_ paths: Paths, _ notation: Notation) {
            let node = nodes[0]
            let alone = test.realm.objects(Node.self).where { $0.id == 0 }
            let object = { [log] (change: ObjectChange<Node>) in
                if case .change(_, let changes) = change { log.lines += changes.map(\.name) }
            }
            let row = { [log] (change: RealmCollectionChange<Results<Node>>) in
                if case .update = change { log.lines.append(text(change)) }
            }
            log.tokens =
                switch notation {
                case .strings:
                    [node.observe(keyPaths: paths.strings, object), alone.observe(keyPaths: paths.strings, row)]
                case .swift: [node.observe(keyPaths: paths.swift, object), alone.observe(keyPaths: paths.swift, row)]
                case .descriptors:
                    [
                        node.observe(keyPaths: paths.descriptors, object),
                        alone.observe(keyPaths: paths.descriptors, row),
                    ]
                }
            test.realm.refresh()
        }

        /// Both are told, the object's observer of the root; or, without one, nobody.
        func expect(
            _ root: String?, _ location: SourceLocation = #_sourceLocation, _ change: () throws -> Void
        ) throws {
            try test.realm.write { try change() }
            test.realm.refresh()
            #expect(log.take() == (root.map { [$0, "[] [] [0]"] } ?? []), sourceLocation: location)
        }
    }

    @Test("N82 only the named properties trigger", arguments: Notation.allCases) func named(notation: Notation) throws {
        let graph = try Graph()
        graph.watch(
            Paths(strings: ["name"], swift: [\.name], descriptors: [Node.fields.name]), notation)
        try graph.expect("name") { graph.nodes[0].name = "x" }
        try graph.expect(nil) { graph.nodes[0].amount = 2 }
        try graph.expect(nil) { graph.nodes[0].next = nil }
        try graph.expect(nil) { graph.nodes[1].name = "y" }
    }

    @Test("N83 a collection alone is followed for what is in it only", arguments: Notation.allCases)
    func collection(notation: Notation) throws {
        let graph = try Graph()
        graph.watch(
            Paths(strings: ["children"], swift: [\.children], descriptors: [Node.fields.children]), notation)
        try graph.expect(nil) { graph.nodes[1].name = "x" }
        try graph.expect("children") { graph.nodes[0].children.append(graph.nodes[6]) }
        try graph.expect("children") { graph.test.realm.delete(graph.nodes[6]) }
        try graph.expect(nil) { graph.nodes[0].peers.insert(graph.nodes[5]) }
    }

    @Test("N84 N85 elements are followed for their names, coming and going", arguments: Notation.allCases)
    func elements(notation: Notation) throws {
        let graph = try Graph()
        graph.watch(
            Paths(
                strings: ["children.name"], swift: [\.children[0].name], descriptors: [Node.fields.children.name]),
            notation)
        try graph.expect("children") { graph.nodes[1].name = "x" }
        try graph.expect(nil) { graph.nodes[1].amount = 3 }
        try graph.expect("children") { graph.nodes[0].children.append(graph.nodes[6]) }
        try graph.expect("children") { graph.nodes[6].name = "y" }
        try graph.expect("children") { graph.nodes[0].children[0] = graph.nodes[5] }
        try graph.expect(nil) { graph.nodes[1].name = "z" }
    }

    @Test("N87 through sets, maps and optionals", arguments: Notation.allCases) func kinds(notation: Notation) throws {
        let graph = try Graph()
        graph.watch(
            Paths(
                strings: ["peers.name", "named.name", "part.node.name"],
                swift: [\.peers[0].name, \.named["any"]??.name, \.part?.node?.name],
                descriptors: [Node.fields.peers.name, Node.fields.named.name, Node.fields.part.node.name]), notation)
        try graph.expect("peers") { graph.nodes[2].name = "x" }
        try graph.expect("named") { graph.nodes[3].name = "x" }
        try graph.expect("named") { graph.nodes[0].named["y"] = graph.nodes[6] }
        try graph.expect("part") { graph.nodes[5].name = "x" }
        try graph.expect("part") { graph.nodes[0].part?.node = nil }
        try graph.expect(nil) { graph.nodes[0].part?.name = "q" }
        try graph.expect(nil) { graph.nodes[1].name = "x" }
    }

    @Test("N86 a link is followed for reassignment, a property behind it for both", arguments: Notation.allCases)
    func links(notation: Notation) throws {
        let graph = try Graph()
        graph.watch(Paths(strings: ["next"], swift: [\.next], descriptors: [Node.KeyPaths.next]), notation)
        try graph.expect(nil) { graph.nodes[1].name = "x" }
        try graph.expect("next") { graph.nodes[0].next = graph.nodes[5] }
        graph.watch(
            Paths(strings: ["next.name"], swift: [\.next?.name], descriptors: [Node.KeyPaths.nextName]), notation)
        try graph.expect("next") { graph.nodes[5].name = "x" }
        try graph.expect("next") { graph.nodes[0].next = graph.nodes[1] }
        try graph.expect(nil) { graph.nodes[5].name = "y" }
        try graph.expect(nil) { graph.nodes[1].amount = 1 }
    }

    @Test("N90 linking objects: an origin is added, re-pointed or deleted", arguments: Notation.allCases)
    func origins(notation: Notation) throws {
        let graph = try Graph()
        graph.watch(
            Paths(
                strings: ["previous", "parents"], swift: [\.previous, \.parents],
                descriptors: [Node.fields.previous, Node.fields.parents]), notation)
        try graph.expect(nil) { graph.nodes[4].name = "x" }
        try graph.expect("previous") { graph.nodes[5].next = graph.nodes[0] }
        try graph.expect("previous") { graph.nodes[5].next = graph.nodes[1] }
        try graph.expect("parents") { graph.nodes[6].children.append(graph.nodes[0]) }
        // Other elements make no difference, the same one once more does.
        try graph.expect(nil) { graph.nodes[6].children.append(graph.nodes[3]) }
        try graph.expect("parents") { graph.nodes[6].children.append(graph.nodes[0]) }
        try graph.expect("parents") { graph.nodes[6].children.remove(at: 0) }
        try graph.expect("parents") { graph.test.realm.delete(graph.nodes[6]) }
        try graph.expect("previous") {
            graph.nodes[4].children.removeAll()
            graph.nodes[4].children.append(graph.nodes[0])
            graph.nodes[4].next = nil
        }
    }

    @Test("N91 a property of linking objects", arguments: Notation.allCases)
    func originProperties(notation: Notation) throws {
        let graph = try Graph()
        graph.watch(
            Paths(
                strings: ["parents.name"], swift: [\.parents[0].name], descriptors: [Node.fields.parents.name]),
            notation)
        try graph.expect("parents") { graph.nodes[4].name = "x" }
        try graph.expect(nil) { graph.nodes[4].amount = 1 }
        try graph.expect(nil) { graph.nodes[4].children.append(graph.nodes[3]) }
        try graph.expect("parents") { graph.nodes[5].children.append(graph.nodes[0]) }
        try graph.expect("parents") { graph.nodes[5].name = "y" }
        try graph.expect("parents") { graph.nodes[5].children.removeAll() }
        try graph.expect(nil) { graph.nodes[5].name = "z" }
    }

    @Test("N93 N94 a deep path is followed exactly, and ends with a nil link", arguments: Notation.allCases)
    func depth(notation: Notation) throws {
        let graph = try Graph()
        graph.watch(
            Paths(
                strings: ["next.next.next.next.next.name"], swift: [\.next?.next?.next?.next?.next?.name],
                descriptors: [Node.fields.next.next.next.next.next.name]), notation)
        try graph.expect(nil) { graph.nodes[3].name = "x" }
        try graph.expect("next") { graph.nodes[3].next = graph.nodes[6] }
        try graph.expect("next") { graph.nodes[6].next = graph.nodes[7] }
        try graph.expect("next") { graph.nodes[7].name = "x" }
        try graph.expect("next") { graph.nodes[2].next = nil }
        try graph.expect(nil) { graph.nodes[7].name = "y" }
    }

    @Test("N88 N100 in collections: members always, a changed collection of a member too", arguments: Notation.allCases)
    func members(notation: Notation) throws {
        let test = try TestRealm()
        let nodes = (0..<3).map { Node(id: $0) }
        try test.realm.write { test.realm.add(nodes) }
        let log = Log()
        let all = test.realm.objects(Node.self)
        let tell = { (change: RealmCollectionChange<Results<Node>>) in log.lines.append(text(change)) }
        log.tokens =
            switch notation {
            case .strings: [all.observe(keyPaths: ["children"], tell)]
            case .swift: [all.observe(keyPaths: [\.children], tell)]
            case .descriptors: [all.observe(keyPaths: [Node.fields.children], tell)]
            }
        test.realm.refresh()
        try test.realm.write {
            nodes[1].children.append(nodes[0])
            nodes[2].name = "x"
            test.realm.add(Node(id: 9))
        }
        test.realm.refresh()
        #expect(log.take() == ["initial", "[] [3] [1]"])
    }

    @Test("N96 tokens with different key paths on one object", arguments: Notation.allCases)
    func exclusive(notation: Notation) throws {
        let graph = try Graph()
        let others = try Graph()
        graph.watch(Paths(strings: ["name"], swift: [\.name], descriptors: [Node.fields.name]), notation)
        let tokens = graph.log.tokens
        graph.watch(Paths(strings: ["amount"], swift: [\.amount], descriptors: [Node.fields.amount]), notation)
        graph.log.tokens += tokens
        try graph.expect("name") { graph.nodes[0].name = "x" }
        try graph.expect("amount") { graph.nodes[0].amount = 1 }
        withExtendedLifetime(others) {}
    }

    @Test("N98 a star is every property of one level, linking objects among them") func star() throws {
        let graph = try Graph()
        graph.watch(Paths(strings: ["*"], swift: [], descriptors: []), .strings)
        try graph.expect("amount") { graph.nodes[0].amount = 2 }
        try graph.expect("peers") { graph.nodes[0].peers.removeAll() }
        try graph.expect("parents") { graph.nodes[5].children.append(graph.nodes[0]) }
        try graph.expect("previous") { graph.nodes[5].next = graph.nodes[0] }
        try graph.expect(nil) { graph.nodes[1].name = "x" }
        graph.watch(Paths(strings: ["children.*"], swift: [], descriptors: []), .strings)
        try graph.expect("children") { graph.nodes[1].amount = 2 }
        try graph.expect("children") { graph.nodes[6].peers.insert(graph.nodes[1]) }
        try graph.expect(nil) { graph.nodes[0].amount = 1 }
    }
}
