package import MartletSyncProtocol

#if MARTLET_SEEDED_BUGS
    import MartletEngine
#endif

/// What the file of a client contains about its synchronization, besides the objects.
package struct ClientState: Sendable, Equatable {
    /// Nil until the service has assigned an identity.
    package internal(set) var identity: ClientIdentity?
    /// The state of the database that the objects show; nil before the client has received any.
    package internal(set) var position: SyncPosition?
    /// The set of subscriptions to which the objects belong.
    package internal(set) var shown = SubscriptionSet()
    /// The newest set of subscriptions. It differs from `shown` until the service has sent its objects.
    package internal(set) var wanted = SubscriptionSet()
    /// The uploads that the service has not acknowledged, in the order of their numbers.
    package internal(set) var outbox: [ClientMessage.Upload] = []
    /// The number of the newest upload of this client; zero before the first one.
    package internal(set) var lastUpload: UInt64 = 0
    /// The number of the newest upload that the service has acknowledged; zero before the first one.
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

/// A change of the objects of a client, which is committed together with the new state.
package struct DownloadedBatch: Sendable, Equatable {
    package var rows: [SyncRow]
    /// Objects to delete without an upload. Links to them become nil.
    package var leaving: [ObjectAddress]

    package init(rows: [SyncRow], leaving: [ObjectAddress]) { (self.rows, self.leaving) = (rows, leaving) }

    /// The objects of the rows.
    package var addresses: Set<ObjectAddress> { Set(rows.map(\.address)) }
}

/// The values that downloads must not overwrite, because uploads that are not acknowledged have written them.
///
/// When an upload is acknowledged, the service sends the state of every object that the upload has touched. Until then
/// the client shows its own values.
package struct UploadMask: Sendable {
    private enum Mask {
        /// The whole object: it was created or deleted.
        case object
        case paths(Set<ValuePath>)
    }

    private var masks: [ObjectAddress: Mask] = [:]

    package init(_ uploads: some Sequence<ClientMessage.Upload>) {
        for upload in uploads { for operation in upload.operations { add(operation) } }
    }

    private mutating func add(_ operation: SyncOperation) {
        switch operation {
        case .create(let address, _), .delete(let address): masks[address] = .object
        case .update(let address, let values): add(address, values.keys)
        case .add(let address, let path, _), .insertElement(let address, let path, _, _),
            .removeElement(let address, let path, _), .insertMember(let address, let path, _),
            .removeMember(let address, let path, _), .setEntry(let address, let path, _, _),
            .removeEntry(let address, let path, _):
            add(address, CollectionOfOne(path))
        }
    }

    private mutating func add(_ address: ObjectAddress, _ paths: some Collection<ValuePath>) {
        switch masks[address] {
        case .object: break
        case .paths(let known): masks[address] = .paths(known.union(paths))
        case nil: masks[address] = .paths(Set(paths))
        }
    }

    /// Whether an upload has touched the object.
    package func contains(_ address: ObjectAddress) -> Bool { masks[address] != nil }

    /// The values of a downloaded row that may be shown; nil if the row must not be changed at all.
    ///
    /// If an upload has written a value inside an embedded object, the whole embedded object is masked.
    package func unmasked(_ row: SyncRow) -> SyncRow? {
        switch masks[row.address] {
        case nil: return row
        case .object: return nil
        case .paths(let paths):
            #if MARTLET_SEEDED_BUGS
                if SeededSyncBug.isOn(.embeddedUnmasked) {
                    return SyncRow(address: row.address, values: row.values.filter { !paths.contains($0.key) })
                }
            #endif
            return SyncRow(
                address: row.address,
                values: row.values.filter { value in !paths.contains { $0.overlaps(value.key) } })
        }
    }

    /// The part of a downloaded batch that may be shown.
    package func masked(_ batch: DownloadedBatch) -> DownloadedBatch {
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.unmaskedSession) { return batch }
        #endif
        return DownloadedBatch(
            rows: batch.rows.compactMap(unmasked), leaving: batch.leaving.filter { !contains($0) })
    }
}

extension ValuePath {
    /// True if the two values are the same, or one is inside the other.
    fileprivate func overlaps(_ other: ValuePath) -> Bool {
        zip(properties, other.properties).allSatisfy { $0 == $1 }
    }
}
