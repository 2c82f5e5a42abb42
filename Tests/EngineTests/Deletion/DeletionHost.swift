import MartletValues

@testable import MartletEngine

/// Deletes rows of a file as a Realm does, without objects in memory. It records the calls of `RowDeletion`, and calls
/// `observer` where a Realm notifies observers.
final class DeletionHost: RowDeletionHost {
    enum Call: Equatable {
        case willDelete, didDelete, rowWasDeleted
    }

    let transaction: WriteTransaction
    let schema: DatabaseSchema
    private let stores: [TableID: RowStore]
    var denials = DeletionDenials()
    let hasAnyValues: Bool
    var observer: ((DeletionHost) throws -> Void)?
    /// The calls for each row, in their order. Omits repeated calls, because a Realm notifies observers only once.
    private(set) var calls: [RowID: [Call]] = [:]
    private var failure: (any Error)?

    init(_ transaction: WriteTransaction) {
        self.transaction = transaction
        schema = transaction.coordinator.schema
        let texts = TextArena()
        stores = transaction.coordinator.schema.tables.mapValues { RowStore($0, texts) }
        hasAnyValues = stores.values.contains(where: \.hasAnyRealmValues)
    }

    var callsObservers: Bool { observer != nil }

    func rows(of table: TableID) -> RowStore {
        guard let store = stores[table] else { preconditionFailure("no table \(table)") }
        return store
    }

    func delete(_ rows: [RowID]) throws {
        var deletion = RowDeletion(self, transaction)
        try deletion.run(rows)
        if let failure { throw failure }
    }

    func willDelete(_ row: RowID) {
        if record(.willDelete, row) { callObserver() }
    }

    func didDelete(_ row: RowID) {
        if record(.didDelete, row) { callObserver() }
    }

    private func record(_ call: Call, _ row: RowID) -> Bool {
        if calls[row]?.contains(call) == true { return false }
        calls[row, default: []].append(call)
        return true
    }

    func rowWasDeleted(_ row: RowID) { _ = record(.rowWasDeleted, row) }

    func willDeleteCollection(_ collection: CollectionID) {}

    func flush() throws {}

    func change(_ property: PropertyIndex, of row: RowID, isSilent: Bool, _ body: () throws -> Void) throws {
        if !isSilent { callObserver() }
        try body()
        transaction.recorder.modify(row.key, property, in: row.table)
        if !isSilent { callObserver() }
    }

    func remove(_ targets: Set<SQLValue>, from collection: CollectionID) throws {
        try edit(collection) { $0.filter { !targets.contains($0) } }
    }

    func remove(_ link: AnyLink, from collection: CollectionID) throws {
        try edit(collection) { try $0.map { try link.removed(from: $0) } }
    }

    private func callObserver() {
        do { try observer?(self) } catch { failure = error }
    }

    /// Replaces the stored elements of a list or set.
    func edit(_ collection: CollectionID, _ change: ([SQLValue]) throws -> [SQLValue]) throws {
        let layout = rows(of: collection.table).layout.collection(of: collection.property)
        try transaction.handle.read { connection in
            let load: ChunkedElements.Loader = { ordinal, count in
                try ChunkedElements.load(
                    owner: collection.owner, ordinal: ordinal, count: count, table: layout.chunkTable, connection)
            }
            var elements = try ChunkedElements(owner: collection.owner, table: layout.chunkTable, connection)
            let old = try elements.all(load)
            let new = try change(old)
            elements.removeAll()
            try elements.insert(contentsOf: new, at: 0, load)
            try elements.write(owner: collection.owner, table: layout.chunkTable, connection)
            var counts = TargetCounts()
            for case .integer(let target) in old { counts.unlink(target) }
            for case .integer(let target) in new { counts.link(target) }
            _ = try layout.write(counts, of: collection.owner, connection)
        }
    }
}
