#if Postgres
    import MartletSyncProtocol
    import MartletSyncService

    /// A client that stores uploads in a `SampleDatabase`. The uploads have increasing numbers.
    final class UploadingClient {
        let sample: SampleDatabase
        let identity: ClientIdentity
        var base: SyncCursor
        private(set) var number: UInt64 = 0

        init(_ sample: SampleDatabase) throws {
            self.sample = sample
            identity = try ClientRegistry().register(readability: [], in: sample.session)
            base = try sample.now()
        }

        func upload(_ operations: [SyncOperation], milliseconds: UInt64 = 1_700_000_000_000) -> ClientMessage.Upload {
            number += 1
            let time = HybridTimestamp(milliseconds: milliseconds)
            return ClientMessage.Upload(number: number, base: base, time: time, operations: operations)
        }

        func store(_ upload: ClientMessage.Upload) throws -> UploadOutcome {
            try UploadWriter(sample.catalog).store(upload, of: identity.id, in: sample.session)
        }

        @discardableResult
        func storeAll(_ uploads: [ClientMessage.Upload]) throws -> [UploadOutcome] {
            try UploadWriter(sample.catalog).store(uploads, of: identity.id, in: sample.session)
        }

        @discardableResult
        func store(_ operations: [SyncOperation], milliseconds: UInt64 = 1_700_000_000_000) throws -> UploadOutcome {
            try store(upload(operations, milliseconds: milliseconds))
        }

        /// The reasons why objects of a stored upload were reverted; nil if the upload was not stored.
        static func reasons(_ outcome: UploadOutcome) -> [ObjectAddress: RevertedObject.Reason]? {
            guard case .stored(let reverted) = outcome else { return nil }
            return Dictionary(reverted.map { ($0.address, $0.reason) }) { $1 }
        }
    }
#endif
