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
    /// Each upload is stored in one transaction, which also increments the upload number of the client in
    /// `martlet.clients`. The transaction locks the row of the client until its end, so two connections of one client
    /// cannot store uploads at the same time.
    package struct UploadWriter {
        private let catalog: SyncCatalog

        /// The maximum number of times that the transaction is repeated after a conflict with another transaction.
        /// After the next conflict, `store` throws the error.
        private static let maximumConflicts = 5
        /// The maximum number of times that the operations are applied again because further objects were refused. If
        /// that is not enough, all objects of the upload are refused. Without this limit, the cost of an upload could
        /// grow with the square of the number of its objects.
        private static let maximumRepetitions = 24

        private let lockMilliseconds: Int

        /// - Parameter lockMilliseconds: the time, in milliseconds, for which a statement waits for a lock of another
        ///   transaction.
        package init(_ catalog: SyncCatalog, lockMilliseconds: Int = 10_000) {
            (self.catalog, self.lockMilliseconds) = (catalog, lockMilliseconds)
        }

        /// Stores an upload.
        ///
        /// - Parameter claims: the claims of the user, as JSON. PostgreSQL checks the rules with them.
        /// - Throws: `InvalidUpload` for uploads that no correct client sends. `PostgresError` for all other failures,
        ///   after which the client can send the upload again. If the connection fails during the commit, the upload
        ///   may be stored in spite of the error. When the client then sends it again, the outcome is `duplicate`.
        package func store(
            _ upload: ClientMessage.Upload, of client: UInt64, claims: String = "{}", in session: PostgresSession
        ) throws -> UploadOutcome {
            guard let number = Int64(exactly: upload.number), number > 0, let id = Int64(exactly: client) else {
                throw InvalidUpload("the upload has the number \(upload.number)")
            }
            guard let base = SnapshotCursor(base: upload.base) else {
                throw InvalidUpload("the base cursor cannot be read")
            }
            // A transaction of another program may lock a row for a long time. The upload then fails, and the client
            // sends it again.
            try session.configure("SET lock_timeout = \(lockMilliseconds)")
            var conflicts = 0
            while true {
                do {
                    return try session.transaction {
                        guard let now = try claim(upload, number, id, session) else {
                            return try rejection(upload, number, id, session)
                        }
                        let time = min(upload.time, HybridTimestamp(milliseconds: now, counter: .max))
                        let origin = UploadOrigin(client: id, number: number, time: time, base: base)
                        try origin.set(in: session)
                        try session.set(claims: claims)
                        let reverted = try apply(upload.operations, origin, session)
                        if !reverted.isEmpty {
                            let notice = RevertedUpload(number: upload.number, objects: reverted)
                            try RevertedNotices.add(notice, client: id, in: session)
                        }
                        return .stored(reverted)
                    }
                } catch let error as PostgresError where error.isTransient && conflicts < Self.maximumConflicts {
                    conflicts += 1
                }
            }
        }

        /// Increments the number of the newest stored upload, and returns the time of the server in milliseconds since
        /// 1970. Nil if the upload does not follow the newest stored one, or if there is no such client.
        private func claim(
            _ upload: ClientMessage.Upload, _ number: Int64, _ client: Int64, _ session: PostgresSession
        ) throws -> UInt64? {
            let row = try session.query(
                """
                UPDATE martlet.clients SET upload = $2, upload_time = $3, seen = now() WHERE id = $1 AND upload = $2 - 1
                RETURNING floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
                """,
                [.bigint(client), .bigint(number), .bigint(Int64(bitPattern: upload.time.rawValue))]
            ).first
            return try row.map { UInt64(try $0.bigint(0)) }
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
            // If the stored upload with this number has another time stamp, a copy of the file of this client has sent
            // it. The client then registers as a new client, and uploads its changes again.
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

    /// Identifies the upload to which changes belong.
    struct UploadOrigin {
        let client: Int64
        let number: Int64
        let time: HybridTimestamp
        let base: SnapshotCursor

        /// The time stamp as a signed integer. It has 47 bits for the milliseconds, which are enough until the year
        /// 6429.
        var storedTime: Int64 { Int64(clamping: time.rawValue) }

        /// Passes the origin to the triggers, until the end of the transaction.
        func set(in session: PostgresSession) throws {
            try session.query(
                """
                SELECT set_config('martlet.client', $1, true), set_config('martlet.upload', $2, true),
                    set_config('martlet.time', $3, true)
                """, [.text("\(client)"), .text("\(number)"), .text("\(storedTime)")])
        }
    }
#endif
