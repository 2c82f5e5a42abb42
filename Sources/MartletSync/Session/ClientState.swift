package import MartletSyncProtocol

/// The state of synchronization that the file of a client contains, besides the objects.
package struct ClientState: Sendable, Equatable {
    /// Nil until the service has assigned an identity.
    package internal(set) var identity: ClientIdentity?
    /// The position of the objects in the history of the database; nil before the client has received objects.
    package internal(set) var position: SyncPosition?
    /// The set of subscriptions that determines the objects in the file.
    package internal(set) var shown = SubscriptionSet()
    /// The newest set of subscriptions. It differs from `shown` until the service has sent the objects of the newest
    /// set.
    package internal(set) var wanted = SubscriptionSet()
    /// The first uploads that the service has not acknowledged, in the order of their numbers. A file may contain
    /// further uploads: see `SyncedStore.refresh`.
    package internal(set) var outbox: [WaitingUpload] = []
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

    /// Whether the file contains uploads that are not in `outbox`.
    package var hasMoreUploads: Bool { (outbox.last?.number ?? acknowledgedUpload) < lastUpload }

    /// Records the changes of a local transaction. The caller commits the state and the returned upload together with
    /// the transaction.
    ///
    /// - Parameter wall: the wall clock of this machine, in milliseconds since 1970.
    @discardableResult
    package mutating func write(_ operations: [SyncOperation], wall: UInt64) -> ClientMessage.Upload {
        lastUpload += 1
        let upload = ClientMessage.Upload(
            number: lastUpload, base: position?.cursor ?? SyncCursor(""), time: clock.next(wall: wall),
            operations: operations)
        let bytes = operations.reduce(0) { $0 + $1.encodedSize }
        outbox.append(WaitingUpload(number: upload.number, time: upload.time, bytes: bytes))
        return upload
    }

    /// Replaces the set of subscriptions.
    package mutating func subscribe(_ queries: [SubscribedQuery]) {
        wanted = SubscriptionSet(number: wanted.number + 1, queries: queries)
    }
}

/// An upload that the service has not acknowledged. Its operations are read from the file when it is sent.
package struct WaitingUpload: Sendable, Equatable {
    package var number: UInt64
    package var time: HybridTimestamp
    /// The size of the encoded operations, in bytes.
    package var bytes: Int

    package init(number: UInt64, time: HybridTimestamp, bytes: Int) {
        (self.number, self.time, self.bytes) = (number, time, bytes)
    }
}

/// Changes of the objects of a client. They are committed together with the new `ClientState`.
package struct DownloadedBatch: Sendable, Equatable {
    package var rows: SyncRows
    /// The objects to delete from the file without recording an upload. Links to these objects become nil.
    package var leaving: [ObjectAddress]

    package init(rows: [SyncRow], leaving: [ObjectAddress]) { (self.rows, self.leaving) = (SyncRows(rows), leaving) }

    package var isEmpty: Bool { rows.isEmpty && leaving.isEmpty }

    /// The addresses of the objects in `rows`.
    package var addresses: Set<ObjectAddress> { Set(rows.addresses) }
}
