#if Postgres
    package import MartletPostgres
    package import MartletSyncProtocol

    /// The clients that are registered in a database.
    package struct ClientRegistry {
        /// The result of a search for a client.
        package enum Client: Sendable, Equatable {
            /// `storedTime` is the time stamp of the newest stored upload, or 0 if it is not known. `reverted` lists
            /// the reverts of uploads that the client may not know to be acknowledged.
            case known(storedUpload: UInt64, storedTime: UInt64 = 0, reverted: [RevertedUpload] = [])
            /// There is no such client, or its secret is wrong.
            case unknown
            /// The client has data, and the rights of its user have changed since the service sent the data.
            case otherRights
        }

        package init() {}

        /// Registers a client and returns its number with a new secret.
        ///
        /// - Parameter readability: a description of what the user may read, from `FilterCompiler.readability`.
        package func register(readability: [UInt8], in session: PostgresSession) throws -> ClientIdentity {
            var generator = SystemRandomNumberGenerator()
            let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let row = try session.query(
                "INSERT INTO martlet.clients (secret, readable) VALUES (sha256($1), sha256($2)) RETURNING id",
                [.bytes(secret), .bytes(readability)]
            ).first
            return ClientIdentity(id: UInt64(try row?.bigint(0) ?? 0), secret: secret)
        }

        /// Finds a client.
        ///
        /// - Parameters:
        ///   - hasPosition: whether the client has data. For a client without data, the registry stores the new
        ///     `readability`, and the result is never `otherRights`.
        ///   - readability: a description of what the user may read, from `FilterCompiler.readability`.
        ///   - acknowledged: the number of the newest acknowledged upload, as the client has sent it.
        package func client(
            _ identity: ClientIdentity, hasPosition: Bool, readability: [UInt8], acknowledged: UInt64 = 0,
            in session: PostgresSession
        ) throws -> Client {
            guard let id = Int64(exactly: identity.id) else { return .unknown }
            let row = try session.query(
                """
                SELECT upload, readable = sha256($3), reverted, coalesce(upload_time, 0), confirmed < upload,
                    seen < now() - interval '1 day'
                FROM martlet.clients WHERE id = $1 AND secret = sha256($2)
                """,
                [.bigint(id), .bytes(identity.secret), .bytes(readability)]
            ).first
            guard let row else { return .unknown }
            let stored = try row.bigint(0)
            let confirms = row.boolean(4) && acknowledged >= UInt64(stored)
            if confirms || row.boolean(5) {
                try session.query(
                    "UPDATE martlet.clients SET seen = now(), confirmed = greatest(confirmed, $2) WHERE id = $1",
                    [.bigint(id), .bigint(confirms ? stored : 0)])
            }
            let known = Client.known(
                storedUpload: UInt64(stored), storedTime: UInt64(bitPattern: try row.bigint(3)),
                reverted: try RevertedNotices(row.bytes(2)).uploads)
            if row.boolean(1) { return known }
            if hasPosition { return .otherRights }
            try session.query(
                "UPDATE martlet.clients SET readable = sha256($2) WHERE id = $1", [.bigint(id), .bytes(readability)])
            return known
        }

        /// Removes the clients that have neither connected nor uploaded for a number of days, and returns the number of
        /// removed clients. If a removed client connects later, it registers again, and sends its unacknowledged
        /// uploads with new numbers.
        ///
        /// An upload must not be stored twice, so a client is kept while one of its stored uploads may be
        /// unacknowledged. A client is removed only if it has never stored an upload, or if it has connected after its
        /// newest upload and has then confirmed the acknowledgement.
        ///
        /// - Parameter days: counted in whole days, because the service notes connections once a day.
        package func removeUnused(days: Double, in session: PostgresSession) throws -> Int {
            try session.query(
                """
                DELETE FROM martlet.clients WHERE confirmed >= upload
                AND seen < now() - make_interval(secs => \(max(1, days) * 86_400))
                """
            ).affectedRows
        }
    }
#endif
