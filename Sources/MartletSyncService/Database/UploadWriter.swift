#if Postgres
    package import MartletPostgres
    package import MartletSyncProtocol

    /// The result of `UploadWriter.store`.
    package enum UploadOutcome: Sendable, Equatable {
        /// The upload is stored, except for the changes to these objects.
        case stored([RevertedObject])
        /// The upload was stored before.
        case duplicate
        /// At least one upload between the newest stored upload and this upload is missing.
        case gap(stored: UInt64)
        case unknownClient
    }

    /// Stores uploads of clients, each exactly once.
    ///
    /// Usually several waiting uploads of a client are stored in one transaction. The transaction also changes the
    /// upload number of the client in `martlet.clients`. If a change fails, the transaction is rolled back. Each upload
    /// is then stored in a transaction of its own, with savepoints, so that only the objects that cannot be stored are
    /// reverted.
    ///
    /// A transaction locks the row of the client until its end, so two connections of one client cannot store uploads at
    /// the same time.
    package struct UploadWriter {
        private let catalog: SyncCatalog

        /// The maximum number of times that the transaction is repeated after a conflict with another transaction.
        /// After one more conflict, `store` throws the error.
        private static let maximumConflicts = 5
        /// The maximum number of times that the operations are applied again because further objects were refused.
        /// After that, all objects of the upload are refused. Without this limit, the cost of an upload could grow with
        /// the square of the number of its objects.
        private static let maximumRepetitions = 24

        private let lockMilliseconds: Int

        /// - Parameter lockMilliseconds: the time, in milliseconds, for which a statement waits for a lock of another
        ///   transaction.
        package init(_ catalog: SyncCatalog, lockMilliseconds: Int = 10_000) {
            (self.catalog, self.lockMilliseconds) = (catalog, lockMilliseconds)
        }

        /// Stores one upload. See `store(_:of:claims:in:)` for several uploads.
        package func store(
            _ upload: ClientMessage.Upload, of client: UInt64, claims: String = "{}", in session: PostgresSession
        ) throws -> UploadOutcome {
            try store([upload], of: client, claims: claims, in: session)[0]
        }

        /// Stores uploads in their order.
        ///
        /// - Parameters:
        ///   - uploads: at least one upload. Their numbers should be consecutive.
        ///   - claims: the claims of the user, as JSON. PostgreSQL checks the rules with them.
        /// - Returns: The outcome for each upload. After an outcome that is a `gap` or `unknownClient`, the following
        ///   uploads are not stored and have no outcome.
        /// - Throws: `InvalidUpload` for uploads that no correct client sends; `PostgresError` for all other failures.
        ///   After a `PostgresError`, the first uploads may be stored. If the connection fails during the commit, all
        ///   uploads may be stored. The client can send the uploads again: the outcome of a stored upload is then
        ///   `duplicate`.
        package func store(
            _ uploads: [ClientMessage.Upload], of client: UInt64, claims: String = "{}", in session: PostgresSession
        ) throws -> [UploadOutcome] {
            // A transaction of another program may lock a row for a long time. The upload then fails, and the client
            // sends it again.
            try session.configure("SET lock_timeout = \(lockMilliseconds)")
            if try storeTogether(uploads, client, claims, session) { return uploads.map { _ in .stored([]) } }
            var outcomes: [UploadOutcome] = []
            for upload in uploads {
                outcomes.append(try storeAlone(upload, client, claims, session))
                switch outcomes.last {
                case .gap, .unknownClient: return outcomes
                default: break
                }
            }
            return outcomes
        }

        // MARK: Several uploads in one transaction

        /// Each upload has to be stored in its own transaction: the uploads do not follow the newest stored upload, or
        /// the user cannot read the target of a link.
        private struct NeedsOwnTransaction: Error {}

        /// Stores the uploads in one transaction, without savepoints. If a change cannot be stored or an upload is not
        /// valid, returns false and stores nothing.
        private func storeTogether(
            _ uploads: [ClientMessage.Upload], _ client: UInt64, _ claims: String, _ session: PostgresSession
        ) throws -> Bool {
            do {
                try session.transaction {
                    // The transaction keeps the rows of several uploads locked. It must not wait long for another
                    // transaction, because that transaction may wait for one of these rows.
                    if uploads.count > 1 { try session.postpone("SET LOCAL lock_timeout = '100ms'", []) }
                    guard let now = try claim(uploads, client, session) else { throw NeedsOwnTransaction() }
                    for (index, upload) in uploads.enumerated() {
                        if index > 0 { try session.postpone("SET CONSTRAINTS ALL DEFERRED", []) }
                        let origin = try UploadOrigin(upload, client, now: now)
                        try origin.set(claims: claims, in: session)
                        var run = UploadRun(
                            catalog: catalog, session: session, origin: origin, refused: [:], refusesObjects: false)
                        try run.apply(upload.operations)
                        guard try run.hasTargets() else { throw NeedsOwnTransaction() }
                        try session.postpone("SET CONSTRAINTS ALL IMMEDIATE", [])
                        try UploadTouches(catalog: catalog, session: session, origin: origin)
                            .log(upload.operations, run.written)
                    }
                }
                return true
            } catch let error where Self.concernsUploads(error, count: uploads.count) {
                return false
            }
        }

        /// Whether storing the uploads one by one may succeed.
        private static func concernsUploads(_ error: any Error, count: Int) -> Bool {
            if error is NeedsOwnTransaction || error is InvalidUpload || ObjectRefusal(error) != nil { return true }
            guard let error = error as? PostgresError else { return false }
            return error.isTransient || (count > 1 && error.state == .lockNotAvailable)
        }

        /// Sets the number of the newest stored upload, and returns the time of the server in milliseconds since 1970.
        /// Nil if the first upload does not follow the newest stored one, if there is no such client, or if the numbers
        /// are not consecutive.
        private func claim(
            _ uploads: [ClientMessage.Upload], _ client: UInt64, _ session: PostgresSession
        ) throws -> UInt64? {
            guard let first = uploads.first, let last = uploads.last else { return nil }
            for (upload, next) in zip(uploads, uploads.dropFirst()) where next.number != upload.number &+ 1 {
                return nil
            }
            let row = try session.query(
                """
                UPDATE martlet.clients SET upload = $2, upload_time = $3, seen = now() WHERE id = $1 AND upload = $4 - 1
                RETURNING floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
                """,
                [
                    .bigint(try UploadOrigin.client(client)), .bigint(try UploadOrigin.number(last)),
                    .bigint(Int64(bitPattern: last.time.rawValue)), .bigint(try UploadOrigin.number(first)),
                ]
            ).first
            return try row.map { UInt64(try $0.bigint(0)) }
        }

        // MARK: One upload

        private func storeAlone(
            _ upload: ClientMessage.Upload, _ client: UInt64, _ claims: String, _ session: PostgresSession
        ) throws -> UploadOutcome {
            var conflicts = 0
            while true {
                do {
                    return try session.transaction {
                        guard let now = try claim([upload], client, session) else {
                            return try rejection(
                                upload, try UploadOrigin.number(upload), try UploadOrigin.client(client), session)
                        }
                        let origin = try UploadOrigin(upload, client, now: now)
                        try origin.set(claims: claims, in: session)
                        let reverted = try apply(upload.operations, origin, session)
                        if !reverted.isEmpty {
                            let notice = RevertedUpload(number: upload.number, objects: reverted)
                            try RevertedNotices.add(notice, client: origin.client, in: session)
                        }
                        return .stored(reverted)
                    }
                } catch let error as PostgresError where error.isTransient && conflicts < Self.maximumConflicts {
                    conflicts += 1
                }
            }
        }

        private func rejection(
            _ upload: ClientMessage.Upload, _ number: Int64, _ client: Int64, _ session: PostgresSession
        ) throws -> UploadOutcome {
            let row = try session.query(
                "SELECT upload, upload_time FROM martlet.clients WHERE id = $1", [.bigint(client)]
            ).first
            guard let row else { return .unknownClient }
            let stored = try row.bigint(0)
            guard stored >= number else { return .gap(stored: UInt64(stored)) }
            // If the stored upload with this number has another time stamp, it comes from a copy of the client's file.
            // The client then registers as a new client, and uploads its changes again.
            let isOther =
                try stored == number && !row.isNull(1)
                && row.bigint(1) != Int64(bitPattern: upload.time.rawValue)
            return isOther ? .unknownClient : .duplicate
        }

        /// Applies the operations of all objects that are not refused, and returns the refused objects.
        private func apply(
            _ operations: [SyncOperation], _ origin: UploadOrigin, _ session: PostgresSession
        ) throws -> [RevertedObject] {
            var refused: [ObjectAddress: ObjectRefusal] = [:]
            var immediate: Set<String> = []
            var repetitions = 0
            while true {
                do {
                    let run = try session.savepoint {
                        var run = UploadRun(
                            catalog: catalog, session: session, origin: origin, refused: refused, immediate: immediate)
                        try run.apply(operations)
                        try run.checkConstraints()
                        return run
                    }
                    try UploadTouches(catalog: catalog, session: session, origin: origin)
                        .log(operations, run.written)
                    return Self.reverted(operations, run.refused)
                } catch let restart as UploadRun.Restart {
                    (refused, immediate) = (restart.refused, restart.immediate)
                    repetitions += 1
                    guard repetitions > Self.maximumRepetitions else { continue }
                    for operation in operations where refused[operation.address] == nil {
                        refused[operation.address] = ObjectRefusal(
                            .constraint, "the upload has too many changes that do not fit")
                    }
                }
            }
        }

        private static func reverted(
            _ operations: [SyncOperation], _ refused: [ObjectAddress: ObjectRefusal]
        ) -> [RevertedObject] {
            var seen: Set<ObjectAddress> = []
            return operations.compactMap { operation in
                guard let refusal = refused[operation.address], seen.insert(operation.address).inserted else {
                    return nil
                }
                return RevertedObject(address: operation.address, reason: refusal.reason, message: refusal.message)
            }
        }
    }
#endif
