import ConformanceModels
import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Testing

@testable import Martlet

@Suite("pinned versions")
struct PinnedVersionTests {
    @Test("pinnedVersions reports each version in use, its holders, and the line of the call that froze it O77 O2")
    func report() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        let line: UInt = #line + 1
        let frozen = rex.freeze()
        try test.realm.write { rex.name = "Bo" }
        let pinned = test.realm.pinnedVersions
        #expect(pinned.map(\.version) == [frozen.realm?.context.version, test.realm.context.version])
        #expect(pinned[0].holders == ["a value frozen at \(#fileID):\(line)"])
        #expect(pinned[1].holders == [test.realm.context.confinement.description])
        #expect(pinned[0].duration >= pinned[1].duration)
        withExtendedLifetime(frozen) {}
    }

    @Test("releasing the last frozen object of a version unpins it O77 O2")
    func release() throws {
        let test = try TestRealm()
        let rex = try test.dogs("Rex")[0]
        weak var context: RealmContext?
        do {
            let (frozen, list) = (rex.freeze(), rex.siblings.freeze())
            context = frozen.realm?.context
            try test.realm.write { rex.name = "Bo" }
            #expect(test.realm.pinnedVersions.count == 2 && list.isEmpty)
        }
        #expect(context == nil)
        #expect(becomesTrue { test.realm.pinnedVersions.count == 1 })
    }

    /// Waits for a condition, for at most ten seconds. A test must wait, because background work after a checkpoint
    /// briefly pins every version.
    private func becomesTrue(_ condition: () -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: 10)
        while !condition() {
            if Date() > deadline { return false }
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
        }
        return true
    }

    @Test("a write that exceeds 'maximumNumberOfActiveVersions' throws with the holders of the versions O77 O2")
    func limit() throws {
        let test = try TestRealm { $0.maximumNumberOfActiveVersions = 2 }
        let rex = try test.dogs("Rex")[0]
        var frozen = [rex.freeze()]
        try test.realm.write { rex.name = "Bo" }
        frozen.append(rex.freeze())
        let error = #expect(throws: Realm.Error.self) { try test.realm.write { rex.name = "Max" } }
        #expect(error?.code == .tooManyVersions)
        #expect(error?.message.contains("by a value frozen at \(#fileID)") == true)
        #expect(rex.name == "Bo" && frozen.map(\.name) == ["Rex", "Bo"])
        frozen.removeFirst()
        try test.realm.write { rex.name = "Max" }
        #expect(rex.name == "Max" && frozen[0].name == "Bo")
    }

    @Test("if many versions are in use, the oldest one is logged once after a long time O77 O2")
    func warning() throws {
        let (now, lines) = (LockedValue<UInt64>(0), LockedValue<[String]>([]))
        let test = try TestRealm {
            $0.environment.now = { now.value }
            $0.environment.log = { line in lines.update { $0.append(line) } }
        }
        let rex = try test.dogs("Rex")[0]
        var frozen: [Dog] = []
        for age in 0..<6 {
            frozen.append(rex.freeze())
            try test.realm.write { rex.age = age }
        }
        #expect(lines.value.isEmpty)
        now.update { $0 = 11_000_000_000 }
        try test.realm.write { rex.age = 7 }
        try test.realm.write { rex.age = 8 }
        #expect(lines.value.count == 1)
        #expect(lines.value.first?.contains("for 11 s by a value frozen at \(#fileID)") == true)
        #expect(frozen.map(\.age) == [nil, 0, 1, 2, 3, 4])
    }

    @Test("a connection that is not kept for reuse closes its files, even after lookups by primary key O13")
    func surplusConnections() throws {
        let vfs = FaultyVFS()
        let test = try TestRealm {
            $0.environment.vfsName = vfs.name
            $0.environment.checkpointFrames = .max
        }
        try test.realm.write { test.realm.add(Node(id: 1)) }
        // The statement of the lookup belongs to the connection that the first frozen object keeps in use.
        let node = try #require(test.realm.object(ofType: Node.self, forPrimaryKey: 1))
        var frozen = [node.freeze()]
        for number in 0..<8 {
            try test.realm.write { node.amount = Double(number) }
            frozen.append(node.freeze())
        }
        // These objects return more connections than the store keeps for reuse.
        for _ in 0..<8 { frozen.removeLast() }
        let before = vfs.openFileCount
        frozen = []
        #expect(becomesTrue { vfs.openFileCount < before }, "the connection that was returned last closes its files")
        let after = vfs.openFileCount
        #expect(test.realm.object(ofType: Node.self, forPrimaryKey: 1)?.amount == 7)
        #expect(vfs.openFileCount == after, "a lookup closes no file")
    }
}
