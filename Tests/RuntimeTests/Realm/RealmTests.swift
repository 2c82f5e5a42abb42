import ConformanceModels
import Foundation
import KennelModels
import MartletTestSupport
import Testing

@testable import Martlet

@Suite struct RealmTests {
    private struct Failure: Error {}

    @Test("opening a file again returns the Realm of the thread or queue; every thread and queue has its own Realm O1")
    func instances() throws {
        let test = try TestRealm()
        let again = try Realm(configuration: test.configuration)
        #expect(again == test.realm && again.context === test.realm.context)
        try test.onNewThread { realm in #expect(realm != test.realmIgnoringThread) }
        let queue = DispatchQueue(label: "test")
        try queue.sync {
            let one = try Realm(configuration: test.configuration, queue: queue)
            #expect(
                try one == Realm(configuration: test.configuration, queue: queue) && one != test.realmIgnoringThread)
        }
    }

    @Test("a Realm of a queue can be used by every block of the queue, on any thread O1") func queues() throws {
        let test = try TestRealm()
        let queue = DispatchQueue(label: "test")
        nonisolated(unsafe) let realm = try Realm(configuration: test.configuration, queue: queue)
        nonisolated(unsafe) var node: Node?
        try queue.sync {
            node = Node(id: 1, name: "a")
            try realm.write { if let node { realm.add(node) } }
        }
        let done = DispatchSemaphore(value: 0)
        queue.async {
            #expect(node?.name == "a" && realm.objects(Node.self).count == 1)
            try? realm.write { node?.name = "b" }
            node = nil
            done.signal()
        }
        done.wait()
        test.realm.refresh()
        #expect(test.realm.objects(Node.self).first?.name == "b")
    }

    @Test("a Realm in memory is shared by its identifier, and deleted with its last instance O2")
    func inMemory() throws {
        let name = "memory-\(UUID().uuidString)"
        var realm: Realm? = try Realm(configuration: .init(inMemoryIdentifier: name))
        try realm?.write { realm?.add(Node(id: 1)) }
        try #expect(Realm(configuration: .init(inMemoryIdentifier: name)).objects(Node.self).count == 1)
        try #expect(Realm(configuration: .init(inMemoryIdentifier: name + "2")).isEmpty)
        let configuration = Realm.Configuration(inMemoryIdentifier: name)
        #expect(Realm.fileExists(for: configuration))
        #expect(!FileManager.default.fileExists(atPath: configuration.path))
        realm = nil
        #expect(!Realm.fileExists(for: configuration))
        try #expect(Realm(configuration: .init(inMemoryIdentifier: name)).isEmpty)
    }

    @Test("a read-only Realm can be read O2") func readOnly() throws {
        let test = try closedFile()
        var configuration = test.configuration
        configuration.readOnly = true
        let realm = try Realm(configuration: configuration)
        #expect(
            realm.objects(Node.self).map(\.id) == [1] && realm.object(ofType: Node.self, forPrimaryKey: 1)?.name == "a")
        let error = #expect(throws: Realm.Error.self) {
            configuration.readOnly = false
            _ = try Realm(configuration: configuration)
        }
        #expect(error?.code == .incompatibleConfiguration)
    }

    @Test("opening a missing file with readOnly throws and creates no file O2") func missing() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("missing-\(UUID().uuidString).realm")
        let error = #expect(throws: Realm.Error.self) {
            _ = try Realm(configuration: .init(fileURL: url, readOnly: true))
        }
        #expect(error?.code == .fileNotFound && !FileManager.default.fileExists(atPath: url.path))
    }

    private struct Closed {
        let configuration: Realm.Configuration
        let folder: TestFolder
    }

    private func closedFile() throws -> Closed {
        let folder = try TestFolder()
        var configuration = Realm.Configuration(fileURL: folder.url.appendingPathComponent("closed.realm"))
        configuration.scheduler = ManualScheduler()
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add(Node(id: 1, name: "a")) }
        return Closed(configuration: configuration, folder: folder)
    }

    @Test("write returns the result of its block; an error rolls back all changes O4") func write() throws {
        let test = try TestRealm()
        let node = Node(id: 1, name: "a")
        let count = try test.realm.write {
            test.realm.add(node)
            return test.realm.objects(Node.self).count
        }
        #expect(count == 1)
        var added: Node?
        #expect(throws: Failure.self) {
            try test.realm.write {
                node.name = "b"
                added = test.realm.create(Node.self, value: ["id": 2])
                node.next = added
                #expect(test.realm.isInWriteTransaction)
                throw Failure()
            }
        }
        #expect(
            !test.realm.isInWriteTransaction && node.name == "a" && node.next == nil && added?.isInvalidated == true)
        #expect(
            test.realm.objects(Node.self).count == 1 && test.realm.object(ofType: Node.self, forPrimaryKey: 2) == nil)
        try test.realm.write { node.name = "c" }
        try test.onNewThread { realm in #expect(realm.objects(Node.self).first?.name == "c") }
    }

    @Test("a program can begin, commit and cancel writes; a block can end its own write O4")
    func manual() throws {
        let test = try TestRealm()
        try test.realm.beginWrite()
        test.realm.add(Node(id: 1, name: "a"))
        try test.realm.commitWrite()
        let node = try #require(test.realm.objects(Node.self).first)
        try test.realm.beginWrite()
        node.name = "b"
        _ = test.realm.objects(Node.self).where { $0.name == "b" }.count
        node.name = "c"
        test.realm.cancelWrite()
        #expect(node.name == "a")
        try test.realm.write {
            node.name = "d"
            test.realm.cancelWrite()
        }
        #expect(node.name == "a")
        try test.realm.write {
            node.name = "e"
            try test.realm.commitWrite()
        }
        #expect(node.name == "e" && unfinishedStatement(test.realm.context.handle) == nil)
    }

    @Test("cancelling a write restores deleted objects and invalidates added objects O4")
    func cancelDeletion() throws {
        let test = try TestRealm()
        let node = Node(id: 1, next: Node(id: 2), children: [Node(id: 3)], part: Part(name: "p"))
        try test.realm.write { test.realm.add(node) }
        let (next, part) = (try #require(node.next), try #require(node.part))
        try test.realm.beginWrite()
        test.realm.delete(next)
        test.realm.delete(part)
        node.children.removeAll()
        #expect(next.isInvalidated && part.isInvalidated && node.next == nil && node.part == nil)
        let (second, added) = (Node(id: 2, name: "second"), Node(id: 4, part: Part(name: "q")))
        test.realm.add([second, added])
        node.part = Part(name: "r")
        let newParts = [try #require(added.part), try #require(node.part)]
        test.realm.delete(added)
        test.realm.cancelWrite()
        #expect(!next.isInvalidated && node.next === next && next.id == 2 && next.name.isEmpty)
        #expect(!part.isInvalidated && node.part === part && part.name == "p" && node.children.map(\.id) == [3])
        #expect(second.isInvalidated && added.isInvalidated && newParts.allSatisfy(\.isInvalidated))
        try test.realm.write {
            next.name = "n"
            part.name = "s"
        }
        #expect(node.next?.name == "n" && node.part?.name == "s" && test.realm.objects(Node.self).count == 3)
    }

    @Test("beginWrite advances to the newest version O4") func beginWriteAdvances() throws {
        let test = try TestRealm()
        let (a, b) = (Node(id: 1, name: "a"), Node(id: 2))
        try test.realm.write { test.realm.add([a, b]) }
        let list = a.children
        try test.onNewThread { realm in
            try realm.write {
                let a = realm.object(ofType: Node.self, forPrimaryKey: 1)
                a?.name = "b"
                a?.children.append(Node(id: 3))
                realm.delete(realm.objects(Node.self).where { $0.id == 2 })
            }
        }
        #expect(a.name == "a" && list.isEmpty && !b.isInvalidated)
        try test.realm.write {
            #expect(a.name == "b" && list.count == 1 && b.isInvalidated)
            a.name += "!"
        }
        #expect(a.name == "b!")
    }

    @Test("a Realm has a configuration, and refresh updates isEmpty O3") func state() throws {
        let test = try TestRealm()
        #expect(
            test.realm.isEmpty && !test.realm.isFrozen && test.realm.autorefresh && !test.realm.isInWriteTransaction)
        #expect(test.realm.configuration.fileURL == test.url && !test.realm.refresh())
        try test.onNewThread { realm in try realm.write { realm.add(Node(id: 1)) } }
        #expect(test.realm.isEmpty && test.realm.refresh() && !test.realm.isEmpty && !test.realm.refresh())
    }

    @Test("invalidate invalidates objects and collections, but not the Realm O3") func invalidate() throws {
        let test = try TestRealm()
        let node = Node(id: 1, children: [Node(id: 2)])
        try test.realm.write { test.realm.add(node) }
        let (all, list, previous) = (test.realm.objects(Node.self), node.children, node.previous)
        #expect(all.count == 2 && list.count == 1)
        test.realm.invalidate()
        #expect(node.isInvalidated && all.isInvalidated && list.isInvalidated && previous.isInvalidated)
        #expect(test.realm.objects(Node.self).count == 2 && test.realm.objects(Node.self).first?.children.count == 1)
        try test.realm.beginWrite()
        test.realm.add(Node(id: 9))
        test.realm.invalidate()
        #expect(!test.realm.isInWriteTransaction && test.realm.objects(Node.self).count == 2)
        try test.realm.write { test.realm.add(Node(id: 9)) }
        #expect(test.realm.objects(Node.self).count == 3)
    }

    @Test("deleteFiles deletes the file, and throws while the file is open O8") func files() throws {
        let closed = try closedFile()
        #expect(Realm.fileExists(for: closed.configuration))
        #expect(try Realm.deleteFiles(for: closed.configuration) && !Realm.fileExists(for: closed.configuration))
        #expect(try !Realm.deleteFiles(for: closed.configuration))
        let test = try TestRealm()
        #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: test.configuration) }
    }

    @Test("objects are still stored after closing and opening a file O7") func reopen() throws {
        let closed = try closedFile()
        let realm = try Realm(configuration: closed.configuration)
        #expect(realm.object(ofType: Node.self, forPrimaryKey: 1)?.name == "a")
        try realm.write { realm.add(Node(id: 2, next: realm.objects(Node.self).first)) }
        #expect(realm.objects(Node.self).where { $0.next.name == "a" }.count == 1)
    }
}

private final class TestFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }
}

extension TestRealm {
    /// The Realm. Other threads use it only to compare it with other Realms.
    fileprivate var realmIgnoringThread: Realm { realm }
}
