import ConformanceModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// When a write is rolled back, the objects that the write deleted are valid again.
@Suite struct RollbackTests {
    private struct Abort: Error {}

    /// How a write is rolled back.
    enum Cause: CaseIterable, CustomTestStringConvertible {
        case thrown, cancelled, asynchronous, inGroup, refused

        var testDescription: String { "\(self)" }
    }

    private func rollBack(_ test: TestRealm, _ cause: Cause, _ body: @escaping () throws -> Void) throws {
        let realm = test.realm
        switch cause {
        case .thrown:
            #expect(throws: Abort.self) {
                try realm.write {
                    try body()
                    throw Abort()
                }
            }
        case .cancelled:
            try realm.beginWrite()
            try body()
            realm.cancelWrite()
        case .asynchronous, .inGroup:
            if cause == .inGroup { realm.writeAsync { realm.add(Scalars(id: 1)) } }
            realm.writeAsync {
                #expect(throws: Never.self) { try body() }
                realm.cancelWrite()
            }
            if cause == .inGroup { realm.writeAsync { realm.add(Scalars(id: 2)) } }
            while realm.isPerformingAsynchronousWriteOperations, test.scheduler.waitForWork() { test.scheduler.run() }
            #expect(realm.objects(Scalars.self).count == (cause == .inGroup ? 2 : 0))
        case .refused:
            let error = #expect(throws: Realm.Error.self) {
                try realm.write {
                    try body()
                    for id in 1...2 { realm.add(Indexed(id: id, code: "same")) }
                }
            }
            #expect(error?.code == .uniqueViolation)
        }
    }

    @Test(
        "deleted objects, their collections and embedded objects are valid again after a rollback O63 O4 K27",
        arguments: Cause.allCases)
    func live(_ cause: Cause) throws {
        let test = try TestRealm()
        let node = Node(
            id: 1, name: "a", children: [Node(id: 2)], part: Part(name: "p", core: Screw(length: 3)),
            parts: [Part(name: "q")], partsByName: ["k": Part(name: "r")])
        try test.realm.write {
            test.realm.add(node)
            node.peers.insert(node.children[0])
            node.named["n"] = node.children[0]
        }
        let (children, peers, named, parts, partsByName) = (
            node.children, node.peers, node.named, node.parts, node.partsByName
        )
        let (child, part, first, mapped) = (
            children[0], try #require(node.part), parts[0], try #require(partsByName["k"] ?? nil)
        )
        let screw = try #require(part.core)
        try rollBack(test, cause) {
            node.name = "b"
            node.children.append(node)
            test.realm.delete(node)
            test.realm.delete(child)
            #expect(node.isInvalidated && children.isInvalidated && screw.isInvalidated && mapped.isInvalidated)
        }
        #expect(!node.isInvalidated && node.name == "a" && node.children.map(\.id) == [2])
        #expect(!children.isInvalidated && !peers.isInvalidated && !named.isInvalidated && !parts.isInvalidated)
        #expect(children.map(\.id) == [2] && children.count == 1 && peers.count == 1 && named["n"]??.id == 2)
        #expect(!child.isInvalidated && child == node.children[0] && child === node.children[0])
        #expect(!part.isInvalidated && part.name == "p" && node.part === part && screw.length == 3)
        #expect(first.name == "q" && node.parts[0] === first && mapped.name == "r")
        // All these objects and collections can be changed again.
        try test.realm.write {
            node.name = "c"
            children.append(child)
            part.name = "pp"
            screw.length = 4
        }
        try test.onNewThread { realm in
            let node = try #require(realm.object(ofType: Node.self, forPrimaryKey: 1))
            #expect(node.name == "c" && node.children.map(\.id) == [2, 2] && node.part?.core?.length == 4)
        }
    }

    @Test("replaced embedded objects are valid again after a rollback O63 O21 K24", arguments: Cause.allCases)
    func replaced(_ cause: Cause)
        throws
    {
        let test = try TestRealm()
        let node = Node(id: 1, part: Part(name: "p"), parts: [Part(name: "q"), Part(name: "r")])
        try test.realm.write { test.realm.add(node) }
        let (part, first, second) = (try #require(node.part), node.parts[0], node.parts[1])
        try rollBack(test, cause) {
            node.part = Part(name: "new")
            node.parts[0] = Part(name: "new")
            node.parts.removeLast()
            #expect(part.isInvalidated && first.isInvalidated && second.isInvalidated)
        }
        #expect(part.name == "p" && node.part === part && node.parts.map(\.name) == ["q", "r"])
        #expect(node.parts[0] === first && node.parts[1] === second)
    }

    @Test("objects that 'deleteAll' deleted are valid again after a rollback O63 O4", arguments: Cause.allCases)
    func all(_ cause: Cause) throws {
        let test = try TestRealm()
        let node = Node(id: 1, children: [Node(id: 2)])
        try test.realm.write { test.realm.add(node) }
        let (list, linking) = (node.children, node.children[0].parents)
        try rollBack(test, cause) { test.realm.deleteAll() }
        #expect(node.id == 1 && list.map(\.id) == [2] && linking.map(\.id) == [1])
    }

    @Test(
        "after a rollback, added objects are invalid, even if an object is valid again with the same key O63 K27",
        arguments: Cause.allCases)
    func replacedKey(_ cause: Cause) throws {
        let test = try TestRealm()
        let node = Node(id: 1, name: "a", children: [Node(id: 2)])
        try test.realm.write { test.realm.add(node) }
        let list = node.children
        let (second, third, new) = (Node(id: 1, name: "b"), Node(id: 1, name: "c"), Node(id: 9))
        try rollBack(test, cause) {
            test.realm.delete(node)
            test.realm.add(second)
            _ = second.children.count
            test.realm.delete(second)
            test.realm.add(third)
            third.children.append(third)
            test.realm.add(new)
            test.realm.delete(new)
        }
        #expect(second.isInvalidated && third.isInvalidated && new.isInvalidated && !node.isInvalidated)
        #expect(node.name == "a" && list.map(\.id) == [2] && node.children.map(\.id) == [2])
        #expect(test.realm.object(ofType: Node.self, forPrimaryKey: 1) === node)
    }

    @Test("if writes of a group fail, the objects that these writes deleted are valid again O63 O4")
    func failedGroup()
        throws
    {
        let test = try TestRealm()
        let nodes = (1...2).map { Node(id: $0, name: "n\($0)") }
        try test.realm.write { test.realm.add(nodes) }
        let added = Node(id: 3)
        var failures = 0
        test.realm.writeAsync({ test.realm.delete(nodes[0]) }, onComplete: { if $0 != nil { failures += 1 } })
        test.realm.writeAsync({ test.realm.add(added) }, onComplete: { if $0 != nil { failures += 1 } })
        test.realm.writeAsync(
            {
                test.realm.delete(nodes[1])
                test.realm.delete(added)
                try? limitGrowth(test.realm.context.handle, pages: 2)
                test.realm.add(Node(id: 4, name: String(repeating: "x", count: 50_000)))
            }, onComplete: { if $0 != nil { failures += 1 } })
        while test.realm.isPerformingAsynchronousWriteOperations, test.scheduler.waitForWork() { test.scheduler.run() }
        #expect(failures >= 1 && !nodes[1].isInvalidated && nodes[1].name == "n2")
        let firstExists = test.realm.context.table(named: "Node")?.exists(1) == true
        #expect(nodes[0].isInvalidated != firstExists)
    }

    @Test("objects that a committed write deleted stay invalidated when a later write is rolled back O63 O4")
    func committed()
        throws
    {
        let test = try TestRealm()
        let nodes = (1...2).map { Node(id: $0) }
        try test.realm.write { test.realm.add(nodes) }
        try test.realm.write { test.realm.delete(nodes[0]) }
        try rollBack(test, .cancelled) { test.realm.delete(nodes[1]) }
        #expect(nodes[0].isInvalidated && !nodes[1].isInvalidated)
    }

    @Test("observers of objects that are valid again get the inverse changes O63 K20 K27", arguments: Cause.allCases)
    func observers(_ cause: Cause) throws {
        let test = try TestRealm()
        let nodes = (1...3).map { Node(id: $0, name: "n\($0)") }
        nodes[0].next = nodes[1]
        nodes[2].next = nodes[0]
        try test.realm.write { test.realm.add(nodes) }
        let recorder = nodes[0].recorder("name", "next.name", "isInvalidated", options: [.old, .new])
        let outer = nodes[2].recorder("next.name", options: [.old, .new])
        var list: [Bool] = []
        let token = nodes[0].children.observe(\.isInvalidated, options: [.new]) { _, change in
            list.append(change.newValue ?? false)
        }
        defer { token.invalidate() }
        try rollBack(test, cause) {
            nodes[0].name = "x"
            test.realm.delete(nodes[0])
            nodes[1].name = "y"
            #expect(recorder.take() == ["name: n1 -> x", "isInvalidated: false -> true"])
            #expect(outer.take() == ["next.name: n1 -> x", "next.name: x -> nil"])
        }
        #expect(
            recorder.take().sorted() == ["isInvalidated: true -> false", "name: nil -> n1", "next.name: nil -> n2"])
        #expect(outer.take() == ["next.name: nil -> n1"])
        #expect(list == [true, false])
        try test.realm.write {
            nodes[0].name = "z"
            nodes[1].name = "w"
        }
        #expect(recorder.take() == ["name: n1 -> z", "next.name: n2 -> w"])
        #expect(outer.take() == ["next.name: n1 -> z"])
    }

    @Test("for a deleted object, a rollback reports only values that the write had changed before the deletion O63 K27")
    func unchanged()
        throws
    {
        let test = try TestRealm()
        let node = Node(id: 1, name: "a")
        try test.realm.write { test.realm.add(node) }
        let recorder = node.recorder("name", "amount", "children", "isInvalidated", options: [.new])
        try rollBack(test, .cancelled) {
            node.amount = 4
            test.realm.delete(node)
        }
        #expect(
            recorder.take() == [
                "amount: - -> 4.0", "isInvalidated: - -> true", "amount: - -> 0.0", "isInvalidated: - -> false",
            ])
    }

    @Test("if the disk is full, the objects that the write added are invalidated, and other objects are not O63 O4")
    func afterFailure() throws {
        let test = try TestRealm()
        let held = IntKey(id: 0)
        try test.realm.write { test.realm.add(held) }
        var added: [ObjectBase] = []
        let error = #expect(throws: Realm.Error.self) {
            try test.realm.write {
                try limitGrowth(test.realm.context.handle, pages: 1)
                for id in 1...3_000 {
                    let objects: [Object] = [IntKey(id: id), Node(id: id), StringKey(code: "c\(id)")]
                    objects.forEach { test.realm.add($0) }
                    added += objects
                }
            }
        }
        #expect(error?.code == .outOfDiskSpace)
        #expect(added.allSatisfy(\.isInvalidated) && !held.isInvalidated)
        #expect(test.realm.object(ofType: IntKey.self, forPrimaryKey: 0) === held)
        try test.onNewThread { realm in
            try realm.write { realm.object(ofType: IntKey.self, forPrimaryKey: 0)?.content = "new" }
        }
        test.realm.refresh()
        #expect(held.content == "new")
    }

    @Test("cancelling a write of a group also rolls back the index of links in 'AnyRealmValue' values O63 N132")
    func anyLinks()
        throws
    {
        let test = try TestRealm()
        let node = Node(id: 1)
        try test.realm.write { test.realm.add(node) }
        var errors: [any Error] = []
        let record: ((any Error)?) -> Void = { if let error = $0 { errors.append(error) } }
        test.realm.writeAsync({ test.realm.add(IntKey(id: 1)) }, onComplete: record)
        test.realm.writeAsync {
            test.realm.add(Scalars(id: 1, anyValue: .object(node)))
            test.realm.cancelWrite()
        }
        test.realm.writeAsync({ test.realm.add(Scalars(id: 2, anyValue: .object(node))) }, onComplete: record)
        while test.realm.isPerformingAsynchronousWriteOperations, test.scheduler.waitForWork() { test.scheduler.run() }
        #expect(errors.isEmpty && test.realm.objects(Scalars.self).map(\.id) == [2])
        try test.realm.write { test.realm.delete(node) }
        #expect(test.realm.objects(Scalars.self).first?.anyValue == AnyRealmValue.none)
    }
}
