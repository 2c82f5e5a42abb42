import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// Returns `initial`, the error, or the change set as text: the deletions, insertions and modifications as
/// `section.row`, the inserted sections after `+`, and the deleted sections after `-`.
private func text<C>(_ change: RealmSectionedResultsChange<C>) -> String {
    func rows(_ paths: [IndexPath]) -> String { "\(paths.map { "\($0[0]).\($0[1])" })".replacing("\"", with: "") }
    return switch change {
    case .initial: "initial"
    case .update(_, let deletions, let insertions, let modifications, let inserted, let deleted):
        "\(rows(deletions)) \(rows(insertions)) \(rows(modifications)) +\(Array(inserted)) -\(Array(deleted))"
    case .error(let error): "\(error)"
    }
}

@Suite("observing sections")
struct SectionObservationTests {
    /// Adds five nodes. Sectioned by name, the nodes 1 and 3 are in section a, the nodes 0 and 4 in b, and node 2 in c.
    private func start() throws -> (test: TestRealm, nodes: [Node], log: Log) {
        let test = try TestRealm()
        let nodes = ["b", "a", "c", "a", "b"].enumerated().map { Node(id: $0.offset, name: $0.element) }
        try test.realm.write { test.realm.add(nodes) }
        return (test, nodes, Log())
    }

    private func expect(_ test: TestRealm, _ log: Log, _ lines: [String], _ location: SourceLocation = #_sourceLocation)
    {
        test.realm.refresh()
        #expect(log.take() == lines, sourceLocation: location)
    }

    private func byName(_ test: TestRealm) -> SectionedResults<String, Node> {
        test.realm.objects(Node.self).sectioned(by: \.name)
    }

    @Test("elements that are inserted, deleted, modified or moved to another section are reported N60") func elements()
        throws
    {
        let (test, nodes, log) = try start()
        log.tokens = [byName(test).observe { log.lines.append(text($0)) }]
        expect(test, log, ["initial"])
        try test.realm.write { nodes[3].amount = 1 }
        expect(test, log, ["[] [] [0.1] +[] -[]"])
        try test.realm.write { test.realm.add(Node(id: 9, name: "b")) }
        expect(test, log, ["[] [1.2] [] +[] -[]"])
        try test.realm.write { nodes[4].name = "a" }
        expect(test, log, ["[1.1] [0.2] [] +[] -[]"])
        try test.realm.write { test.realm.delete(nodes[1]) }
        expect(test, log, ["[0.0] [] [] +[] -[]"])
        try test.onNewThread { realm in
            try realm.write { realm.object(ofType: Node.self, forPrimaryKey: 3)?.name = "b" }
        }
        expect(test, log, ["[0.0] [1.1] [] +[] -[]"])
    }

    @Test("inserted, deleted and moved sections are reported; rows of a deleted section are not listed N60")
    func sections() throws {
        let (test, nodes, log) = try start()
        log.tokens = [
            byName(test).observe { change in
                if case .update(let current, _, _, _, _, _) = change { log.lines.append("\(current.allKeys)") }
                log.lines.append(text(change))
            }
        ]
        expect(test, log, ["initial"])
        try test.realm.write { nodes[2].name = "d" }
        expect(test, log, [#"["a", "b", "d"]"#, "[] [2.0] [] +[2] -[2]"])
        try test.realm.write { test.realm.add([Node(id: 7, name: "aa"), Node(id: 8, name: "aa")]) }
        expect(test, log, [#"["a", "aa", "b", "d"]"#, "[] [1.0, 1.1] [] +[1] -[]"])
        try test.realm.write { test.realm.delete([nodes[0], nodes[4]]) }
        expect(test, log, [#"["a", "aa", "d"]"#, "[] [] [] +[] -[2]"])
        try test.realm.write { test.realm.deleteAll() }
        expect(test, log, ["[]", "[] [] [] +[] -[0, 1, 2]"])
        try test.realm.write { test.realm.add(Node(id: 1, name: "n")) }
        expect(test, log, [#"["n"]"#, "[] [0.0] [] +[0] -[]"])
    }

    @Test("a section moves when its first element gets another position N60") func order() throws {
        let (test, nodes, log) = try start()
        let sections = test.realm.objects(Node.self).sectioned(
            by: \.name, sortDescriptors: [SortDescriptor(keyPath: "amount"), SortDescriptor(keyPath: "id")])
        log.tokens = [sections.observe { log.lines.append(text($0)) }]
        expect(test, log, ["initial"])
        #expect(sections.allKeys == ["b", "a", "c"])
        try test.realm.write { nodes[2].amount = -1 }
        expect(test, log, ["[] [0.0] [] +[0] -[2]"])
        #expect(sections.allKeys == ["c", "b", "a"])
        try test.realm.write { nodes[4].amount = -2 }
        // Section c, which was the first section, moves behind section b. In section b, node 4 moves before node 0.
        expect(test, log, ["[1.1] [0.0, 1.0] [] +[1] -[0]"])
        try test.realm.write { nodes[3].amount = -0.5 }
        expect(test, log, ["[2.1] [2.0] [] +[] -[]"])
    }

    @Test("sections by a key path follow changes over any number of links N53 N60") func longPath() throws {
        let (test, _, log) = try start()
        let chain = (10..<18).map { Node(id: $0, name: "n") }
        try test.realm.write {
            for (node, next) in zip(chain, chain.dropFirst()) { node.next = next }
            test.realm.add(chain)
        }
        let sections = test.realm.objects(Node.self).where { $0.id >= 10 && $0.id <= 11 }
            .sectioned(by: \.next?.next?.next?.next?.next?.name)
        log.tokens = [sections.observe { log.lines.append(text($0)) }]
        expect(test, log, ["initial"])
        try test.realm.write { chain[5].name = "x" }
        expect(test, log, ["[0.0] [1.0] [] +[1] -[]"])
        #expect(sections.allKeys == ["n", "x"])
    }

    @Test(
        "sections by a closure, or with sort descriptors, follow changes up to three links away N60 N99",
        arguments: [false, true])
    func computedKeys(isClosure: Bool) throws {
        let (test, _, log) = try start()
        let chain = (10..<16).map { Node(id: $0, name: "n") }
        try test.realm.write {
            for (node, next) in zip(chain, chain.dropFirst()) { node.next = next }
            test.realm.add(chain)
        }
        let all = test.realm.objects(Node.self).where { $0.id == 10 }
        func sections(_ depth: Int) -> SectionedResults<String?, Node> {
            guard !isClosure else {
                return all.sectioned(
                    by: { (0..<depth).reduce($0 as Node?) { node, _ in node?.next }?.name }, sortDescriptors: [])
            }
            let descriptors = [SortDescriptor(keyPath: "id")]
            return depth == 3
                ? all.sectioned(by: \.next?.next?.next?.name, sortDescriptors: descriptors)
                : all.sectioned(by: \.next?.next?.next?.next?.name, sortDescriptors: descriptors)
        }
        log.tokens = [sections(3), sections(4)].map { $0.observe { log.lines.append(text($0)) } }
        expect(test, log, ["initial", "initial"])
        try test.realm.write { chain[3].name = "x" }
        expect(test, log, ["[] [0.0] [] +[0] -[0]", "[] [] [0.0] +[] -[]"])
        try test.realm.write { chain[4].name = "y" }
        expect(test, log, [])
        // Sections without an observer compute their keys again after every change.
        #expect(sections(4).allKeys == ["y"])
    }

    @Test("the section of elements whose key is NaN is observed like any other section N60 O46")
    func notANumber() throws {
        let (test, nodes, log) = try start()
        try test.realm.write { nodes[0].amount = .nan }
        let sections = test.realm.objects(Node.self).sectioned(by: \.amount)
        let token = sections.observe { log.lines.append(text($0)) }
        let one = sections.section(forKey: .nan)?.observe { log.lines.append("one " + text($0)) }
        test.realm.refresh()
        _ = log.take()
        try test.realm.write { nodes[3].amount = -.nan }
        expect(test, log, ["[1.2] [0.1] [] +[] -[]", "one [] [0.1] [] +[] -[]"])
        try test.realm.write { nodes[3].name = "c" }
        expect(test, log, ["[] [] [0.1] +[] -[]", "one [] [] [0.1] +[] -[]"])
        try test.realm.write { for node in nodes { node.amount = 0 } }
        expect(test, log, ["[] [0.0, 0.3] [1.0, 1.1, 1.2] +[] -[0]", "one [] [] [] +[] -[0]"])
        token.invalidate()
        one?.invalidate()
    }

    @Test("an observer of one section is called for that section only N60") func oneSection() throws {
        let (test, nodes, log) = try start()
        let section = try #require(byName(test).section(forKey: "b"))
        log.tokens = [
            section.observe { change in
                if case .update(let current, _, _, _, _, _) = change {
                    log.lines.append("\(current.key) \(current.map(\.id))")
                }
                log.lines.append(text(change))
            }
        ]
        expect(test, log, ["initial"])
        try test.realm.write { nodes[1].amount = 1 }
        expect(test, log, [])
        try test.realm.write { nodes[4].amount = 1 }
        expect(test, log, ["b [0, 4]", "[] [] [1.1] +[] -[]"])
        try test.realm.write { test.realm.delete([nodes[1], nodes[3]]) }
        expect(test, log, [])
        try test.realm.write { nodes[0].name = "a" }
        expect(test, log, ["b [4]", "[0.0] [] [] +[] -[]"])
        try test.realm.write { nodes[4].name = "a" }
        expect(test, log, ["b []", "[] [] [] +[] -[1]"])
        try test.realm.write { nodes[2].name = "b" }
        expect(test, log, ["b [2]", "[] [1.0] [] +[1] -[]"])
    }

    @Test("key paths restrict reported modifications, but not reported insertions and deletions N60 N87 N88")
    func keyPaths() throws {
        let (test, nodes, log) = try start()
        let sections = test.realm.objects(Node.self).sectioned(by: { $0.name }, sortDescriptors: [])
        log.tokens = [
            sections.observe(keyPaths: ["next"]) { log.lines.append("a \(text($0))") },
            sections.observe(keyPaths: [\Node.next]) { log.lines.append("b \(text($0))") },
            sections.observe(keyPaths: [Node.KeyPaths.next]) { log.lines.append("c \(text($0))") },
        ]
        expect(test, log, ["a initial", "b initial", "c initial"])
        try test.realm.write { nodes[1].amount = 1 }
        expect(test, log, [])
        try test.realm.write { nodes[1].next = nodes[0] }
        expect(test, log, ["a", "b", "c"].map { "\($0) [] [] [1.0] +[] -[]" })
        try test.realm.write { nodes[4].name = "a" }
        expect(test, log, ["a", "b", "c"].map { "\($0) [0.1] [1.2] [] +[] -[]" })
    }

    @Test("replacing an element by a new object with its primary key is a deletion and an insertion N52 N60")
    func replaced() throws {
        let (test, nodes, log) = try start()
        log.tokens = [byName(test).observe { log.lines.append(text($0)) }]
        expect(test, log, ["initial"])
        try test.realm.write {
            test.realm.delete(nodes[4])
            test.realm.add(Node(id: 4, name: "b"))
        }
        expect(test, log, ["[1.1] [1.1] [] +[] -[]"])
    }

    @Test("change sets of sections start from the state after a silent write N111 N60") func silenced() throws {
        let (test, nodes, log) = try start()
        let token = byName(test).observe { log.lines.append(text($0)) }
        log.tokens = [token]
        expect(test, log, ["initial"])
        try test.realm.write(withoutNotifying: [token]) {
            nodes[4].name = "a"
            nodes[2].name = "b"
        }
        expect(test, log, [])
        try test.realm.write { nodes[4].amount = 2 }
        expect(test, log, ["[] [] [0.2] +[] -[]"])
        try test.realm.write { nodes[0].name = "c" }
        expect(test, log, ["[1.0] [2.0] [] +[2] -[]"])
    }

    @Test("changes of sections belong to the delivered version, even if the Realm shows a newer version N111 N102 N60")
    func late() throws {
        let (test, nodes, log) = try start()
        var extra: (() -> Void)?
        // `beginWrite` calls this observer before the observer of the sections. If this observer changes something in
        // the open write, the call of the observer of the sections is delayed.
        let writer = test.realm.objects(Node.self).observe { _ in
            extra?()
            extra = nil
        }
        let sections = byName(test)
        let token = sections.observe { log.lines.append("\(text($0)), \(sections.map(\.key).joined())") }
        log.tokens = [token, writer]
        expect(test, log, ["initial, abc"])
        try test.realm.write { nodes[1].amount = 1 }
        extra = { nodes[3].amount = 1 }
        try test.realm.write(withoutNotifying: [token]) { nodes[2].name = "b" }
        extra = { nodes[3].amount = 2 }
        try test.realm.write { test.realm.delete([nodes[0], nodes[2], nodes[4]]) }
        #expect(sections.map(\.key) == ["a"])
        expect(test, log, ["[] [] [0.0] +[] -[], a", "[] [] [0.1] +[] -[1], a"])
        #expect(sections.map(\.key) == ["a"])
    }

    @Test("deleting the owner of a list or of linking objects reports all sections as deleted N23")
    func owner() throws {
        let (test, nodes, log) = try start()
        try test.realm.write {
            nodes[2].children.append(objectsIn: [nodes[0], nodes[1]])
            nodes[0].next = nodes[2]
        }
        log.tokens = [
            nodes[2].children.sectioned(by: \.name).observe(keyPaths: ["name"]) {
                log.lines.append("list \(text($0))")
            },
            nodes[2].previous.sectioned(by: \.name).observe(keyPaths: ["name"]) {
                log.lines.append("links \(text($0))")
            },
        ]
        expect(test, log, ["list initial", "links initial"])
        try test.realm.write { nodes[2].children.append(nodes[3]) }
        expect(test, log, ["list [] [0.1] [] +[] -[]"])
        try test.realm.write { test.realm.delete(nodes[2]) }
        expect(test, log, ["list [] [] [] +[] -[0, 1]", "links [] [] [] +[] -[0]"])
    }
}
