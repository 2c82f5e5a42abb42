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
    /// A part of the message of the error.
    let messagePart: String
    let provoke: @Sendable (FaultFixture) throws -> Void
    let repair: @Sendable (FaultFixture) throws -> Void

    init(
        _ code: Realm.Error.Code, _ description: String, messagePart: String,
        repair: @escaping @Sendable (FaultFixture) throws -> Void = { $0.retained = [] },
        by provoke: @escaping @Sendable (FaultFixture) throws -> Void
    ) {
        (self.code, self.description, self.messagePart, self.provoke, self.repair) = (
            code, description, messagePart, provoke, repair
        )
    }

    static let all = openings + files + writes + inputs

    private static let openings = [
        Fault(
            .fileNotFound, "a file that is opened for reading only is missing",
            messagePart: "'readOnly' does not create one"
        ) {
            try $0.openOtherFile("missing.realm") { $0.readOnly = true }
        },
        Fault(.fileNotFound, "the folder is missing", messagePart: "create it first") {
            try $0.openOtherFile("no/such.realm")
        },
        Fault(.fileAccess, "the path of the file is a folder", messagePart: "name a file") { fixture in
            try FileManager.default.createDirectory(
                at: fixture.folder.appending(path: "folder.realm"), withIntermediateDirectories: false)
            try fixture.openOtherFile("folder.realm")
        },
        Fault(.fileAccess, "an open file is deleted", messagePart: "release its Realms") { fixture in
            fixture.retained = [try fixture.open()]
            try Realm.deleteFiles(for: fixture.configuration)
        },
        Fault(
            .incompatibleConfiguration, "a file that is open for writing is opened for reading only",
            messagePart: "configuration"
        ) {
            fixture in
            fixture.retained = [try fixture.open()]
            try fixture.open { $0.readOnly = true }
        },
        Fault(.alreadyOpen, "an open file is migrated", messagePart: "release its Realms") { fixture in
            fixture.retained = [try fixture.open()]
            try fixture.open { $0.schemaVersion = 7 }
        },
        Fault(
            .schemaMismatch, "a property has another type, and the schema version is the same",
            messagePart: "'Keyless.content' is 'Int' in the file and 'String' in the schema",
            repair: { fixture in
                guard let previous = fixture.retained.first as? PreviousFile else { return }
                let realm = try previous.migrated([Keyless.self])
                if realm.objects(Keyless.self).map(\.content) != ["5"] { throw CocoaError(.fileReadCorruptFile) }
                fixture.retained = []
            }
        ) { fixture in
            let previous = try PreviousFile(["object Keyless\nproperty content Int"]) {
                _ = $0("Keyless", ["content": 5])
            }
            fixture.retained = [previous]
            _ = try previous.migrated([Keyless.self], schemaVersion: 0)
        },
        Fault(
            .schemaVersionNewer, "a newer program wrote the file", messagePart: "raise 'schemaVersion'",
            repair: { try alter($0.url.path, "UPDATE martlet_meta SET schema_version = 0") }
        ) { fixture in
            try alter(fixture.url.path, "UPDATE martlet_meta SET schema_version = 7")
            try fixture.open()
        },
    ]

    private static let files = [
        Fault(.notADatabase, "a file of text", messagePart: "left as it is") { fixture in
            try Data("Dear diary".utf8).write(to: fixture.folder.appending(path: "diary.realm"))
            try fixture.openOtherFile("diary.realm")
        },
        Fault(
            .notADatabase, "a database of another program", messagePart: "of another program",
            repair: { try $0.restore() }
        ) { fixture in
            // In the header of the file, the application id is at offset 68.
            try fixture.overwriteBytes(at: { _ in 68 }, [0, 0, 0, 7])
            try fixture.open()
        },
        Fault(
            .unsupportedFileFormat, "a newer file format", messagePart: "use a newer Martlet",
            repair: { try $0.restore() }
        ) { fixture in
            // In the header of the file, the user version is at offset 60.
            try fixture.overwriteBytes(at: { _ in 60 }, [0, 0, 99, 0])
            try fixture.open()
        },
        Fault(.fileCorrupted, "a page is overwritten", messagePart: "restore a backup", repair: { try $0.restore() }) {
            fixture in
            try fixture.overwriteBytes(at: { $0.count - 4096 }, Array(repeating: 0xA5, count: 4096))
            try fixture.open { $0.readOnly = true }.writeCopy(toFile: fixture.folder.appending(path: "second.realm"))
        },
        Fault(.fileCorrupted, "the file is truncated", messagePart: "restore a backup", repair: { try $0.restore() }) {
            fixture in
            try fixture.useCopy()
            let bytes = try Data(contentsOf: fixture.url)
            try bytes.prefix(bytes.count / 2).write(to: fixture.url)
            try fixture.open()
        },
        Fault(.fileReplaced, "a backup is copied over the open file", messagePart: "copied over") { fixture in
            try fixture.useCopy()
            let realm = try fixture.open()
            fixture.retained = [realm]
            let backup = fixture.folder.appending(path: "backup.realm")
            try realm.writeCopy(toFile: backup)
            try Data(contentsOf: backup).write(to: fixture.url)
            try realm.write { realm.add(Node(id: 4)) }
        },
        Fault(.fileExists, "a copy is written to the path of an existing file", messagePart: "choose another path") {
            fixture in
            try fixture.open().writeCopy(toFile: fixture.url)
        },
    ]

    private static let writes = [
        Fault(.outOfDiskSpace, "the disk is full", messagePart: "free space") { fixture in
            // 13 is SQLITE_FULL, which SQLite returns for 'no space left on device'.
            try fixture.write { fixture.vfs.fail(.write, of: .wal, result: 13) }
        },
        Fault(.inputOutput, "the disk fails to read", messagePart: "reading or writing failed") { fixture in
            fixture.vfs.fail(.read, of: .main)
            try fixture.openOnFaultyVFS()
        },
        Fault(.commitOutcomeUnknown, "the disk does not confirm a commit", messagePart: "open the file again") {
            fixture in
            try fixture.write { fixture.vfs.fail(.sync, of: .wal) }
        },
        Fault(.busy, "another thread has an open write", messagePart: "another thread") { fixture in
            fixture.retained = [fixture.writeOnOtherThread()]
            try fixture.write {}
        },
        Fault(.busy, "another process has an open write", messagePart: "another process") { fixture in
            let realm = try fixture.open()
            fixture.retained = [fixture.lockAsAnotherProcess()]
            try realm.write { realm.add(Node(id: 4)) }
        },
        Fault(.tooManyVersions, "too many versions are in use", messagePart: "release frozen objects") {
            fixture in
            let realm = try fixture.open { $0.maximumNumberOfActiveVersions = 2 }
            for _ in 0..<3 {
                fixture.retained.append(realm.context.handle)
                try realm.write { realm.objects(Node.self).first?.amount += 1 }
            }
        },
        Fault(.logFull, "a pinned version prevents the reuse of the log", messagePart: "'maximumLogBytes'") { fixture in
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
            fixture.retained.append(realm.context.handle)
            for number in 0..<100 {
                try realm.write {
                    realm.objects(Node.self).first?.name = String(repeating: "\(number % 10)", count: 10_000)
                }
            }
        },
        Fault(.deletionDenied, "the target of a link with 'onDelete: deny' is deleted", messagePart: "'onDelete: deny'")
        {
            fixture in
            let realm = try fixture.open()
            try realm.write { realm.add(Owner(id: 1, guarded: Treasure(id: 1))) }
            try realm.write { realm.delete(realm.objects(Treasure.self)) }
        },
        Fault(.uniqueViolation, "two objects have the same unique value", messagePart: "unique") { fixture in
            let realm = try fixture.open()
            try realm.write {
                realm.add([Node(id: 4), Node(id: 5)])
                realm.add([Indexed(id: 1, code: "a"), Indexed(id: 2, code: "a")])
            }
        },
    ]

    private static let inputs = [
        Fault(.invalidInput, "an incomplete query", messagePart: "see offset 5") { fixture in
            _ = try fixture.open().objects(Node.self).filter(Realm.Predicate(parsing: "id > "))
        },
        Fault(.invalidInput, "a query of an unknown property", messagePart: "'Node' has no property 'idd'") {
            fixture in
            _ = try fixture.open().objects(Node.self).filter(Realm.Predicate(parsing: "idd > 5"))
        },
        Fault(
            .invalidInput, "object types without the types that they link to",
            messagePart: "which is not in 'objectTypes'; add it"
        ) {
            fixture in
            try fixture.open { $0.objectTypes = [Dog.self] }
        },
    ]
}

extension FaultFixture {
    /// Opens another file in the folder.
    func openOtherFile(_ name: String, _ adjust: (inout Realm.Configuration) -> Void = { _ in }) throws {
        try open {
            $0.fileURL = folder.appending(path: name)
            adjust(&$0)
        }
    }
}
