#if Postgres
    import MartletPostgres
    import MartletSyncProtocol

    /// Identifies the upload to which changes belong.
    struct UploadOrigin {
        let client: Int64
        let number: Int64
        let time: HybridTimestamp
        let base: SnapshotCursor

        /// - Parameter now: the time of the server, in milliseconds since 1970. If the time stamp of the client is
        ///   later, this time is used instead.
        /// - Throws: `InvalidUpload` if the number or the cursor is not valid.
        init(_ upload: ClientMessage.Upload, _ client: UInt64, now: UInt64) throws {
            guard let base = SnapshotCursor(base: upload.base) else {
                throw InvalidUpload("the base cursor cannot be read")
            }
            (self.client, number, self.base) = (try Self.client(client), try Self.number(upload), base)
            time = min(upload.time, HybridTimestamp(milliseconds: now, counter: .max))
        }

        static func number(_ upload: ClientMessage.Upload) throws -> Int64 {
            guard let number = Int64(exactly: upload.number), number > 0 else {
                throw InvalidUpload("the upload has the number \(upload.number)")
            }
            return number
        }

        static func client(_ id: UInt64) throws -> Int64 {
            guard let client = Int64(exactly: id) else { throw InvalidUpload("the client has the number \(id)") }
            return client
        }

        /// The time stamp as a signed integer. It has 47 bits for the milliseconds, which are enough until the year
        /// 6429.
        var storedTime: Int64 { Int64(clamping: time.rawValue) }

        /// Passes the origin to the triggers, and the claims of the user to the policies, until the end of the
        /// transaction.
        func set(claims: String, in session: PostgresSession) throws {
            try session.postpone(
                """
                SELECT set_config('martlet.client', $1, true), set_config('martlet.upload', $2, true),
                    set_config('martlet.time', $3, true), set_config('martlet.user', $4, true)
                """, [.text("\(client)"), .text("\(number)"), .text("\(storedTime)"), .text(claims)])
        }
    }
#endif
