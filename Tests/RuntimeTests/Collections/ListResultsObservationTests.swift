import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// Observers of results that can contain an object several times.
@Suite struct ListResultsObservationTests {
    private final class Log {
        var lines: [String] = []
        var tokens: [NotificationToken] = []

        /// Returns the lines since the previous call.
        func take() -> [String] {
            defer { lines = [] }
            return lines
        }

        /// Appends a line for each change: deletions after `-`, insertions after `+`, modifications after `*`, and
        /// each move as `from>to`.
        func observe<C: ObservableCollection>(_ collection: C, keyPaths: [String]? = nil) where C: Collection {
            tokens.append(
                collection.observeChanges(keyPaths: keyPaths) { [unowned self] change in
                    switch change {
                    case .initial(let members): lines.append("\(members.count) members")
                    case .update(_, let changes):
                        let moves = changes.moves.map { "\($0.from)>\($0.to)" }.joined(separator: " ")
                        lines.append(
                            "-\(changes.deletions) +\(changes.insertions) *\(changes.modifications)"
                                + (moves.isEmpty ? "" : " " + moves))
                    case .error(let error): lines.append("\(error)")
                    }
                })
        }
    }

    /// Creates the nodes 0 to 4, and node 9 as the owner of the given children.
    private func start(_ children: [Int]) throws -> (test: TestRealm, nodes: [Node], owner: Node, log: Log) {
        let test = try TestRealm()
        let nodes = (0..<5).map { Node(id: $0, name: $0 % 2 == 0 ? "even" : "odd", amount: Double($0)) }
        let owner = Node(id: 9, amount: 9)
        try test.realm.write {
            test.realm.add(nodes + [owner])
            owner.children.append(objectsIn: children.map { nodes[$0] })
        }
        return (test, nodes, owner, Log())
    }

    /// Refreshes the Realm, and compares the new lines of the log.
    private func expect(_ test: TestRealm, _ log: Log, _ lines: [String], _ location: SourceLocation = #_sourceLocation)
    {
        test.realm.refresh()
        #expect(log.take() == lines, sourceLocation: location)
    }

    @Test("observers get no moves if a limit selects other occurrences of the same object than before N46 N47 N54")
    func limitedOccurrences() throws {
        let (test, nodes, owner, log) = try start([])
        let target = nodes[0]
        try test.realm.write {
            owner.children.append(objectsIn: [target, target])
            nodes[1].children.append(target)
        }
        // The parents are 1, 9 and 9, and the results contain both occurrences of 9.
        log.observe(target.parents.where { $0.id >= 0 }.limit(3, offset: 1))
        expect(test, log, ["2 members"])
        try test.realm.write {
            owner.children.append(target)
            test.realm.delete(nodes[1])
        }
        // The parents are 9, 9 and 9, and the results contain the last two.
        expect(test, log, ["-[] +[] *[0, 1]"])
        try test.realm.write { owner.children.remove(at: 0) }
        expect(test, log, ["-[1] +[] *[0]"])
        log.observe(owner.children.where { $0.id >= 0 }.limit(2))
        expect(test, log, ["2 members"])
        try test.realm.write { owner.children.insert(nodes[2], at: 1) }
        #expect(target.parents.count == 2)
        test.realm.refresh()
        #expect(log.take() == ["-[] +[] *[0]", "-[1] +[1] *[]"])
    }

    @Test("observers of a filtered list are notified of appends, moves, swaps and replacements N46 N47") func edits()
        throws
    {
        let (test, nodes, owner, log) = try start([2, 0, 3, 2])
        let found = owner.children.where { $0.amount > 1 }
        log.observe(found)
        expect(test, log, ["3 members"])
        try test.realm.write { owner.children.append(nodes[2]) }
        expect(test, log, ["-[] +[3] *[]"])
        try test.realm.write { owner.children.move(from: 0, to: 2) }
        expect(test, log, ["-[0] +[1] *[] 0>1"])
        #expect(found.map(\.id) == [3, 2, 2, 2])
        try test.realm.write { owner.children.swapAt(1, 4) }
        #expect(found.map(\.id) == [2, 2, 2, 3])
        expect(test, log, ["-[0, 3] +[0, 3] *[] 0>3 3>0"])
        try test.realm.write { owner.children[2] = nodes[4] }
        expect(test, log, ["-[1] +[1] *[]"])
        try test.realm.write { owner.children[0] = nodes[3] }
        expect(test, log, ["-[] +[0] *[]"])
        try test.realm.write { nodes[2].amount = 2.5 }
        #expect(found.map(\.id) == [3, 2, 4, 2, 3])
        expect(test, log, ["-[] +[] *[1, 3]"])
        try test.realm.write { nodes[2].amount = 0 }
        expect(test, log, ["-[1, 3] +[] *[]"])
        try test.realm.write { owner.children.removeAll() }
        expect(test, log, ["-[0, 1, 2] +[] *[]"])
    }

    @Test("observers get the position of a removed occurrence of a repeated object N46") func occurrences()
        throws
    {
        let (test, nodes, owner, log) = try start([1, 2, 1, 3, 1])
        log.observe(owner.children.filter("id > 0"))
        log.observe(owner.children.sorted(byKeyPath: "name", ascending: false))
        expect(test, log, ["5 members", "5 members"])
        try test.realm.write { owner.children.remove(at: 2) }
        expect(test, log, ["-[2] +[] *[]", "-[1] +[] *[]"])
        try test.realm.write { owner.children.insert(nodes[1], at: 0) }
        expect(test, log, ["-[] +[0] *[]", "-[] +[0] *[]"])
        try test.onNewThread { realm in
            try realm.write {
                let children = realm.object(ofType: Node.self, forPrimaryKey: 9)?.children
                children?.remove(at: 1)
                children?.remove(at: 0)
            }
        }
        expect(test, log, ["-[0, 1] +[] *[]", "-[0, 1] +[] *[]"])
        try test.realm.write { test.realm.delete(nodes[1]) }
        expect(test, log, ["-[2] +[] *[]", "-[1] +[] *[]"])
    }

    @Test("observers of sorted, distinct and limited results of a list get exact changes N46") func stages() throws {
        let (test, nodes, owner, log) = try start([3, 0, 3, 1])
        log.observe(owner.children.sorted(byKeyPath: "amount"))
        log.observe(owner.children.distinct(by: ["name"]))
        log.observe(owner.children.filter("TRUEPREDICATE").limit(2))
        expect(test, log, ["4 members", "2 members", "2 members"])
        // The sorted result was 0 1 3 3 and becomes 0 3 3 1. The distinct and the limited result remain 3 0.
        try test.realm.write { nodes[1].amount = 4 }
        expect(test, log, ["-[1] +[3] *[] 1>3"])
        try test.realm.write { owner.children.move(from: 0, to: 3) }
        // The list is now 0 3 1 3. The sorted result is still 0 3 3 1, but its two occurrences of 3 were exchanged. The
        // distinct and the limited result become 0 3.
        expect(test, log, ["-[1] +[2] *[] 1>2", "-[0] +[1] *[] 0>1", "-[0] +[1] *[] 0>1"])
        try test.realm.write { nodes[3].amount = 5 }
        expect(test, log, ["-[1, 2] +[2, 3] *[] 1>2 2>3", "-[] +[] *[1]", "-[] +[] *[1]"])
        try test.realm.write { test.realm.delete(owner) }
        expect(test, log, ["-[0, 1, 2, 3] +[] *[]", "-[0, 1] +[] *[]", "-[0, 1] +[] *[]"])
    }

    @Test("key paths restrict the observation of results of a list and of a map N46 N98") func keyPathsAndMaps() throws
    {
        let (test, nodes, owner, log) = try start([2, 0, 2])
        log.observe(owner.children.filter("id < 4"), keyPaths: ["next.name"])
        try test.realm.write {
            owner.named["a"] = nodes[1]
            owner.named["b"] = nodes[2]
            owner.named["c"] = nodes[1]
        }
        test.realm.refresh()
        _ = log.take()
        let (named, results) = (owner.named, owner.named.filter("amount < 3"))
        log.observe(results, keyPaths: ["name"])
        expect(test, log, ["3 members"])
        try test.realm.write { nodes[2].next = nodes[0] }
        expect(test, log, ["-[] +[] *[0, 2]"])
        try test.realm.write { nodes[0].name = "x" }
        expect(test, log, ["-[] +[] *[0, 2]"])
        try test.realm.write { named.removeObject(for: "a") }
        expect(test, log, ["-[0] +[] *[]"])
        try test.realm.write { named["c"] = nodes[2] }
        #expect(results.map(\.id) == [2, 2])
        expect(test, log, ["-[1] +[1] *[]"])
        try test.realm.write { nodes[1].name = "y" }
        expect(test, log, [])
        try test.realm.write { nodes[2].name = "z" }
        expect(test, log, ["-[] +[] *[0, 1]"])
    }

    @Test("observers of sections of a list are notified of each occurrence N60") func sections() throws {
        let (test, nodes, owner, log) = try start([2, 1, 2, 3])
        let sections = owner.children.sectioned(by: { $0.name }, sortDescriptors: [])
        log.tokens.append(
            sections.observe { change in
                guard case .update(let sections, let deletions, let insertions, let modifications, _, _) = change else {
                    return
                }
                // An index path is logged as 'section.item'.
                func text(_ paths: [IndexPath]) -> String { paths.map { "\($0[0]).\($0[1])" }.joined(separator: " ") }
                log.lines.append("-\(text(deletions)) +\(text(insertions)) *\(text(modifications))")
                log.lines.append("\(sections.map { $0.map(\.id) })")
            })
        test.realm.refresh()
        try test.realm.write { owner.children.append(nodes[2]) }
        expect(test, log, ["- +0.2 *", "[[2, 2, 2], [1, 3]]"])
        try test.realm.write { owner.children.remove(at: 2) }
        expect(test, log, ["-0.2 + *", "[[2, 2], [1, 3]]"])
        try test.realm.write { nodes[2].amount = 7 }
        expect(test, log, ["- + *0.0 0.1", "[[2, 2], [1, 3]]"])
        try test.realm.write { owner.children.insert(nodes[3], at: 1) }
        expect(test, log, ["- +1.0 *", "[[2, 2], [3, 1, 3]]"])
    }

    @Test(
        "linking objects contain an object once for each of its links; observers get a position for each link O45 N67"
    )
    func linkingObjects() throws {
        let (test, nodes, owner, log) = try start([1, 1])
        let (parents, named) = (nodes[1].parents, nodes[1].namedBy)
        #expect(parents.map(\.id) == [9, 9] && parents.count == 2 && parents[1] === owner)
        #expect(
            parents.where { $0.amount > 1 }.map(\.id) == [9, 9] && parents.sum(ofProperty: "amount") as Double == 18)
        log.observe(parents)
        log.observe(named)
        expect(test, log, ["2 members", "0 members"])
        try test.realm.write {
            nodes[0].children.append(nodes[1])
            owner.children.append(nodes[1])
            owner.named["a"] = nodes[1]
            owner.named["b"] = nodes[1]
        }
        #expect(parents.map(\.id) == [0, 9, 9, 9] && named.map(\.id) == [9, 9])
        expect(test, log, ["-[] +[0, 3] *[0, 1]", "-[] +[0, 1] *[]"])
        try test.realm.write { owner.children.remove(at: 0) }
        #expect(parents.count == 3)
        expect(test, log, ["-[3] +[] *[1, 2]", "-[] +[] *[0, 1]"])
        try test.realm.write { owner.children.swapAt(0, 1) }
        #expect(parents.map(\.id) == [0, 9, 9])
        _ = log.take()
        try test.realm.write { test.realm.delete(owner) }
        #expect(parents.map(\.id) == [0] && named.isEmpty)
        test.realm.refresh()
        #expect(log.take().suffix(2) == ["-[1, 2] +[] *[]", "-[0, 1] +[] *[]"])
        #expect((nodes[1].value(forKey: "parents") as? LinkingObjects<Node>)?.map(\.id) == [0])
    }

    @Test("queries count linking objects once for each link O50 O53") func linkQueries() throws {
        let (test, nodes, _, log) = try start([1, 1, 2])
        let all = test.realm.objects(Node.self)
        #expect(all.filter("@links.Node.children.@count == 2").map(\.id) == [1])
        #expect(all.where { $0.parents.count == 1 }.map(\.id) == [2])
        #expect(all.filter("parents.@sum.amount == 18").map(\.id) == [1])
        #expect(all.filter("parents.@avg.amount == 9").map(\.id) == [1, 2])
        #expect(all.filter("SUBQUERY(parents, $p, $p.amount == 9).@count == 2").map(\.id) == [1])
        #expect(all.filter("ANY parents.amount == 9").map(\.id) == [1, 2])
        let results = all.filter("parents.@count == 2")
        log.observe(results)
        expect(test, log, ["1 members"])
        try test.realm.write { nodes[3].children.append(objectsIn: [nodes[4], nodes[4]]) }
        expect(test, log, ["-[] +[1] *[]"])
        try test.realm.write { nodes[3].children.append(nodes[4]) }
        #expect(results.map(\.id) == [1])
        expect(test, log, ["-[1] +[] *[]"])
    }
}
