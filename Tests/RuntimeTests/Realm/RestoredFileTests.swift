import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import Synchronization
import Testing

@testable import Martlet

/// Tests backups that are copied over the file of a Realm, through the public API.
@Suite("restored files") struct RestoredFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-restored-\(UUID().uuidString)")

    private func configuration(_ name: String = "live.realm") -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: folder.appending(path: name), objectTypes: [IntKey.self])
        configuration.durability = .off
        return configuration
    }

    private func add(_ ids: Range<Int>, _ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        for id in ids { try realm.write { realm.add(IntKey(id: id)) } }
    }

    private func copy(_ from: String, to: String) throws {
        try Data(contentsOf: folder.appending(path: from)).write(to: folder.appending(path: to))
    }

    private func ids(_ configuration: Realm.Configuration) throws -> [Int] {
        try Realm(configuration: configuration).objects(IntKey.self).sorted(byKeyPath: "id").map(\.id)
    }

    @Test(
        "a closed file can be copied and restored; a leftover log is set aside, listed and deleted with the file D20 D21"
    )
    func restore() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try add(0..<5, configuration())
        try copy("live.realm", to: "backup.realm")
        do {
            let realm = try Realm(configuration: configuration())
            for id in 5..<8 { try realm.write { realm.add(IntKey(id: id)) } }
            // Copies the files in the state in which a killed process would leave them.
            for suffix in ["", "-wal"] { try copy("live.realm" + suffix, to: "killed.realm" + suffix) }
        }
        try copy("backup.realm", to: "live.realm")
        #expect(try ids(configuration()) == Array(0..<5))
        #expect(Realm.logsSetAside(for: configuration()) == [])

        let reports = Mutex<[String]>([])
        var killed = configuration("killed.realm")
        killed.environment.log = { line in reports.withLock { $0.append(line) } }
        try copy("killed.realm", to: "again.realm")
        try copy("killed.realm-wal", to: "again.realm-wal")
        #expect(try ids(configuration("again.realm")) == Array(0..<8), "the log has commits that the file lacks")
        try copy("backup.realm", to: "killed.realm")
        #expect(try ids(killed) == Array(0..<5))
        let aside = Realm.logsSetAside(for: killed)
        #expect(aside.map(\.lastPathComponent) == ["killed.realm-wal.aside-1"])
        #expect(reports.withLock { $0.count } == 1)
        // The numbers may have gaps: a user may have deleted the log with the number 2.
        try Data().write(to: folder.appendingPathComponent("killed.realm-wal.aside-3"))
        #expect(Realm.logsSetAside(for: killed).map(\.pathExtension) == ["aside-1", "aside-3"])
        try Realm.deleteFiles(for: killed)
        #expect(Realm.logsSetAside(for: killed) == [])
    }

    @Test(
        "after a backup is copied over an open file, writes throw, and later the file can be opened unchanged D23"
    )
    func restoreWhileOpen() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try add(0..<5, configuration())
        try copy("live.realm", to: "backup.realm")
        var withoutReports = configuration()
        withoutReports.environment.log = { _ in }
        do {
            let realm = try Realm(configuration: withoutReports)
            for id in 5..<8 { try realm.write { realm.add(IntKey(id: id)) } }
            try copy("backup.realm", to: "live.realm")
            for _ in 0..<2 {
                let error = #expect(throws: Realm.Error.self) { try realm.write { realm.add(IntKey(id: 9)) } }
                #expect(error?.code == .fileReplaced)
            }
            #expect(!realm.refresh())
        }
        #expect(
            try Data(contentsOf: folder.appending(path: "live.realm"))
                == Data(contentsOf: folder.appending(path: "backup.realm")))
        #expect(try ids(withoutReports) == Array(0..<5))
    }
}
