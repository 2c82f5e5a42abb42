import ConformanceModels
import Foundation
import MartletTestSupport
import Testing

@testable import Martlet

/// Writes that change nothing.
@Suite struct UnchangedWriteTests {
    private let test: TestRealm
    private var realm: Realm { test.realm }

    init() throws {
        test = try TestRealm()
        try test.realm.write { test.realm.add(Node(id: 1, name: "a")) }
    }

    private struct FileState: Equatable {
        let version: UInt64
        let bytes: [Data?]
    }

    /// The version that the Realm shows, and the contents of the file and of its log.
    private func state() -> FileState {
        FileState(
            version: realm.context.version,
            bytes: ["", "-wal"].map { FileManager.default.contents(atPath: test.url.path + $0) })
    }

    @Test("a write that changes nothing creates no version and writes nothing N26")
    func unchanged() throws {
        let before = state()
        try realm.write {}
        #expect(try realm.write { 7 } == 7)
        try realm.write { realm.add(Node(id: 1, name: "a"), update: .modified) }
        try realm.write { realm.create(Node.self, value: ["id": 1, "name": "a"] as [String: Any], update: .modified) }
        try realm.write { realm.delete(realm.objects(Node.self).where { $0.id == 99 }) }
        try realm.write { realm.objects(Node.self).where { $0.id == 1 }.first?.children.removeAll() }
        try realm.beginWrite()
        #expect(realm.isInWriteTransaction)
        try realm.commitWrite()
        #expect(!realm.isInWriteTransaction)
        #expect(state() == before)
    }

    @Test("an assignment of an equal value is a change, and changes that cancel each other out are changes N26")
    func equalValues() throws {
        let node = try #require(realm.objects(Node.self).first)
        for change in [
            { node.name = "a" },
            {
                realm.add(Node(id: 2))
                realm.delete(realm.objects(Node.self).where { $0.id == 2 })
            },
        ] {
            let before = realm.context.version
            try realm.write { change() }
            #expect(realm.context.version == before + 1)
        }
    }

    @Test("after a write without changes, other threads can write, and this Realm sees their changes N26")
    func others() throws {
        for id in 2...4 {
            try realm.write {}
            try test.onNewThread { realm in
                try realm.write {}
                try realm.write { realm.add(Node(id: id)) }
                try realm.write {}
            }
            realm.refresh()
            #expect(realm.objects(Node.self).count == id)
            try realm.write { realm.add(Node(id: id + 100)) }
            try realm.write { realm.delete(realm.objects(Node.self).where { $0.id > 100 }) }
        }
    }

    @Test("after a write that threw, a write without changes writes nothing N26")
    func failures() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) { try realm.write { throw Stop() } }
        let before = state()
        try realm.write {}
        #expect(state() == before)
    }

    @Test("an asynchronous write without changes calls its handler, and creates no version if it is alone N26")
    func asynchronous() throws {
        let before = state()
        let calls = Log()
        realm.writeAsync({}, onComplete: { calls.lines.append($0.map { "\($0)" } ?? "done") })
        while realm.isPerformingAsynchronousWriteOperations, test.scheduler.waitForWork() { test.scheduler.run() }
        #expect(calls.take() == ["done"])
        #expect(state() == before)
    }

    @Test("asynchronous writes that are committed together each have a version, even without changes N26")
    func grouped() throws {
        let before = realm.context.version
        let calls = Log(realm)
        for _ in 0..<3 { realm.writeAsync {} }
        while realm.isPerformingAsynchronousWriteOperations, test.scheduler.waitForWork() { test.scheduler.run() }
        #expect(realm.context.version == before + 3)
        #expect(calls.take() == ["didChange", "didChange", "didChange"])
    }
}
