import CMartletTestVFS
import ConformanceModels
import Foundation
import KennelModels
import MartletEngine
import MartletTestSupport
import Synchronization

@testable import Martlet

/// A fault of the world: its cause, and what the program is thrown.
struct Fault: Sendable, CustomStringConvertible {
    let code: Realm.Error.Code
    let description: String
    /// What the message says, among other things.
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
        Fault(.fileNotFound, "a file that is only to be read is missing", says: "'readOnly' does not create one") {
            try $0.elsewhere("missing.realm") { $0.readOnly = true }
        },
        Fault(.fileNotFound, "the folder is missing", says: "create it first") { try $0.elsewhere("no/such.realm") },
        Fault(.fileAccess, "a folder stands in place of the file", says: "name a file") { bench in
            try FileManager.default.createDirectory(
                at: bench.folder.appending(path: "folder.realm"), withIntermediateDirectories: false)
            try bench.elsewhere("folder.realm")
        },
        Fault(.fileAccess, "an open file is to be deleted", says: "let go of its Realms") { bench in
            bench.kept = [try bench.open()]
            try Realm.deleteFiles(for: bench.configuration)
        },
        Fault(.incompatibleConfiguration, "open for writing, and to be opened for reading only", says: "configuration")
        {
            bench in
            bench.kept = [try bench.open()]
            try bench.open { $0.readOnly = true }
        },
        Fault(.alreadyOpen, "open, and to be migrated", says: "release its Realms") { bench in
            bench.kept = [try bench.open()]
            try bench.open { $0.schemaVersion = 7 }
        },
        Fault(
            .schemaMismatch, "a property has another type, and the schema version is the same",
            says: "'Keyless.content' is 'Int' in the file and 'String' in the schema",
            cure: { bench in
                guard let past = bench.kept.first as? PastProgram else { return }
                let realm = try past.migrated([Keyless.self])
                if realm.objects(Keyless.self).map(\.content) != ["5"] { throw CocoaError(.fileReadCorruptFile) }
                bench.kept = []
            }
        ) { bench in
            let past = try PastProgram(["object Keyless\nproperty content Int"]) { _ = $0("Keyless", ["content": 5]) }
            bench.kept = [past]
            _ = try past.migrated([Keyless.self], schemaVersion: 0)
        },
        Fault(
            .schemaVersionNewer, "a newer program has written the file", says: "raise 'schemaVersion'",
            cure: { try alter($0.url.path, "UPDATE martlet_meta SET schema_version = 0") }
        ) { bench in
            try alter(bench.url.path, "UPDATE martlet_meta SET schema_version = 7")
            try bench.open()
        },
    ]

    private static let files = [
        Fault(.notADatabase, "a file of text", says: "left as it is") { bench in
            try Data("Dear diary".utf8).write(to: bench.folder.appending(path: "diary.realm"))
            try bench.elsewhere("diary.realm")
        },
        Fault(
            .notADatabase, "a database of another program", says: "of another program",
            cure: { try $0.heal() }
        ) { bench in
            // The application id in the head of the file.
            try bench.spoil(at: { _ in 68 }, [0, 0, 0, 7])
            try bench.open()
        },
        Fault(
            .unsupportedFileFormat, "a format of the future", says: "use a newer Martlet",
            cure: { try $0.heal() }
        ) { bench in
            // The user version in the head of the file.
            try bench.spoil(at: { _ in 60 }, [0, 0, 99, 0])
            try bench.open()
        },
        Fault(.fileCorrupted, "a page was written over", says: "restore a backup", cure: { try $0.heal() }) { bench in
            try bench.spoil(at: { $0.count - 4096 }, Array(repeating: 0xA5, count: 4096))
            try bench.open { $0.readOnly = true }.writeCopy(toFile: bench.folder.appending(path: "second.realm"))
        },
        Fault(.fileCorrupted, "the end is cut off", says: "restore a backup", cure: { try $0.heal() }) { bench in
            try bench.useCopy()
            let bytes = try Data(contentsOf: bench.url)
            try bytes.prefix(bytes.count / 2).write(to: bench.url)
            try bench.open()
        },
        Fault(.fileReplaced, "a backup is copied over the open file", says: "copied over") { bench in
            try bench.useCopy()
            let realm = try bench.open()
            bench.kept = [realm]
            let backup = bench.folder.appending(path: "backup.realm")
            try realm.writeCopy(toFile: backup)
            try Data(contentsOf: backup).write(to: bench.url)
            try realm.write { realm.add(Node(id: 4)) }
        },
        Fault(.fileExists, "a copy is to be written over a file", says: "choose another path") { bench in
            try bench.open().writeCopy(toFile: bench.url)
        },
    ]

    private static let writes = [
        Fault(.outOfDiskSpace, "the disk is full", says: "free space") { bench in
            // What SQLite says where the system says 'no space left on device'.
            try bench.write { bench.disk.fail(.write, of: .wal, result: 13) }
        },
        Fault(.inputOutput, "the disk refuses to read", says: "reading or writing failed") { bench in
            bench.disk.fail(.read, of: .main)
            try bench.openOnFaultyDisk()
        },
        Fault(.commitOutcomeUnknown, "the disk does not confirm a commit", says: "open the file again") { bench in
            try bench.write { bench.disk.fail(.sync, of: .wal) }
        },
        Fault(.busy, "another thread keeps its write open", says: "another thread") { bench in
            bench.kept = [bench.writeElsewhere()]
            try bench.write {}
        },
        Fault(.busy, "another process keeps its write open", says: "another process") { bench in
            let realm = try bench.open()
            bench.kept = [bench.lockAsAnotherProcess()]
            try realm.write { realm.add(Node(id: 4)) }
        },
        Fault(.tooManyVersions, "more versions are in use than are allowed", says: "let go of frozen objects") {
            bench in
            let realm = try bench.open { $0.maximumNumberOfActiveVersions = 2 }
            for _ in 0..<3 {
                bench.kept.append(realm.context.handle)
                try realm.write { realm.objects(Node.self).first?.amount += 1 }
            }
        },
        Fault(.logFull, "an old version keeps the log from starting again", says: "'maximumLogBytes'") { bench in
            let ticks = Mutex<UInt64>(1)
            let realm = try bench.open {
                ($0.maximumLogBytes, $0.throwsWhenLogIsFull) = (200_000, true)
                // Two seconds are over at once.
                $0.environment.now = {
                    ticks.withLock { time in
                        time += 1_000_000_000
                        return time
                    }
                }
            }
            bench.kept.append(realm.context.handle)
            for number in 0..<100 {
                try realm.write {
                    realm.objects(Node.self).first?.name = String(repeating: "\(number % 10)", count: 10_000)
                }
            }
        },
        Fault(.deletionDenied, "what is guarded is deleted", says: "'onDelete: deny'") { bench in
            let realm = try bench.open()
            try realm.write { realm.add(Owner(id: 1, guarded: Treasure(id: 1))) }
            try realm.write { realm.delete(realm.objects(Treasure.self)) }
        },
        Fault(.uniqueViolation, "two objects have one unique value", says: "unique") { bench in
            let realm = try bench.open()
            try realm.write {
                realm.add([Node(id: 4), Node(id: 5)])
                realm.add([Indexed(id: 1, code: "a"), Indexed(id: 2, code: "a")])
            }
        },
    ]

    private static let inputs = [
        Fault(.invalidInput, "a query that breaks off", says: "at offset 5") { bench in
            _ = try bench.open().objects(Node.self).filter(Realm.Predicate(parsing: "id > "))
        },
        Fault(.invalidInput, "a query about a property that there is not", says: "'Node' has no property 'idd'") {
            bench in
            _ = try bench.open().objects(Node.self).filter(Realm.Predicate(parsing: "idd > 5"))
        },
        Fault(.invalidInput, "classes without those they lead to", says: "which is not in 'objectTypes'; add it") {
            bench in
            try bench.open { $0.objectTypes = [Dog.self] }
        },
    ]
}

extension FaultBench {
    /// Opens another file of the same folder.
    func elsewhere(_ name: String, _ adjust: (inout Realm.Configuration) -> Void = { _ in }) throws {
        try open {
            $0.fileURL = folder.appending(path: name)
            adjust(&$0)
        }
    }
}
