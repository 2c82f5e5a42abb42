import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

/// Deletions of many objects in one call, and of long chains of objects.
@Suite struct BulkDeleteTests {
    @Test("the deletion of several elements of a list is one change of the list O6 K21")
    func list() throws {
        let test = try TestRealm()
        let nodes = try test.nodes(7)
        try test.realm.write {
            nodes[0].children.append(objectsIn: [nodes[1], nodes[5], nodes[2], nodes[3], nodes[1]])
            nodes[0].peers.insert(objectsIn: [nodes[1], nodes[5], nodes[2]])
            nodes[0].named.merge(["a": nodes[1], "b": nodes[5], "c": nodes[2]])
            nodes[0].next = nodes[3]
        }
        let recorder = nodes[0].recorder("children", "peers", "named", "next", options: [])
        try test.realm.write {
            test.realm.delete([nodes[1], nodes[2], nodes[3], nodes[1]])
            #expect(nodes[0].children.map(\.id) == [6] && nodes[0].peers.map(\.id) == [6])
        }
        #expect(recorder.take().sorted() == ["children removal 0,2,3,4", "named", "next", "peers"])
        #expect(nodes[0].named["a"] == .some(nil) && nodes[0].named["b"]??.id == 6 && nodes[0].named.count == 3)
        try test.realm.write { test.realm.delete(nodes[0].children) }
        #expect(recorder.take().sorted() == ["children removal 0", "named", "peers"])
        try test.onNewThread { realm in
            #expect(realm.objects(Node.self).map(\.id) == [1, 5, 7])
            let first = try #require(realm.objects(Node.self).first)
            #expect(first.children.isEmpty && first.peers.isEmpty && first.named.count == 3 && first.next == nil)
        }
        #expect(test.realm.context.integers("SELECT target FROM \"Node.children.targets\"", []).isEmpty)
    }

    @Test(
        "the objects of a long list can be deleted as an array and as results O6",
        .timeLimit(.minutes(5)))
    func longList() throws {
        let test = try TestRealm()
        let owner = Node(id: -1)
        let count = 12_000
        try test.realm.write {
            test.realm.add(owner)
            let nodes = (0..<count).map { Node(id: $0) }
            test.realm.add(nodes)
            owner.children.append(objectsIn: nodes)
            owner.peers.insert(objectsIn: nodes)
        }
        try test.realm.write {
            test.realm.delete(owner.children.filter { $0.id % 2 == 0 })
            #expect(owner.children.map(\.id) == (0..<count).filter { $0 % 2 == 1 })
            test.realm.delete(test.realm.objects(Node.self).where { $0.id >= 0 })
        }
        #expect(owner.children.isEmpty && owner.peers.isEmpty && test.realm.objects(Node.self).count == 1)
    }

    @Test("an object and the object that denies its deletion can be deleted in one call, in either order O6")
    func order() throws {
        let test = try TestRealm()
        let (owner, treasure) = (Owner(id: 1), Treasure(id: 1))
        owner.guarded = treasure
        try test.realm.write { test.realm.add([owner, treasure] as [Object]) }
        try test.realm.write { test.realm.delete([owner, treasure] as [ObjectBase]) }
        #expect(test.realm.isEmpty)
        let (second, gold) = (Owner(id: 1), Treasure(id: 1))
        second.guarded = gold
        try test.realm.write { test.realm.add([second, gold] as [Object]) }
        try test.realm.write { test.realm.delete([gold, second] as [ObjectBase]) }
        #expect(test.realm.isEmpty)
    }

    @Test("a deletion of several objects skips objects that a cascade has already deleted O60 O59 O6")
    func cascade() throws {
        let test = try TestRealm()
        let (owner, treasure) = (Owner(id: 1), Treasure(id: 1))
        owner.treasure = treasure
        try test.realm.write { test.realm.add([owner, treasure] as [Object]) }
        try test.realm.write { test.realm.delete([treasure, owner] as [ObjectBase]) }
        #expect(test.realm.isEmpty && owner.isInvalidated && treasure.isInvalidated)
    }

    /// Creates a file with the types that `schemaText` describes, and returns its context. The types have no classes.
    private func context(_ test: TestRealm, _ schemaText: String) throws -> RealmContext {
        let types = schemaText.split(separator: "\n\n").compactMap { SchemaFactsParser.objectType(String($0)) }
        var options = StoreOptions(
            path: test.url.path + "-chain",
            types: types.map { type in TypeDeclaration(type) { TableLayout.zeroRow(type) } })
        options.durability = .off
        let coordinator = try StoreRegistry.coordinator(options)
        return RealmContext(
            coordinator, .init(), Migration.models(coordinator.schema, [:]), .readWrite, .currentThread(), nil)
    }

    @Test(
        "a cascade deletes a chain of any length, and a cycle O60 O59 O6", .timeLimit(.minutes(5)),
        arguments: ["property next link:Link? onDelete=cascade", "property next embedded:Link?"])
    func chain(_ property: String) throws {
        let test = try TestRealm()
        let isOwned = property.contains("embedded")
        let context = try context(
            test,
            "object Root\nproperty first \(isOwned ? "embedded" : "link"):Link?\n\n"
                + "\(isOwned ? "embedded" : "object") Link\n\(property)")
        try context.beginWrite()
        let root = context.create(try #require(context.table(named: "Root")?.model), [String: Any](), .error)
        let links = try #require(context.table(named: "Link"))
        let count = 20_000
        // The test inserts the rows with SQL, which is faster than creating an accessor for each.
        let next = isOwned ? "nullif(k + 1, \(count + 1))" : "iif(k = 1, \(count), k - 1)"
        try run(
            """
            WITH RECURSIVE numbers(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM numbers WHERE k < \(count)) \
            INSERT INTO Link (_key, next) SELECT k, \(next) FROM numbers
            """, context.handle)
        if !isOwned { root["first"] = links.object(1) }
        context.flushForQuery()
        if isOwned {
            try run("UPDATE Root SET first = 1", context.handle)
            context.markStale(root)
        }
        context.delete(isOwned ? root : links.object(1))
        #expect(context.integers("SELECT _key FROM Link", []).isEmpty)
        try context.commitWrite()
        #expect(context.integers("SELECT _key FROM Root", []).count == (isOwned ? 0 : 1))
        #expect(isOwned || root["first"] == nil)
    }
}
