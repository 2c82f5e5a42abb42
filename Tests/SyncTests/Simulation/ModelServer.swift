import MartletSyncProtocol
import MartletSyncService
import MartletValues

/// A mistake of the service that the simulation must find.
enum SyncBug: CaseIterable {
    /// Changes in an upload that had no effect on the database are not logged for the client.
    case lostTouch
    /// An upload that is sent again is stored again.
    case storedTwice
    /// The acknowledgement is sent before the changes that belong to it.
    case earlyAcknowledgement
    /// After a reconnection, the changes since the cursor are not sent.
    case changesOfGapLost
    /// A row that no longer matches any subscription is not removed.
    case leavingForgotten
    /// Neither the collections of objects that are new to a client nor changed collections are sent.
    case contentsForgotten
    /// The data of a new set of subscriptions is read at a newer version than the changes that are sent before it.
    case newerBootstrap
    /// If an upload is sent in several messages, all messages except the last are ignored.
    case partsForgotten
    /// After a reconnection, the reasons of reverted changes are not sent.
    case noticesForgotten
}

/// A model of PostgreSQL and the service. It contains the rows at all versions, and the log. A cursor is the number of
/// a version.
final class ModelServer {
    private(set) var history: [ModelRows] = [[:]]
    private var log: [(version: Int, entry: LogEntry)] = []
    private var stamps: [ObjectAddress: [ValuePath: Stamp]] = [:]
    private var storedUploads: [UInt64: UInt64] = [:]
    /// The uploads of each client in which objects were reverted.
    private var reverted: [UInt64: [RevertedUpload]] = [:]
    private(set) var failure: String?
    let bug: SyncBug?
    let kind: Simulation.Kind
    /// The damage that audits have to find; nil in a correct run.
    var damage: ModelDamage?
    /// The results of audits.
    private(set) var audits: [AuditResult] = []
    /// The collections of the objects of type 0.
    let collections: [Int: ModelCollection]
    private var elementStamps: [ObjectAddress: [ModelCollection.Element: Stamp]] = [:]

    /// The write that last changed a value.
    private struct Stamp {
        let time: HybridTimestamp
        let client: UInt64
        let version: Int
    }

    init(bug: SyncBug?, _ kind: Simulation.Kind) {
        (self.bug, self.kind) = (bug, kind)
        collections = kind == .values ? ModelCollection.plain : ModelCollection.item
    }

    /// Stores the result of an audit. Returns true if the client has to load its data again.
    func record(_ result: AuditResult) -> Bool {
        audits.append(result)
        guard let differences = result.differences, !differences.isEmpty else { return false }
        if damage == nil { failure = failure ?? "an audit has found differences: \(differences)" }
        return true
    }

    var version: Int { history.count - 1 }
    var rows: ModelRows { history[version] }

    /// Returns the state of a client. If `identity` is nil, creates the client.
    func open(_ identity: ClientIdentity?, now: UInt64) -> OpenedClient {
        let id = identity?.id ?? newClient()
        return OpenedClient(
            identity: ClientIdentity(id: id, secret: [1]), epoch: "1", milliseconds: now,
            storedUpload: storedUpload(id),
            reverted: bug == .noticesForgotten ? [] : reverted[id] ?? [])
    }

    private func newClient() -> UInt64 {
        let id = UInt64(storedUploads.count + 1)
        storedUploads[id] = 0
        return id
    }

    /// The numbers of the uploads of a client in which objects were reverted.
    func revertedUploads(_ client: UInt64) -> Set<UInt64> { Set((reverted[client] ?? []).map(\.number)) }

    func storedUpload(_ client: UInt64) -> UInt64 { storedUploads[client] ?? 0 }

    func entries(after version: Int) -> [LogEntry] { log.filter { $0.version > version }.map(\.entry) }

    /// Writes an object in a transaction of another application. If `values` is nil, deletes the object. A link to an
    /// object that does not exist is written as nil.
    func write(_ address: ObjectAddress, _ values: ModelValues?) {
        var rows = rows
        let old = rows[address]
        if let values {
            rows[address, default: [:]].merge(values.mapValues { $0.shown { rows[$0] != nil || $0 == address } }) { $1 }
            for path in values.keys { stamp(path, of: address, .limit, 0) }
        } else {
            rows[address] = nil
            forgetStamps(of: address)
        }
        append(LogEntry(address: address, old: old, new: rows[address], origin: nil))
        if values == nil { removeLinks(to: address, .limit, 0, nil, &rows) }
        history.append(rows)
    }

    /// Changes an element in a transaction of another application.
    func change(_ operation: SyncOperation) {
        var rows = rows
        guard let old = rows[operation.address], let element = operation.element else { return }
        rows[operation.address]?.change(operation)
        if rows[operation.address] == old { return }
        stamp(element, of: operation.address, .limit, 0)
        append(LogEntry(address: operation.address, old: old, new: rows[operation.address], origin: nil))
        history.append(rows)
    }

    // A log entry does not contain the elements of collections. It only names the collections that have changed.
    private func append(_ entry: LogEntry) {
        if damage?.losesEntry() ?? false { return }
        var entry = entry
        if entry.address.type == 0 {
            if let old = entry.old, let new = entry.new {
                entry.collections = Set(collections.keys.filter { old[ValuePath($0)] != new[ValuePath($0)] })
            }
            entry.old = entry.old?.withoutCollections(collections)
            entry.new = entry.new?.withoutCollections(collections)
        }
        log.append((version + 1, entry))
    }

    /// Collections of an object at the newest version.
    ///
    /// - Parameter properties: the properties of the collections; nil for all collections.
    func contents(of address: ObjectAddress, _ properties: Set<Int>?) -> ModelValues {
        if bug == .contentsForgotten { return [:] }
        var contents: ModelValues = [:]
        for (property, kind) in collections where address.type == 0 && properties?.contains(property) ?? true {
            contents[ValuePath(property)] = rows[address]?[ValuePath(property)] ?? kind.empty
        }
        return contents
    }

    private func forgetStamps(of address: ObjectAddress) {
        stamps[address] = nil
        elementStamps[address] = nil
    }

    private func stamp(
        _ element: ModelCollection.Element, of address: ObjectAddress, _ time: HybridTimestamp, _ client: UInt64
    ) {
        elementStamps[address, default: [:]][element] = Stamp(time: time, client: client, version: version + 1)
    }

    private func stamp(_ path: ValuePath, of address: ObjectAddress, _ time: HybridTimestamp, _ client: UInt64) {
        stamps[address, default: [:]] = stamps[address, default: [:]].filter { known, _ in
            known.properties.count <= path.properties.count || !known.overlaps(path)
        }
        stamps[address]?[path] = Stamp(time: time, client: client, version: version + 1)
    }

    // Applies the foreign keys after a deletion: sets links to the deleted object to nil, or deletes the objects with
    // such links.
    private func removeLinks(
        to target: ObjectAddress, _ time: HybridTimestamp, _ client: UInt64, _ origin: LogEntry.Origin?,
        _ rows: inout ModelRows
    ) {
        for address in rows.keys.sorted(by: { "\($0)" < "\($1)" }) {
            for key in ModelForeignKeys.all[address.type] ?? [] where rows[address]?[key.path] == .link(target) {
                let old = rows[address]
                if key.cascades {
                    rows[address] = nil
                    forgetStamps(of: address)
                } else {
                    rows[address]?[key.path] = .null
                    stamp(key.path, of: address, time, client)
                }
                append(LogEntry(address: address, old: old, new: rows[address], origin: origin))
                if key.cascades { removeLinks(to: address, time, client, origin, &rows) }
            }
            removeElements(of: address, linkingTo: target, time, client, origin, &rows)
        }
    }

    private func removeElements(
        of address: ObjectAddress, linkingTo target: ObjectAddress, _ time: HybridTimestamp, _ client: UInt64,
        _ origin: LogEntry.Origin?, _ rows: inout ModelRows
    ) {
        let path = ValuePath(Sample.owners)
        guard address.type == 0, let old = rows[address] else { return }
        for element in old.elements(at: path) where element.value == .link(target) {
            let removal = SyncOperation.removeElement(address, path, element.position)
            rows[address]?.change(removal)
            if let element = removal.element { stamp(element, of: address, time, client) }
        }
        guard rows[address] != old else { return }
        append(LogEntry(address: address, old: old, new: rows[address], origin: origin))
    }

    /// Stores an upload once. Returns the objects whose changes were reverted.
    func store(_ upload: ClientMessage.Upload, _ client: UInt64, refuses: (SyncOperation) -> Bool) -> [RevertedObject] {
        let stored = storedUpload(client)
        if upload.number <= stored, bug != .storedTwice { return [] }
        if upload.number > stored + 1 { failure = failure ?? "upload \(upload.number) follows upload \(stored)" }
        if upload.number <= stored { failure = failure ?? "upload \(upload.number) is stored twice" }
        storedUploads[client] = max(stored, upload.number)
        let origin = LogEntry.Origin(client: client, upload: upload.number)
        let before = (rows: rows, stamps: stamps, elements: elementStamps)
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
            append(LogEntry(address: address, old: old, new: rows[address], origin: origin))
            if old != nil, rows[address] == nil { removeLinks(to: address, upload.time, client, origin, &rows) }
        }
        reverted += checkForeignKeys(upload, before, origin, &rows)
        history.append(rows)
        if !reverted.isEmpty {
            self.reverted[client, default: []].append(RevertedUpload(number: upload.number, objects: reverted))
        }
        return reverted
    }

    private typealias Before = (
        rows: ModelRows, stamps: [ObjectAddress: [ValuePath: Stamp]],
        elements: [ObjectAddress: [ModelCollection.Element: Stamp]]
    )

    // Checks the foreign keys after the last operation. Reverts the objects of the upload that have a link to an object
    // that does not exist.
    private func checkForeignKeys(
        _ upload: ClientMessage.Upload, _ before: Before,
        _ origin: LogEntry.Origin, _ rows: inout ModelRows
    ) -> [RevertedObject] {
        var reverted: [RevertedObject] = []
        let touched = Set(upload.operations.map(\.address)).sorted { "\($0)" < "\($1)" }
        while let address = touched.first(where: { hasDanglingLink($0, rows) }) {
            let old = rows[address]
            var restored = before.rows[address]
            stamps[address] = restored == nil ? nil : before.stamps[address]
            elementStamps[address] = restored == nil ? nil : before.elements[address]
            let kept = restored?.elements(at: ValuePath(Sample.owners)).filter { element in
                if case .link(let target) = element.value { rows[target] != nil } else { true }
            }
            if let kept, address.type == 0 {
                restored?[ValuePath(Sample.owners)] = kept.isEmpty ? nil : .elements(kept)
            }
            for key in ModelForeignKeys.all[address.type] ?? [] {
                let value = restored?[key.path]?.shown { rows[$0] != nil }
                restored?[key.path] = value
            }
            rows[address] = restored
            reverted.append(RevertedObject(address: address, reason: .constraint, message: "a link"))
            append(LogEntry(address: address, old: old, new: restored, origin: origin))
            if restored == nil { removeLinks(to: address, upload.time, origin.client, origin, &rows) }
        }
        return reverted
    }

    private func hasDanglingLink(_ address: ObjectAddress, _ rows: ModelRows) -> Bool {
        (ModelForeignKeys.all[address.type] ?? []).contains { key in
            guard case .link(let target)? = rows[address]?[key.path] else { return false }
            return rows[target] == nil
        }
            || (rows[address]?.elements(at: ValuePath(Sample.owners)) ?? []).contains { element in
                if case .link(let target) = element.value { rows[target] == nil } else { false }
            }
    }

    private func apply(
        _ operation: SyncOperation, _ upload: ClientMessage.Upload, _ client: UInt64, _ rows: inout ModelRows
    ) {
        let address = operation.address
        let values: ModelValues
        switch operation {
        case .create(_, let created): values = created
        case .add(_, let path, let amount):
            // Additions have no conflicts, but a deletion wins.
            guard rows[address] != nil else { return }
            rows[address]?.add(amount, at: path)
            stamp(path, of: address, upload.time, client)
            return
        // A deletion wins over an update.
        case .update(_, let changed) where rows[address] != nil: values = changed
        case .delete:
            rows[address] = nil
            forgetStamps(of: address)
            return
        default: return change(operation, upload, client, &rows)
        }
        let base = Int(upload.base.text) ?? -1
        for (path, value) in values {
            let known = (stamps[address] ?? [:]).filter { $0.key.overlaps(path) }.values
            // If the client had seen the stored value when it wrote the upload, the upload wins. Otherwise the value
            // with the newest time wins. All operations of one upload have the same time, so a later operation wins
            // against an earlier one.
            let wins = known.allSatisfy { ($0.time, $0.client) <= (upload.time, client) || $0.version <= base }
            guard wins else { continue }
            rows[address, default: [:]].write(value, at: path)
            stamp(path, of: address, upload.time, client)
        }
        if rows[address] == nil { rows[address] = [:] }
    }

    // The newest change of an element of a set or map wins. The newest replacement of an element of a list also wins,
    // but a removed element of a list remains removed. If the client had seen a stored change when it wrote the upload,
    // the upload wins.
    private func change(
        _ operation: SyncOperation, _ upload: ClientMessage.Upload, _ client: UInt64, _ rows: inout ModelRows
    ) {
        let address = operation.address
        guard let values = rows[address], let element = operation.element else { return }
        let base = Int(upload.base.text) ?? -1
        let known = elementStamps[address]?[element]
        let wins = known.map { ($0.time, $0.client) <= (upload.time, client) || $0.version <= base } ?? true
        switch operation {
        case .insertElement, .removeElement: break
        case .setElement: guard wins, values.value(of: element) != nil else { return }
        default: guard wins else { return }
        }
        rows[address]?.change(operation)
        stamp(element, of: address, upload.time, client)
    }
}
