#if Sync
    package import MartletPostgres
    package import MartletSyncProtocol

    /// The clients of a database.
    package struct ClientRegistry {
        package init() {}

        /// Registers a client and returns its number with a new secret.
        package func register(in session: PostgresSession) throws -> ClientIdentity {
            var generator = SystemRandomNumberGenerator()
            let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let row = try session.query(
                "INSERT INTO martlet.clients (secret) VALUES (sha256($1)) RETURNING id", [.bytes(secret)]
            ).first
            return ClientIdentity(id: UInt64(try row?.bigint(0) ?? 0), secret: secret)
        }

        /// The number of the newest stored upload of a client; nil if the client does not exist or the secret is wrong.
        package func storedUpload(of identity: ClientIdentity, in session: PostgresSession) throws -> UInt64? {
            guard let id = Int64(exactly: identity.id) else { return nil }
            let row = try session.query(
                "SELECT upload FROM martlet.clients WHERE id = $1 AND secret = sha256($2)",
                [.bigint(id), .bytes(identity.secret)]
            ).first
            return try row.map { UInt64(try $0.bigint(0)) }
        }
    }
#endif
