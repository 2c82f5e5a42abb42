import ConformanceModels
import Foundation
import MartletTestSupport
import Synchronization
import Testing

@testable import Martlet
@testable import MartletEngine

/// Files that other threads, other processes or other builds of the program use.
@Suite struct SharedFileTests {
    private static let types: [ObjectBase.Type] = [Indexed.self]

    /// Opens the file like another process, which declares `Indexed` with the facts that `edit` returns.
    private func realm(_ test: TestRealm, _ edit: (String) -> String) throws -> (RealmContext, ModelClass) {
        var options = try test.configuration.options()
        let type = try #require(SchemaFactsParser.objectType(edit("\(Indexed._facts)")))
        options.types = [TypeDeclaration(type) { TableLayout.zeroRow(type) }]
        let coordinator = try StoreCoordinator(options)
        let context = RealmContext(
            coordinator, .init(), Migration.models(coordinator.schema, [:]), .readWrite, .currentThread(), nil)
        context.replaceSnapshot(try coordinator.openSnapshot())
        return (context, try #require(context.table(named: "Indexed")?.model))
    }

    private func withoutFullText(_ text: String) -> String { text.replacingOccurrences(of: " fullText", with: "") }

    private func add(_ id: Int, _ body: String, _ context: RealmContext, _ model: ModelClass) throws {
        try context.beginWrite()
        _ = context.create(
            model, ["id": id, "body": body, "code": "\(id)", "row": id, "column": id, "grade": "good"], .error)
        try context.commitWrite()
    }

    @Test("a build with a full-text index finds rows that an older build writes later O55")
    func newerBuild() throws {
        let test = try TestRealm { $0.objectTypes = [Keyless.self] }
        var options = try test.configuration.options()
        options.path = test.url.path + "-shared"
        let type = try #require(SchemaFactsParser.objectType(withoutFullText("\(Indexed._facts)")))
        options.types = [TypeDeclaration(type) { TableLayout.zeroRow(type) }]
        let coordinator = try StoreCoordinator(options)
        let old = RealmContext(
            coordinator, .init(), Migration.models(coordinator.schema, [:]), .readWrite, .currentThread(), nil)
        let model = try #require(old.table(named: "Indexed")?.model)
        try add(1, "a quick fox", old, model)
        var configuration = test.configuration
        configuration.fileURL = URL(fileURLWithPath: options.path)
        configuration.objectTypes = Self.types
        let realm = try Realm(configuration: configuration)
        func found(_ word: String) -> [Int] {
            realm.refresh()
            return realm.objects(Indexed.self).where { $0.body.matches(word) }.map(\.id)
        }
        #expect(found("fox") == [1])
        try add(2, "another fox", old, model)
        #expect(found("fox") == [1, 2])
        try old.beginWrite()
        try #require(old.table(named: "Indexed")).object(1)["body"] = "a slow tortoise"
        old.delete(try #require(old.table(named: "Indexed")).object(2))
        try old.commitWrite()
        #expect(found("fox") == [] && found("tortoise") == [1])
    }

    @Test("a build with a full-text index cannot write after an older build has removed the index O2 O55")
    func removedIndexes() throws {
        let test = try TestRealm { $0.objectTypes = Self.types }
        try test.realm.write { test.realm.add(Indexed(id: 1, body: "fox")) }
        let (old, model) = try realm(test, withoutFullText)
        let code = { (error: Realm.Error?) in error?.code }
        let refused = #expect(throws: Realm.Error.self) { try test.realm.write {} }
        #expect(code(refused) == .schemaMismatch)
        try add(2, "fox", old, model)
        #expect(
            test.realm.objects(Indexed.self).where { $0.body.matches("fox") }.map(\.id) == [1],
            "the pinned version is still readable")
    }

    /// Performs an action once, after the next commit to the file and before the Realm shows the commit.
    private final class AfterCommit: Sendable {
        nonisolated(unsafe) var body: (() throws -> Void)?

        func run() {
            guard let body else { return }
            self.body = nil
            do { try body() } catch { Issue.record(error) }
        }
    }

    /// Deletes the lock file after the next commit. Another process then changes the object with the id 1, before the
    /// Realm shows its own commit.
    private func prepareLostLock(_ test: TestRealm, _ afterCommit: AfterCommit) throws {
        let (other, _) = try realm(test) { $0 }
        afterCommit.body = {
            unlink(test.url.path + ".lock")
            try other.beginWrite()
            try #require(other.table(named: "Indexed")).object(1)["body"] = "tortoise"
            try other.commitWrite()
        }
    }

    @Test("objects show a commit that another process makes while the lock file is missing D40")
    func lostLock() throws {
        let afterCommit = AfterCommit()
        let test = try TestRealm {
            $0.objectTypes = Self.types
            $0.environment.onYield = { if $0 == .afterCommit { afterCommit.run() } }
        }
        let object = Indexed(id: 1, body: "fox")
        try test.realm.write { test.realm.add(object) }
        try prepareLostLock(test, afterCommit)
        try test.realm.write { object.row = 7 }
        #expect(object.body == "tortoise" && object.row == 7)
        #expect(test.realm.objects(Indexed.self).where { $0.body == "tortoise" }.count == 1)
    }

    @Test("a silent write silences no observer if another process commits while the lock file is missing N111 D40")
    func lostLockInSilentWrite() throws {
        let afterCommit = AfterCommit()
        let test = try TestRealm {
            $0.objectTypes = [Indexed.self, Keyless.self]
            $0.environment.onYield = { if $0 == .afterCommit { afterCommit.run() } }
        }
        try test.realm.write { test.realm.add(Indexed(id: 1, body: "fox")) }
        let logs = [Log(test.realm.objects(Indexed.self)), Log(test.realm.objects(Keyless.self)), Log(test.realm)]
        test.deliverAll()
        _ = logs.map { $0.take() }
        try prepareLostLock(test, afterCommit)
        try test.realm.write(withoutNotifying: logs.flatMap(\.tokens)) { test.realm.add(Keyless()) }
        test.deliverAll()
        #expect(logs.map { $0.take() } == [["[] [] [0]"], ["[] [0] []"], ["didChange"]])
        try test.realm.write(withoutNotifying: logs.flatMap(\.tokens)) { test.realm.add(Keyless()) }
        test.deliverAll()
        #expect(logs.map { $0.take() } == [[], [], []])
    }

    // MARK: Deleting

    @Test("deleting a file during its migration throws O8") func deletingInMigration() throws {
        let past = try PreviousFile(["object Keyless\nproperty content Int"]) { create in
            _ = create("Keyless", ["content": 5])
        }
        let code = Mutex<Realm.Error.Code?>(nil)
        let configuration = past.configuration([Keyless.self])
        let realm = try past.migrated([Keyless.self]) { _, _ in
            let error = #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: configuration) }
            code.withLock { $0 = error?.code }
        }
        #expect(code.withLock { $0 } != nil && Realm.fileExists(for: configuration))
        #expect(realm.objects(Keyless.self).map(\.content) == ["5"])
    }

    @Test("deleteRealmIfMigrationNeeded creates a new file; deleteFiles does not delete an open file O2")
    func recreated() throws {
        let past = try PreviousFile(["object Keyless\nproperty content Int"]) { create in
            _ = create("Keyless", ["content": 5])
        }
        var configuration = past.configuration([Keyless.self], schemaVersion: 0)
        let refused = #expect(throws: Realm.Error.self) { _ = try Realm(configuration: configuration) }
        #expect(refused?.code == .schemaMismatch)
        configuration.deleteRealmIfMigrationNeeded = true
        do { #expect(try Realm(configuration: configuration).isEmpty) }
        let openRealm = try past.migrated([Keyless.self], schemaVersion: 0)
        try openRealm.write { openRealm.add(Keyless()) }
        #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: configuration) }
        #expect(openRealm.objects(Keyless.self).count == 1)
    }

    // MARK: After a failure

    @Test("if a write cannot be stored, key-value observers are called after the write lock is released O4 K20")
    func calledAfterUnlock() throws {
        let test = try TestRealm { $0.environment.writeTimeoutMilliseconds = 0 }
        let node = try test.nodes(1)[0]
        let recorder = node.recorder("name", options: [])
        var failures: [any Error] = []
        recorder.onCall = {
            guard !test.realm.isInWriteTransaction else { return }
            do {
                try test.onNewThread { realm in try realm.write { realm.add(Node(id: 100 + failures.count)) } }
            } catch {
                failures.append(error)
            }
        }
        let error = #expect(throws: Realm.Error.self) {
            try test.realm.write {
                try limitGrowth(test.realm.context.handle, pages: 2)
                node.name = String(repeating: "x", count: 50_000)
            }
        }
        #expect(error?.code == .outOfDiskSpace && failures.isEmpty)
        #expect(recorder.calls == ["name", "name"] && node.name == "n1")
        test.realm.refresh()
        #expect(test.realm.objects(Node.self).map(\.id) == [1, 100])
    }

    @Test("an object that outlives its migration keeps no statement of the connection alive O2")
    func statements() throws {
        let past = try PreviousFile(["object Keyless\nproperty content Int"]) { create in
            _ = create("Keyless", ["content": 5])
        }
        // Sendable: used on one thread only.
        final class Kept: @unchecked Sendable {
            var objects: [MigrationObject?] = []
            weak var select: AnyObject?
            weak var insert: AnyObject?
        }
        let kept = Kept()
        let realm = try past.migrated([Keyless.self]) { migration, _ in
            migration.enumerateObjects(ofType: "Keyless") { old, new in
                new?["content"] = "six"
                kept.objects = [old, new]
                guard let table = new?._table else { return }
                kept.select = table.context.read { try? table.rows.selectStatement($0) }
            }
            let created = migration.create("Keyless", value: ["content": "seven"])
            if let table = created._table { kept.insert = table.context.read { try? table.rows.insertStatement($0) } }
            #expect(kept.select != nil && kept.insert != nil)
        }
        #expect(kept.objects.count == 2 && kept.select == nil && kept.insert == nil)
        #expect(realm.objects(Keyless.self).map(\.content).sorted() == ["seven", "six"])
    }
}
