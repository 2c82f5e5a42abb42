import Foundation
import MartletEngine
import MartletSync
import MartletSyncProtocol
import MartletValues

// Measures how much time the outbox adds to local writes. Each of 40 rounds writes first to a file without
// synchronization, and then to a file with synchronization. Prints the median times.

private let facts = """
    object Flight
    primaryKey id
    property id Int
    property carrier String
    property number Int
    property delay Double?
    property origin String
    property destination String
    property departed Date?
    property seats Int
    """

private func options(_ path: String, _ durability: StoreOptions.Durability) -> StoreOptions {
    let declarations = [facts].compactMap(SchemaFactsParser.objectType).map { type in
        TypeDeclaration(type, defaultRow: { TableLayout.zeroRow(type) })
    }
    var options = StoreOptions(path: path, types: declarations)
    options.durability = durability
    return options
}

/// Writes rows to a file as a Realm does: with one prepared statement for each kind of write.
private final class Writer {
    private let coordinator: StoreCoordinator
    private let synced: SyncedStore?
    private let store: RowStore
    private let table: DatabaseSchema.Table
    private var handle: SnapshotHandle?
    private var next: Int64 = 1

    init(_ path: String, isSynced: Bool, _ durability: StoreOptions.Durability) throws {
        synced =
            isSynced
            ? try SyncedStore(
                options(path, durability), synced: ["Flight"],
                wall: { UInt64(Date().timeIntervalSince1970 * 1_000) }) : nil
        coordinator = try synced?.coordinator ?? StoreRegistry.coordinator(options(path, durability))
        guard let table = coordinator.schema["Flight"] else { throw CancellationError() }
        self.table = table
        store = RowStore(table, TextArena())
    }

    private func write(_ body: (WriteTransaction) throws -> Void) throws {
        let transaction = try coordinator.beginWrite(replacing: &handle)
        try body(transaction)
        handle = try transaction.commit().handle
    }

    func insert(_ count: Int) throws {
        try write { transaction in
            for _ in 0..<count {
                let key = next
                next += 1
                _ = try store.insert(in: transaction) { binder in
                    binder.bind(key, at: 1)
                    binder.bind("UA", at: 2)
                    binder.bind(key % 1_000, at: 3)
                    binder.bind(Double(key), at: 4)
                    binder.bind("EWR", at: 5)
                    binder.bind("LAX", at: 6)
                    binder.bindNull(at: 7)
                    binder.bind(180 as Int64, at: 8)
                    binder.bindNull(at: 9)
                    return key
                } values: {
                    []
                }
                transaction.recorder.insert(key, in: table.id)
            }
        }
    }

    func update(_ key: Int64) throws {
        try write { transaction in
            try transaction.handle.read { connection in
                try store.update(key, mask: PropertyMask(word: 1 << 7), in: transaction, connection) { binder in
                    binder.bind(key + next, at: 1)
                    binder.bindNull(at: 2)
                    return 3
                } values: {
                    []
                }
            }
            transaction.recorder.modify(key, 7, in: table.id)
        }
        next += 1
    }

    /// Handles the messages of a service that acknowledges all uploads. Afterwards the outbox is empty.
    func acknowledge() throws {
        guard let synced else { return }
        var session = ClientSession(try synced.load(), schemaHash: [], token: "")
        let identity = ClientIdentity(id: 1, secret: [])
        _ = session.receive(
            .welcome(.init(identity: identity, epoch: "e", milliseconds: 0, storedUpload: session.state.lastUpload)),
            wall: 0)
        let changes = ServiceMessage.Changes(
            cursor: SyncCursor("100:100:"), acknowledgedUpload: session.state.lastUpload, rows: [], leaving: [],
            isLast: true)
        _ = session.receive(.changes(changes), wall: 0)
        try synced.save(session.state)
    }
}

private func microseconds(_ body: () throws -> Void) rethrows -> Double {
    let start = DispatchTime.now().uptimeNanoseconds
    try body()
    return Double(DispatchTime.now().uptimeNanoseconds - start) / 1_000
}

private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

private func measure(_ name: String, _ durability: StoreOptions.Durability, _ folder: String) throws {
    let plain = try Writer("\(folder)/\(name)-plain.realm", isSynced: false, durability)
    let synced = try Writer("\(folder)/\(name)-synced.realm", isSynced: true, durability)
    for writer in [plain, synced] { try writer.insert(1_000) }
    var times: [String: (plain: [Double], synced: [Double])] = [:]
    func round(_ what: String, _ count: Double, _ body: (Writer) throws -> Void) throws {
        times[what, default: ([], [])].plain.append(try microseconds { try body(plain) } / count)
        times[what, default: ([], [])].synced.append(try microseconds { try body(synced) } / count)
        try synced.acknowledge()
    }
    for _ in 0..<40 {
        try round("1 property per transaction", 100) { writer in for key in 1...100 { try writer.update(Int64(key)) } }
        try round("1,000 new rows per transaction", 1) { try $0.insert(1_000) }
    }
    for (what, times) in times.sorted(by: { $0.key < $1.key }) {
        let (without, with) = (median(times.plain), median(times.synced))
        print(
            "\(name), \(what): \(Int(without)) µs without, \(Int(with)) µs with, \(String(format: "%.3f", with / without))"
        )
    }
}

let folder = FileManager.default.temporaryDirectory.appending(path: "sync-cost-\(UUID().uuidString)").path
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }
try measure("durability full", .full, folder)
try measure("durability off", .off, folder)
