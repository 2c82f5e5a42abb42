import Foundation
import MartletEngine
import MartletSQLite
import MartletSyncProtocol
import MartletValues
import Synchronization

@testable import MartletSync

/// A synchronized file with three synchronized types. Tests can close it and open it again.
final class SyncedFile {
    /// The types in the file. `Item` has the number 0, `Owner` 1, `Report` 4.
    static let facts = [
        """
        object Item
        primaryKey id
        property group Int
        property count Int
        property text String
        property owner link:Owner?
        property parent link:Owner? onDelete=cascade
        property place embedded:Place?
        property weight Double?
        property id Int
        property votes Int merge=add
        property note String? sync=none
        property extra AnyRealmValue
        property tags List<Int>
        property owners List<link:Owner>
        property marks Set<Int>
        property scores Map<Int?>
        property stops List<embedded:Stop>
        property named Map<embedded:Stop?>
        property stop embedded:Stop?
        """,
        """
        object Owner
        primaryKey name
        property group Int
        property name String
        property boss link:Owner?
        """,
        """
        embedded Place
        property x Int
        property label String
        property near link:Owner?
        property inner embedded:Point?
        """,
        """
        embedded Point
        property y Int
        """,
        """
        object Note
        property text String
        property item link:Item?
        """,
        """
        object Report
        primaryKey id
        sync upload
        property text String
        property id Int
        property place embedded:Point?
        """,
        """
        embedded Stop
        property x Int
        property near link:Owner?
        property point embedded:Point?
        property extra AnyRealmValue
        property marks List<Int>
        property nears List<link:Owner>
        property scores Map<Int?>
        property points List<embedded:Point>
        """,
    ]

    let path: String
    private(set) var store: SyncedStore?
    /// The wall clock of the machine, in milliseconds since 1970.
    let wall: WallClock
    /// The contents of the file at `version`. The next change set must lead from these contents to the new contents.
    private var copy = FileImage()
    private(set) var version: Version = 0

    final class WallClock: Sendable {
        private let time: Mutex<UInt64>
        init(_ time: UInt64) { self.time = Mutex(time) }
        var now: UInt64 { time.withLock { $0 } }
        func set(_ now: UInt64) { time.withLock { $0 = now } }
    }

    private static let numbers = Atomic<Int>(0)
    private let facts: [String]
    private let synced: Set<String>

    init(
        path: String? = nil, wall: UInt64 = 1_700_000_000_000, facts: [String] = SyncedFile.facts,
        synced: Set<String> = ["Item", "Owner", "Report"]
    ) throws {
        (self.facts, self.synced) = (facts, synced)
        let number = Self.numbers.add(1, ordering: .relaxed).newValue
        self.path = path ?? "\(MemoryFiles.prefix)sync-\(number)"
        self.wall = WallClock(wall)
        try open()
    }

    deinit {
        store = nil
        if MemoryFiles.contains(path) { MemoryFiles.remove(path) }
    }

    static func options(_ path: String, facts: [String] = SyncedFile.facts) -> StoreOptions {
        let declarations = facts.compactMap(SchemaFactsParser.objectType).map { type in
            TypeDeclaration(
                type,
                defaultRow: {
                    // The default of 'Item.text' differs from the initial value of its type.
                    TableLayout.zeroRow(type).map { $0 == .text("") && type.name == "Item" ? .text("new") : $0 }
                })
        }
        var options = StoreOptions(path: path, types: declarations)
        options.durability = .off
        options.environment.log = { _ in }
        options.environment.checkpointFrames = .max
        return options
    }

    func open() throws {
        let wall = wall
        let store = try SyncedStore(Self.options(path, facts: facts), synced: synced, wall: { wall.now })
        self.store = store
        let handle = try store.coordinator.openSnapshot()
        copy = try FileImage(handle, store.coordinator.schema)
        version = handle.version
    }

    func close() { store = nil }

    /// Closes the file as a crash does, and opens it again.
    func reopen() throws {
        close()
        try open()
    }

    var opened: SyncedStore {
        get throws {
            guard let store else { throw CancellationError() }
            return store
        }
    }

    // MARK: Writing

    /// Runs a write transaction of a program. If `body` throws, or returns false, the transaction is rolled back.
    func write(_ body: (LocalWriter) throws -> Bool) throws {
        let store = try opened
        try transaction { transaction in try body(LocalWriter(store.schema, transaction)) }
    }

    func write(_ operations: SyncOperation...) throws {
        try write { writer in
            for operation in operations { try writer.perform(operation) }
            return true
        }
    }

    /// Applies a batch in a transaction, and then rolls the transaction back.
    func applyWithoutCommit(_ batch: DownloadedBatch, _ state: ClientState) throws {
        let store = try opened
        try transaction { transaction in
            var mask = UploadMask()
            try store.apply(batch, state, &mask, transaction)
            return false
        }
    }

    private func transaction(_ body: (WriteTransaction) throws -> Bool) throws {
        var handle: SnapshotHandle?
        let transaction = try opened.coordinator.beginWrite(replacing: &handle)
        do {
            guard try body(transaction) else { return transaction.abandon() }
            _ = try transaction.commit()
        } catch {
            transaction.abandon()
            throw error
        }
        try checkChangeSet()
    }

    func commit(_ batch: DownloadedBatch, _ state: ClientState) throws {
        var mask = UploadMask()
        try commit(batch, state, &mask)
    }

    func commit(_ batch: DownloadedBatch, _ state: ClientState, _ mask: inout UploadMask) throws {
        try opened.commit(batch, state, &mask)
        try checkChangeSet()
    }

    /// Changes the numbering, as a program with other synchronized types does.
    func setNumbering(_ numbering: String) throws {
        try transaction { transaction in
            transaction.isDownload = true
            try transaction.handle.read { connection in
                var record = try SyncTables(connection).record()
                record.numbering = numbering
                try SyncTables(connection).write(record)
            }
            return true
        }
    }

    // MARK: Reading

    /// The first error that was found in a change set for observers; nil if all change sets are correct.
    private(set) var changeSetFailure: String?
    private(set) var lastChanges = ChangeSet()
    /// The columns that the last changes report as modified although their values are the same as before.
    private(set) var lastUnchanged: [String] = []

    /// Applies the changes since `version` to the copy, as an observer does, and compares the result with the file.
    func checkChangeSet() throws {
        let store = try opened
        let handle = try store.coordinator.openSnapshot()
        guard handle.version > version else { return }
        guard let found = try store.coordinator.changes(after: version, through: handle.version, handle) else {
            throw CancellationError()
        }
        lastChanges = found.changes
        let new = try FileImage(handle, store.coordinator.schema)
        lastUnchanged = copy.unchanged(found.changes, new)
        changeSetFailure = changeSetFailure ?? copy.difference(after: found.changes, new)
        (copy, version) = (new, handle.version)
    }

    func read<R>(_ body: (StoreConnection) throws -> R) throws -> R { try opened.coordinator.openSnapshot().read(body) }

    func integer(_ sql: String) throws -> Int64? { try read { try $0.integer(sql) } }
    func value(_ sql: String) throws -> SQLValue? { try read { try $0.value(sql) } }

    /// All uploads in the outbox.
    var uploads: [ClientMessage.Upload] { get throws { try opened.uploads } }

    /// The objects of the synchronized types.
    func objects() throws -> [ObjectAddress: [ValuePath: SyncValue]] {
        let store = try opened
        return try read { connection in
            var reader = ObjectReader(store.schema, store.coordinator.schema, connection)
            return try reader.objects()
        }
    }
}

extension SyncedStore {
    /// All uploads in the outbox.
    var uploads: [ClientMessage.Upload] {
        get throws {
            try read { tables in
                var uploads: [ClientMessage.Upload] = []
                while let next = try upload(after: uploads.last?.number ?? 0, tables) { uploads.append(next) }
                return uploads
            }
        }
    }
}
