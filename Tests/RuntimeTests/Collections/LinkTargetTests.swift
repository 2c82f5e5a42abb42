import ConformanceModels
import MartletTestSupport
import Testing

@testable import Martlet

/// While a loop runs, it retains the targets of the links that its body reads.
@Suite("targets of links in loops")
struct LinkTargetTests {
    private func start() throws -> TestRealm {
        let test = try TestRealm()
        try test.realm.write {
            let targets = (0..<3).map { Node(id: $0, name: "target \($0)") }
            for id in 3..<60 {
                let node = Node(id: id)
                node.next = targets[id % 3]
                test.realm.add(node)
            }
        }
        return test
    }

    @Test("link targets stay in memory until the loop ends or is left early", arguments: [60, 20])
    func kept(_ limit: Int) throws {
        let test = try start()
        weak var first: Node?
        var identities: [Int: ObjectIdentifier] = [:]
        for node in test.realm.objects(Node.self) {
            guard let target = node.next else { continue }
            #expect(identities[target.id] ?? ObjectIdentifier(target) == ObjectIdentifier(target))
            identities[target.id] = ObjectIdentifier(target)
            first = first ?? target
            #expect(first != nil)
            if node.id == limit { break }
        }
        #expect(identities.count == 3)
        #expect(first == nil)
        #expect(test.realm.context.linkTargets == nil)
    }

    @Test("an inner loop retains its own link targets, and the outer loop keeps the targets that it retains")
    func nested() throws {
        let test = try start()
        weak var inner: Node?
        weak var outer: Node?
        for node in test.realm.objects(Node.self).where({ $0.id >= 3 }) {
            outer = outer ?? node.next
            #expect(outer != nil)
            for other in test.realm.objects(Node.self).where({ $0.id > 57 }) { inner = other.next }
            #expect(test.realm.context.linkTargets == nil)
        }
        #expect(inner == nil && outer == nil)
    }

    @Test("after a link target is changed or deleted during a loop, the links show the new state")
    func changed() throws {
        let test = try start()
        var names: Set<String> = []
        var count = 0
        for node in test.realm.objects(Node.self).where({ $0.id >= 3 }) {
            count += 1
            if count == 20 {
                try test.realm.write {
                    for target in test.realm.objects(Node.self).where({ $0.id < 2 }) { target.name = "changed" }
                }
            }
            if count == 40 {
                try test.realm.write { test.realm.delete(test.realm.objects(Node.self).where { $0.id == 0 }) }
            }
            if count > 40 { #expect(node.next?.id != 0) }
            if count > 20 { names.insert(node.next?.name ?? "-") }
        }
        #expect(count == 57 && names == ["changed", "target 2", "-"])
    }

    @Test("if a loop retains too many link targets, it releases the oldest one")
    func limit() throws {
        let test = try start()
        let targets = LinkTargets(test.realm.context)
        targets.begin()
        weak var oldest: Node?
        do {
            let node = try #require(test.realm.object(ofType: Node.self, forPrimaryKey: 10))
            let target = try #require(node.next)
            oldest = target
        }
        #expect(oldest != nil)
        let other = Node(id: -1)
        for _ in 0..<LinkTargets.limit - 1 { targets.keep(other) }
        #expect(oldest != nil)
        targets.keep(other)
        #expect(oldest == nil)
    }
}
