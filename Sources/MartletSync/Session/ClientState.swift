package import MartletSyncProtocol
import MartletValues

#if MARTLET_SEEDED_BUGS
    import MartletEngine
#endif

/// The state of synchronization that the file of a client contains, besides the objects.
package struct ClientState: Sendable, Equatable {
    /// Nil until the service has assigned an identity.
    package internal(set) var identity: ClientIdentity?
    /// The state of the database that the objects show; nil before the client has received objects.
    package internal(set) var position: SyncPosition?
    /// The set of subscriptions whose objects the file contains.
    package internal(set) var shown = SubscriptionSet()
    /// The newest set of subscriptions. It differs from `shown` until the service has sent the objects of the newest
    /// set.
    package internal(set) var wanted = SubscriptionSet()
    /// The uploads that the service has not acknowledged, in the order of their numbers.
    package internal(set) var outbox: [ClientMessage.Upload] = []
    /// The number of the newest upload of this client; zero before the first upload.
    package internal(set) var lastUpload: UInt64 = 0
    /// The number of the newest upload that the service has acknowledged; zero before the first acknowledgement.
    package internal(set) var acknowledgedUpload: UInt64 = 0
    package internal(set) var clock = HybridClock()

    package struct SubscriptionSet: Sendable, Equatable {
        package var number: UInt64 = 0
        package var queries: [SubscribedQuery] = []
    }

    package init() {}

    /// Records the changes of a local transaction, which is committed together with this state.
    ///
    /// - Parameter wall: the wall clock of this machine, in milliseconds since 1970.
    package mutating func write(_ operations: [SyncOperation], wall: UInt64) {
        lastUpload += 1
        outbox.append(
            ClientMessage.Upload(
                number: lastUpload, base: position?.cursor ?? SyncCursor(""), time: clock.next(wall: wall),
                operations: operations))
    }

    /// Replaces the set of subscriptions.
    package mutating func subscribe(_ queries: [SubscribedQuery]) {
        wanted = SubscriptionSet(number: wanted.number + 1, queries: queries)
    }
}

/// Changes of the objects of a client. They are committed together with the new `ClientState`.
package struct DownloadedBatch: Sendable, Equatable {
    package var rows: SyncRows
    /// The objects to delete from the file without recording an upload. Links to these objects become nil.
    package var leaving: [ObjectAddress]

    package init(rows: [SyncRow], leaving: [ObjectAddress]) { (self.rows, self.leaving) = (SyncRows(rows), leaving) }

    /// The addresses of the objects in `rows`.
    package var addresses: Set<ObjectAddress> { Set(rows.addresses) }
}

/// The values that downloads must not overwrite, because uploads that are not acknowledged yet have written these
/// values.
///
/// When the service acknowledges an upload, it sends the state of every object that the upload has touched. Until then,
/// the client shows its own values.
package struct UploadMask: Sendable {
    private enum Mask {
        /// The whole object: it was created or deleted.
        case object
        case values(MaskedValues)
    }

    fileprivate struct MaskedValues {
        var paths: Set<ValuePath> = []
        /// The amounts that the uploads add to counters.
        var amounts: [ValuePath: Int128] = [:]
    }

    private var masks: [ObjectAddress: Mask] = [:]

    package init(_ uploads: some Sequence<ClientMessage.Upload>) {
        for upload in uploads { for operation in upload.operations { add(operation) } }
    }

    private mutating func add(_ operation: SyncOperation) {
        switch operation {
        case .create(let address, _), .delete(let address): masks[address] = .object
        case .update(let address, let values): add(address, values.keys)
        case .add(let address, let path, let amount):
            change(address) { $0.amounts[path, default: 0] += Int128(amount) }
        case .insertElement(let address, let path, _, _),
            .setElement(let address, let path, _, _), .removeElement(let address, let path, _),
            .insertMember(let address, let path, _),
            .removeMember(let address, let path, _), .setEntry(let address, let path, _, _),
            .removeEntry(let address, let path, _):
            add(address, CollectionOfOne(path))
        }
    }

    private mutating func add(_ address: ObjectAddress, _ paths: some Collection<ValuePath>) {
        change(address) { $0.paths.formUnion(paths) }
    }

    private mutating func change(_ address: ObjectAddress, _ body: (inout MaskedValues) -> Void) {
        var values = MaskedValues()
        switch masks[address] {
        case .object: return
        case .values(let known): values = known
        case nil: break
        }
        body(&values)
        masks[address] = .values(values)
    }

    /// Whether an upload has touched the object.
    package func contains(_ address: ObjectAddress) -> Bool { masks[address] != nil }

    /// Returns the values of a downloaded row that may be written to the file, or nil if an upload has created or
    /// deleted the object.
    ///
    /// If an upload has written a value inside an embedded object, a downloaded value of the whole embedded object is
    /// masked. If an upload has changed a collection, the whole collection is masked. A counter is not masked. Its new
    /// value is the downloaded value plus the amounts in the uploads, because the downloaded value does not contain
    /// these amounts yet.
    package func unmasked(_ row: SyncRow) -> SyncRow? {
        switch masks[row.address] {
        case nil: return row
        case .object: return nil
        case .values(let masked):
            var values = row.values.filter { value in !masked.covers(value.key) }
            #if MARTLET_SEEDED_BUGS
                if SeededSyncBug.isOn(.counterForgotten) { return SyncRow(address: row.address, values: values) }
            #endif
            for (path, amount) in masked.amounts { values[path] = values[path]?.adding(amount) }
            return SyncRow(address: row.address, values: values)
        }
    }

    /// Returns the part of a downloaded batch that may be written to the file.
    package func masked(_ batch: DownloadedBatch) -> DownloadedBatch {
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.unmaskedSession) { return batch }
        #endif
        if masks.isEmpty { return batch }
        var visible = DownloadedBatch(rows: [], leaving: batch.leaving.filter { !contains($0) })
        for (index, address) in batch.rows.addresses.enumerated() {
            if !contains(address) {
                visible.rows.append(rowAt: index, of: batch.rows)
            } else if let row = unmasked(batch.rows.row(at: index)) {
                visible.rows.append(row)
            }
        }
        return visible
    }
}

extension UploadMask.MaskedValues {
    fileprivate func covers(_ path: ValuePath) -> Bool {
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.embeddedUnmasked) { return paths.contains(path) }
        #endif
        return paths.contains { $0.overlaps(path) }
    }
}

extension SyncValue {
    /// Returns the sum, or the nearest integer if the sum does not fit into 64 bits. The service will refuse an
    /// addition whose sum does not fit.
    fileprivate func adding(_ amount: Int128) -> SyncValue {
        guard case .scalar(.integer(let number)) = self else { return self }
        return .scalar(.integer(Int64(clamping: Int128(number) + amount)))
    }
}
