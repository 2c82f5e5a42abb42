import MartletSyncProtocol
import MartletSyncService
import MartletValues

typealias ModelValues = [ValuePath: SyncValue]
typealias ModelRows = [ObjectAddress: ModelValues]

/// A mistake of the service that the simulation must find.
enum SyncBug: CaseIterable {
    /// Changes of a client's own upload that had no effect are not logged.
    case lostTouch
    /// An upload that is sent again is stored again.
    case storedTwice
    /// The acknowledgement is sent before the changes that belong to it.
    case earlyAcknowledgement
    /// After a reconnection, the changes since the cursor are not sent.
    case changesOfGapLost
    /// A row that matches no subscription any more is not removed.
    case leavingForgotten
    /// The data of a new set of subscriptions is read at a newer version than the changes before it.
    case newerBootstrap
}

/// PostgreSQL and the service in one: a table, its history and its change log. A cursor is the number of a version.
final class ModelServer {
    private(set) var history: [ModelRows] = [[:]]
    private var log: [(version: Int, entry: LogEntry)] = []
    private var stamps: [ObjectAddress: [ValuePath: (time: HybridTimestamp, client: UInt64, version: Int)]] = [:]
    private var storedUploads: [UInt64: UInt64] = [:]
    private(set) var failure: String?
    let bug: SyncBug?

    init(bug: SyncBug?) { self.bug = bug }

    var version: Int { history.count - 1 }
    var rows: ModelRows { history[version] }

    /// Finds the state of a client, or creates a client.
    func open(_ identity: ClientIdentity?, now: UInt64) -> OpenedClient {
        let id = identity?.id ?? newClient()
        return OpenedClient(
            identity: ClientIdentity(id: id, secret: [1]), epoch: "1", milliseconds: now, storedUpload: storedUpload(id)
        )
    }

    private func newClient() -> UInt64 {
        let id = UInt64(storedUploads.count + 1)
        storedUploads[id] = 0
        return id
    }

    func storedUpload(_ client: UInt64) -> UInt64 { storedUploads[client] ?? 0 }

    func entries(after version: Int) -> [LogEntry] { log.filter { $0.version > version }.map(\.entry) }

    /// A transaction of another application.
    func write(_ address: ObjectAddress, _ values: ModelValues?) {
        var rows = rows
        let old = rows[address]
        rows[address] = values.map { (old ?? [:]).merging($0) { $1 } }
        if let values {
            for path in values.keys { stamps[address, default: [:]][path] = (.limit, 0, version + 1) }
        } else {
            stamps[address] = nil
        }
        append(LogEntry(address: address, old: old, new: rows[address], origin: nil))
        history.append(rows)
    }

    private func append(_ entry: LogEntry) { log.append((version + 1, entry)) }

    /// Stores an upload once. Returns the objects whose changes were refused.
    func store(_ upload: ClientMessage.Upload, _ client: UInt64, refuses: (SyncOperation) -> Bool) -> [RevertedObject] {
        let stored = storedUpload(client)
        if upload.number <= stored, bug != .storedTwice { return [] }
        if upload.number > stored + 1 { failure = failure ?? "upload \(upload.number) follows upload \(stored)" }
        if upload.number <= stored { failure = failure ?? "upload \(upload.number) is stored twice" }
        storedUploads[client] = max(stored, upload.number)
        var rows = rows
        var reverted: [RevertedObject] = []
        for operation in upload.operations {
            let address = operation.address
            let old = rows[address]
            if refuses(operation) {
                reverted.append(RevertedObject(address: address, reason: .notPermitted, message: "refused"))
            } else {
                apply(operation, upload, client, &rows)
            }
            if bug == .lostTouch, rows[address] == old { continue }
            append(
                LogEntry(
                    address: address, old: old, new: rows[address],
                    origin: .init(client: client, upload: upload.number)))
        }
        history.append(rows)
        return reverted
    }

    private func apply(
        _ operation: SyncOperation, _ upload: ClientMessage.Upload, _ client: UInt64, _ rows: inout ModelRows
    ) {
        let address = operation.address
        let values: ModelValues
        switch operation {
        case .create(_, let created): values = created
        // A deletion wins over an update.
        case .update(_, let changed) where rows[address] != nil: values = changed
        case .delete:
            rows[address] = nil
            stamps[address] = nil
            return
        default: return
        }
        let base = Int(upload.base.text) ?? -1
        for (path, value) in values {
            let known = stamps[address]?[path]
            // A write wins over every value that its client had received before. Otherwise the newest time stamp wins.
            let isNewer = known.map { ($0.time, $0.client) < (upload.time, client) } ?? true
            guard isNewer || known?.version ?? 0 <= base else { continue }
            rows[address, default: [:]][path] = value
            stamps[address, default: [:]][path] = (upload.time, client, version + 1)
        }
        if rows[address] == nil { rows[address] = [:] }
    }
}
