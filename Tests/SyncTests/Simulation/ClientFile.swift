import MartletSync
import MartletSyncProtocol

/// The file of a client: its objects and its state.
protocol ClientFile: AnyObject {
    /// The committed state.
    func load() throws -> ClientState
    /// Adds what was written since the state was loaded.
    func refresh(_ state: inout ClientState) throws
    func objects() throws -> ModelRows
    /// A transaction of the program. With `isCancelled`, it is rolled back.
    func write(_ operations: [SyncOperation], wall: UInt64, isCancelled: Bool) throws
    func subscribe(_ queries: [SubscribedQuery]) throws
    func save(_ state: ClientState) throws
    func commit(_ batch: DownloadedBatch, _ state: ClientState) throws
    /// The program ends while it applies a batch, and starts again.
    func crash(applying batch: DownloadedBatch?, _ state: ClientState?) throws
    /// What is wrong with the notifications of observers; nil if nothing.
    var failure: String? { get }
}

/// A file that consists of values in memory.
final class ModelFile: ClientFile {
    private var state = ClientState()
    private var rows: ModelRows = [:]

    let failure: String? = nil

    func load() -> ClientState { state }
    func objects() -> ModelRows { rows }

    // The stored state is the newest one. It differs from `state` only if the program has written in the meantime.
    func refresh(_ state: inout ClientState) { state = self.state }

    // A program can change only objects that it sees, so other changes are left out.
    func write(_ possible: [SyncOperation], wall: UInt64, isCancelled: Bool) {
        if isCancelled { return }
        var operations: [SyncOperation] = []
        for operation in possible {
            if case .create = operation {} else if rows[operation.address] == nil { continue }
            apply(operation)
            operations.append(operation)
        }
        state.write(operations, wall: wall)
    }

    private func apply(_ operation: SyncOperation) {
        switch operation {
        case .create(let address, let values): rows[address, default: [:]].merge(values) { $1 }
        case .update(let address, let values): if rows[address] != nil { rows[address]?.merge(values) { $1 } }
        case .delete(let address): rows[address] = nil
        case .add(let address, let path, let amount): rows[address]?.add(amount, at: path)
        default: break
        }
    }

    func subscribe(_ queries: [SubscribedQuery]) { state.subscribe(queries) }
    func save(_ state: ClientState) { self.state = state }

    func commit(_ batch: DownloadedBatch, _ state: ClientState) {
        self.state = state
        for address in batch.leaving { rows[address] = nil }
        for row in batch.rows { rows[row.address, default: [:]].merge(row.values) { $1 } }
    }

    func crash(applying batch: DownloadedBatch?, _ state: ClientState?) {}
}

/// A synchronized file of the engine.
final class StoreFile: ClientFile {
    private let file: SyncedFile
    private(set) var failure: String?

    init() throws { file = try SyncedFile() }

    func load() throws -> ClientState { try file.opened.load() }
    func refresh(_ state: inout ClientState) throws { try file.opened.refresh(&state) }
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
        try file.commit(batch, state)
        failure = file.changeSetFailure
        if let unchanged = file.lastUnchanged.first { failure = failure ?? "\(unchanged) did not change" }
    }

    func crash(applying batch: DownloadedBatch?, _ state: ClientState?) throws {
        if let batch, let state { try file.applyWithoutCommit(batch, state) }
        try file.reopen()
    }
}
