import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

/// Tests the rules of key paths in every notation that can express the key path. An origin is an object that links to
/// another object.
@Suite("key paths in three notations")
struct KeyPathNotationTests {
    enum Notation: CaseIterable { case strings, swift, descriptors }

    private struct Paths {
        let strings: [String]
        let swift: [PartialKeyPath<Node>]
        let descriptors: [any KeyPathDescriptor<Node>]
    }

    /// Each of the nodes 0 to 2 links to the next node. Node 0 has the child 1, the peer 2 and the named node 3, and a
    /// part that links to node 5. Node 4 links to node 0, which is also a child of node 4.
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

        /// Observes node 0, and results that contain only node 0.
        func observe(_ paths: Paths, _ notation: Notation) {
            let node = nodes[0]
            let results = test.realm.objects(Node.self).where { $0.id == 0 }
            let object = { [log] (change: ObjectChange<Node>) in
                if case .change(_, let changes) = change { log.lines += changes.map(\.name) }
            }
            let row = { [log] (change: RealmCollectionChange<Results<Node>>) in
                if case .update = change { log.lines.append(text(change)) }
            }
            log.tokens =
                switch notation {
                case .strings:
                    [node.observe(keyPaths: paths.strings, object), results.observe(keyPaths: paths.strings, row)]
                case .swift: [node.observe(keyPaths: paths.swift, object), results.observe(keyPaths: paths.swift, row)]
                case .descriptors:
                    [
                        node.observe(keyPaths: paths.descriptors, object),
                        results.observe(keyPaths: paths.descriptors, row),
                    ]
                }
            test.realm.refresh()
        }

        /// Applies `change` in a write. Expects that both observers are called, and that the observer of the object
        /// reports the property `root`. If `root` is nil, expects no call.
        func expect(
            _ root: String?, _ location: SourceLocation = #_sourceLocation, _ change: () throws -> Void
        ) throws {
            try test.realm.write { try change() }
            test.realm.refresh()
            #expect(log.take() == (root.map { [$0, "[] [] [0]"] } ?? []), sourceLocation: location)
        }
    }

    @Test("observers are called only for the properties in their key paths N82", arguments: Notation.allCases)
    func named(notation: Notation) throws {
        let graph = try Graph()
        graph.observe(
            Paths(strings: ["name"], swift: [\.name], descriptors: [Node.fields.name]), notation)
        try graph.expect("name") { graph.nodes[0].name = "x" }
        try graph.expect(nil) { graph.nodes[0].amount = 2 }
        try graph.expect(nil) { graph.nodes[0].next = nil }
        try graph.expect(nil) { graph.nodes[1].name = "y" }
    }

    @Test(
        "a path that ends with a collection reports inserted and removed elements, not changes to elements N83",
        arguments: Notation.allCases)
    func collection(notation: Notation) throws {
        let graph = try Graph()
        graph.observe(
            Paths(strings: ["children"], swift: [\.children], descriptors: [Node.fields.children]), notation)
        try graph.expect(nil) { graph.nodes[1].name = "x" }
        try graph.expect("children") { graph.nodes[0].children.append(graph.nodes[6]) }
        try graph.expect("children") { graph.test.realm.delete(graph.nodes[6]) }
        try graph.expect(nil) { graph.nodes[0].peers.insert(graph.nodes[5]) }
    }

    @Test("a path to a property of elements also reports edits of the list N84 N85", arguments: Notation.allCases)
    func elements(notation: Notation) throws {
        let graph = try Graph()
        graph.observe(
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

    @Test("key paths lead through sets, maps and optionals N87", arguments: Notation.allCases)
    func kinds(notation: Notation) throws {
        let graph = try Graph()
        graph.observe(
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

    @Test(
        "a path to a link reports a new target; a path through the link also reports its last property N86",
        arguments: Notation.allCases)
    func links(notation: Notation) throws {
        let graph = try Graph()
        graph.observe(Paths(strings: ["next"], swift: [\.next], descriptors: [Node.KeyPaths.next]), notation)
        try graph.expect(nil) { graph.nodes[1].name = "x" }
        try graph.expect("next") { graph.nodes[0].next = graph.nodes[5] }
        graph.observe(
            Paths(strings: ["next.name"], swift: [\.next?.name], descriptors: [Node.KeyPaths.nextName]), notation)
        try graph.expect("next") { graph.nodes[5].name = "x" }
        try graph.expect("next") { graph.nodes[0].next = graph.nodes[1] }
        try graph.expect(nil) { graph.nodes[5].name = "y" }
        try graph.expect(nil) { graph.nodes[1].amount = 1 }
    }

    @Test(
        "a path to linking objects reports origins that are added, linked elsewhere or deleted N90",
        arguments: Notation.allCases)
    func origins(notation: Notation) throws {
        let graph = try Graph()
        graph.observe(
            Paths(
                strings: ["previous", "parents"], swift: [\.previous, \.parents],
                descriptors: [Node.fields.previous, Node.fields.parents]), notation)
        try graph.expect(nil) { graph.nodes[4].name = "x" }
        try graph.expect("previous") { graph.nodes[5].next = graph.nodes[0] }
        try graph.expect("previous") { graph.nodes[5].next = graph.nodes[1] }
        try graph.expect("parents") { graph.nodes[6].children.append(graph.nodes[0]) }
        // Another element in the list of an origin is not a change. A second link to node 0 is a change.
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

    @Test(
        "a path to a property of linking objects reports the property, and added and removed origins N91",
        arguments: Notation.allCases)
    func originProperties(notation: Notation) throws {
        let graph = try Graph()
        graph.observe(
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

    @Test("a deep path reports changes at every level, and ends at a nil link N93 N94", arguments: Notation.allCases)
    func depth(notation: Notation) throws {
        let graph = try Graph()
        graph.observe(
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

    @Test(
        "collections always report added and removed elements, and changes to observed properties of elements N88 N100",
        arguments: Notation.allCases)
    func members(notation: Notation) throws {
        let test = try TestRealm()
        let nodes = (0..<3).map { Node(id: $0) }
        try test.realm.write { test.realm.add(nodes) }
        let log = Log()
        let all = test.realm.objects(Node.self)
        let record = { (change: RealmCollectionChange<Results<Node>>) in log.lines.append(text(change)) }
        log.tokens =
            switch notation {
            case .strings: [all.observe(keyPaths: ["children"], record)]
            case .swift: [all.observe(keyPaths: [\.children], record)]
            case .descriptors: [all.observe(keyPaths: [Node.fields.children], record)]
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

    @Test(
        "observers of one object with different key paths are called only for their own key paths N96",
        arguments: Notation.allCases)
    func exclusive(notation: Notation) throws {
        let graph = try Graph()
        let others = try Graph()
        graph.observe(Paths(strings: ["name"], swift: [\.name], descriptors: [Node.fields.name]), notation)
        let tokens = graph.log.tokens
        graph.observe(Paths(strings: ["amount"], swift: [\.amount], descriptors: [Node.fields.amount]), notation)
        graph.log.tokens += tokens
        try graph.expect("name") { graph.nodes[0].name = "x" }
        try graph.expect("amount") { graph.nodes[0].amount = 1 }
        withExtendedLifetime(others) {}
    }

    @Test("a star stands for every property of one level, including linking objects N98") func star() throws {
        let graph = try Graph()
        graph.observe(Paths(strings: ["*"], swift: [], descriptors: []), .strings)
        try graph.expect("amount") { graph.nodes[0].amount = 2 }
        try graph.expect("peers") { graph.nodes[0].peers.removeAll() }
        try graph.expect("parents") { graph.nodes[5].children.append(graph.nodes[0]) }
        try graph.expect("previous") { graph.nodes[5].next = graph.nodes[0] }
        try graph.expect(nil) { graph.nodes[1].name = "x" }
        graph.observe(Paths(strings: ["children.*"], swift: [], descriptors: []), .strings)
        try graph.expect("children") { graph.nodes[1].amount = 2 }
        try graph.expect("children") { graph.nodes[6].peers.insert(graph.nodes[1]) }
        try graph.expect(nil) { graph.nodes[0].amount = 1 }
    }
}
