import MartletSync
import MartletSyncProtocol
import MartletValues

/// The file of a client. It contains the objects and the state of the client.
protocol ClientFile: AnyObject {
    /// The committed state.
    func load() throws -> ClientState
    /// Adds to `state` the writes of the program since the state was loaded.
    func refresh(_ state: inout ClientState) throws
    /// All uploads that the service has not acknowledged.
    var uploads: [ClientMessage.Upload] { get throws }
    func objects() throws -> ModelRows
    /// Runs a transaction of the program. If `isCancelled` is true, the transaction is rolled back.
    func write(_ operations: [SyncOperation], wall: UInt64, isCancelled: Bool) throws
    func subscribe(_ queries: [SubscribedQuery]) throws
    func save(_ state: ClientState) throws
    func commit(_ batch: DownloadedBatch, _ state: ClientState) throws
    /// The checksums of the objects; nil if the file cannot be audited in this state.
    func sums(at state: ClientState) throws -> RowSums?
    /// Discards the position, so that all data is loaded again.
    func startAgain() throws
    /// Simulates a crash and a new start of the program. If `batch` is not nil, the crash occurs while the program
    /// applies the batch.
    func crash(applying batch: DownloadedBatch?, _ state: ClientState?) throws
    /// The first error that was found in a change set for observers; nil if all change sets are correct.
    var failure: String? { get }
}

/// A file in memory, without the engine.
final class ModelFile: ClientFile {
    private var state = ClientState()
    private var rows: ModelRows = [:]
    private(set) var uploads: [ClientMessage.Upload] = []
    private var mask = UploadMask()
    private var inserted: UInt64 = 0
    /// The number of the file. Until the service has assigned a number to the client, list positions contain the number
    /// of the file instead.
    private let number: UInt64

    init(_ number: UInt64) { self.number = number }

    let failure: String? = nil

    func load() -> ClientState { state }
    func objects() -> ModelRows { rows.mapValues(\.normalized) }

    // The stored state is newer than `state` only if the program has written since `state` was loaded.
    func refresh(_ state: inout ClientState) { state = self.state }

    // A program can change only objects that are in the file, so changes of other objects are ignored.
    func write(_ possible: [SyncOperation], wall: UInt64, isCancelled: Bool) {
        if isCancelled { return }
        var operations: [SyncOperation] = []
        for operation in possible {
            if case .create = operation {} else if rows[operation.address] == nil { continue }
            guard let operation = positioned(operation) else { continue }
            apply(operation)
            operations.append(operation)
        }
        let upload = state.write(operations, wall: wall)
        uploads.append(upload)
        mask.add(upload)
    }

    private func apply(_ operation: SyncOperation) {
        switch operation {
        case .create(let address, let values): rows[address, default: [:]].merge(values) { $1 }
        case .update(let address, let values): if rows[address] != nil { rows[address]?.merge(values) { $1 } }
        case .delete(let address): rows[address] = nil
        case .add(let address, let path, let amount): rows[address]?.add(amount, at: path)
        default: rows[operation.address]?.change(operation)
        }
    }

    // In a generated operation, the position of an element is one random byte. Modulo the number of elements, the byte
    // selects an existing element. For an insertion, it selects the place of the new element. This function replaces
    // the byte by the position of that element or place. Returns nil if there is no element to select.
    private func positioned(_ operation: SyncOperation) -> SyncOperation? {
        guard let element = operation.element, case .blob(let bytes) = element.key else { return operation }
        let known = (rows[operation.address]?.elements(at: element.path) ?? []).map(\.position)
        if case .insertElement = operation {
            let index = Int(bytes[0]) % (known.count + 1)
            return operation.at(
                ListPosition.between(
                    index > 0 ? known[index - 1] : nil, index < known.count ? known[index] : nil,
                    client: state.identity?.id ?? 1_000 + number, upload: (state.lastUpload + 1) << 8 | count())[0])
        }
        return known.isEmpty ? nil : operation.at(known[Int(bytes[0]) % known.count])
    }

    // Returns the number of the next inserted element, modulo 256. The number makes the positions in an upload unique.
    private func count() -> UInt64 {
        inserted = (inserted + 1) % 256
        return inserted
    }

    func subscribe(_ queries: [SubscribedQuery]) { state.subscribe(queries) }
    func save(_ state: ClientState) { self.state = state }

    func commit(_ batch: DownloadedBatch, _ state: ClientState) {
        self.state = state
        uploads.removeAll { $0.number <= state.acknowledgedUpload }
        mask.removeUploads(through: state.acknowledgedUpload)
        let batch = mask.masked(batch)
        for address in batch.leaving { rows[address] = nil }
        for row in batch.rows { rows[row.address, default: [:]].merge(row.values) { $1 } }
    }

    func sums(at state: ClientState) -> RowSums? {
        guard state.shown.number > 0, uploads.isEmpty else { return nil }
        return ModelAudit.sums(rows, .values)
    }

    func startAgain() throws { throw CancellationError() }

    func crash(applying batch: DownloadedBatch?, _ state: ClientState?) {}
}

/// A synchronized file of the engine.
final class StoreFile: ClientFile {
    let file: SyncedFile
    private var mask = UploadMask()
    private(set) var failure: String?

    /// The maximum number of uploads that the client loads. It is small, so the outbox often contains further uploads.
    private static let loadedUploads = 2

    init() throws { file = try SyncedFile() }

    func load() throws -> ClientState { try file.opened.load(loadedUploads: Self.loadedUploads) }
    func refresh(_ state: inout ClientState) throws {
        try file.opened.refresh(&state, loadedUploads: Self.loadedUploads)
    }
    var uploads: [ClientMessage.Upload] { get throws { try file.uploads } }
    func objects() throws -> ModelRows { try file.objects() }

    func write(_ operations: [SyncOperation], wall: UInt64, isCancelled: Bool) throws {
        file.wall.set(wall)
        try file.write { writer in
            for operation in operations { try writer.perform(operation) }
            return !isCancelled
        }
        failure = file.changeSetFailure
    }

    func subscribe(_ queries: [SubscribedQuery]) throws { try file.opened.subscribe(queries) }
    func save(_ state: ClientState) throws { try file.opened.save(state) }

    func commit(_ batch: DownloadedBatch, _ state: ClientState) throws {
        try file.commit(batch, state, &mask)
        failure = file.changeSetFailure
        if let unchanged = file.lastUnchanged.first { failure = failure ?? "\(unchanged) has not changed" }
    }

    func sums(at state: ClientState) throws -> RowSums? { try file.opened.sums(at: state) }

    func startAgain() throws {
        try file.opened.startAgain(forgetsClient: false)
        mask = UploadMask()
    }

    func crash(applying batch: DownloadedBatch?, _ state: ClientState?) throws {
        if let batch, let state { try file.applyWithoutCommit(batch, state) }
        try file.reopen()
        mask = UploadMask()
    }
}
