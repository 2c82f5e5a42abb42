import CMartletTestVFS
import ConformanceModels
import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Synchronization

@testable import Martlet

/// A fault of the environment: how a test provokes it, and the error that it causes.
struct Fault: Sendable, CustomStringConvertible {
    let code: Realm.Error.Code
    let description: String
    /// A part of the message.
    let says: String
    let provoke: @Sendable (FaultBench) throws -> Void
    let cure: @Sendable (FaultBench) throws -> Void

    init(
        _ code: Realm.Error.Code, _ description: String, says: String,
        cure: @escaping @Sendable (FaultBench) throws -> Void = { $0.kept = [] },
        by provoke: @escaping @Sendable (FaultBench) throws -> Void
    ) {
        (self.code, self.description, self.says, self.provoke, self.cure) = (code, description, says, provoke, cure)
    }

    static let all = openings + files + writes + inputs

    private static let openings = [
        Fault(
            .fileNotFound, "a file that is opened for reading only is missing", says: "'readOnly' does not create one"
        ) {
            try $0.openOtherFile("missing.realm") { $0.readOnly = true }
        },
        Fault(.fileNotFound, "the folder is missing", says: "create it first") {
            try $0.openOtherFile("no/such.realm")
        },
        Fault(.fileAccess, "the path of the file is a folder", says: "name a file") { fixture in
            try FileManager.default.createDirectory(
                at: fixture.folder.appending(path: "folder.realm"), withIntermediateDirectories: false)
            try fixture.openOtherFile("folder.realm")
        },
        Fault(.fileAccess, "an open file is deleted", says: "let go of its Realms") { fixture in
            fixture.kept = [try fixture.open()]
            try Realm.deleteFiles(for: fixture.configuration)
        },
        Fault(
            .incompatibleConfiguration, "a file that is open for writing is opened for reading only",
            says: "configuration"
        ) {
            fixture in
            fixture.kept = [try fixture.open()]
            try fixture.open { $0.readOnly = true }
        },
        Fault(.alreadyOpen, "an open file is migrated", says: "release its Realms") { fixture in
            fixture.kept = [try fixture.open()]
            try fixture.open { $0.schemaVersion = 7 }
        },
        Fault(
            .schemaMismatch, "a property has another type, and the schema version is the same",
            says: "'Keyless.content' is 'Int' in the file and 'String' in the schema",
            cure: { fixture in
                guard let previous = fixture.kept.first as? PastProgram else { return }
                let realm = try previous.migrated([Keyless.self])
                if realm.objects(Keyless.self).map(\.content) != ["5"] { throw CocoaError(.fileReadCorruptFile) }
                fixture.kept = []
            }
        ) { fixture in
            let previous = try PastProgram(["object Keyless\nproperty content Int"]) {
                _ = $0("Keyless", ["content": 5])
            }
            fixture.kept = [previous]
            _ = try previous.migrated([Keyless.self], schemaVersion: 0)
        },
        Fault(
            .schemaVersionNewer, "a newer program wrote the file", says: "raise 'schemaVersion'",
            cure: { try alter($0.url.path, "UPDATE martlet_meta SET schema_version = 0") }
        ) { fixture in
            try alter(fixture.url.path, "UPDATE martlet_meta SET schema_version = 7")
            try fixture.open()
        },
    ]

    private static let files = [
        Fault(.notADatabase, "a file of text", says: "left as it is") { fixture in
            try Data("Dear diary".utf8).write(to: fixture.folder.appending(path: "diary.realm"))
            try fixture.openOtherFile("diary.realm")
        },
        Fault(
            .notADatabase, "a database of another program", says: "of another program",
            cure: { try $0.heal() }
        ) { fixture in
            // The application id in the header of the file.
            try fixture.spoil(at: { _ in 68 }, [0, 0, 0, 7])
            try fixture.open()
        },
        Fault(
            .unsupportedFileFormat, "a newer file format", says: "use a newer Martlet",
            cure: { try $0.heal() }
        ) { fixture in
            // The user version in the header of the file.
            try fixture.spoil(at: { _ in 60 }, [0, 0, 99, 0])
            try fixture.open()
        },
        Fault(.fileCorrupted, "a page is overwritten", says: "restore a backup", cure: { try $0.heal() }) { fixture in
            try fixture.spoil(at: { $0.count - 4096 }, Array(repeating: 0xA5, count: 4096))
            try fixture.open { $0.readOnly = true }.writeCopy(toFile: fixture.folder.appending(path: "second.realm"))
        },
        Fault(.fileCorrupted, "the file is truncated", says: "restore a backup", cure: { try $0.heal() }) { fixture in
            try fixture.useCopy()
            let bytes = try Data(contentsOf: fixture.url)
            try bytes.prefix(bytes.count / 2).write(to: fixture.url)
            try fixture.open()
        },
        Fault(.fileReplaced, "a backup is copied over the open file", says: "copied over") { fixture in
            try fixture.useCopy()
            let realm = try fixture.open()
            fixture.kept = [realm]
            let backup = fixture.folder.appending(path: "backup.realm")
            try realm.writeCopy(toFile: backup)
            try Data(contentsOf: backup).write(to: fixture.url)
            try realm.write { realm.add(Node(id: 4)) }
        },
        Fault(.fileExists, "a copy is written to the path of an existing file", says: "choose another path") {
            fixture in
            try fixture.open().writeCopy(toFile: fixture.url)
        },
    ]

    private static let writes = [
        Fault(.outOfDiskSpace, "the disk is full", says: "free space") { fixture in
            // 13 is SQLITE_FULL, which SQLite returns for 'no space left on device'.
            try fixture.write { fixture.disk.fail(.write, of: .wal, result: 13) }
        },
        Fault(.inputOutput, "the disk fails to read", says: "reading or writing failed") { fixture in
            fixture.disk.fail(.read, of: .main)
            try fixture.openOnFaultyDisk()
        },
        Fault(.commitOutcomeUnknown, "the disk does not confirm a commit", says: "open the file again") { fixture in
            try fixture.write { fixture.disk.fail(.sync, of: .wal) }
        },
        Fault(.busy, "another thread has an open write", says: "another thread") { fixture in
            fixture.kept = [fixture.writeElsewhere()]
            try fixture.write {}
        },
        Fault(.busy, "another process has an open write", says: "another process") { fixture in
            let realm = try fixture.open()
            fixture.kept = [fixture.lockAsAnotherProcess()]
            try realm.write { realm.add(Node(id: 4)) }
        },
        Fault(.tooManyVersions, "too many versions are in use", says: "let go of frozen objects") {
            fixture in
            let realm = try fixture.open { $0.maximumNumberOfActiveVersions = 2 }
            for _ in 0..<3 {
                fixture.kept.append(realm.context.handle)
                try realm.write { realm.objects(Node.self).first?.amount += 1 }
            }
        },
        Fault(.logFull, "a pinned version prevents the reuse of the log", says: "'maximumLogBytes'") { fixture in
            let ticks = Mutex<UInt64>(1)
            let realm = try fixture.open {
                ($0.maximumLogBytes, $0.throwsWhenLogIsFull) = (200_000, true)
                // Every call advances the clock by one second.
                $0.environment.now = {
                    ticks.withLock { time in
                        time += 1_000_000_000
                        return time
                    }
                }
            }
            fixture.kept.append(realm.context.handle)
            for number in 0..<100 {
                try realm.write {
                    realm.objects(Node.self).first?.name = String(repeating: "\(number % 10)", count: 10_000)
                }
            }
        },
        Fault(.deletionDenied, "the target of a link with 'onDelete: deny' is deleted", says: "'onDelete: deny'") {
            fixture in
            let realm = try fixture.open()
            try realm.write { realm.add(Owner(id: 1, guarded: Treasure(id: 1))) }
            try realm.write { realm.delete(realm.objects(Treasure.self)) }
        },
        Fault(.uniqueViolation, "two objects have the same unique value", says: "unique") { fixture in
            let realm = try fixture.open()
            try realm.write {
                realm.add([Node(id: 4), Node(id: 5)])
                realm.add([Indexed(id: 1, code: "a"), Indexed(id: 2, code: "a")])
            }
        },
    ]

    private static let inputs = [
        Fault(.invalidInput, "an incomplete query", says: "at offset 5") { fixture in
            _ = try fixture.open().objects(Node.self).filter(Realm.Predicate(parsing: "id > "))
        },
        Fault(.invalidInput, "a query of an unknown property", says: "'Node' has no property 'idd'") {
            fixture in
            _ = try fixture.open().objects(Node.self).filter(Realm.Predicate(parsing: "idd > 5"))
        },
        Fault(
            .invalidInput, "object types without the types that they link to",
            says: "which is not in 'objectTypes'; add it"
        ) {
            fixture in
            try fixture.open { $0.objectTypes = [Dog.self] }
        },
    ]
}

extension FaultBench {
    /// Opens another file in the folder.
    func openOtherFile(_ name: String, _ adjust: (inout Realm.Configuration) -> Void = { _ in }) throws {
        try open {
            $0.fileURL = folder.appending(path: name)
            adjust(&$0)
        }
    }
}
