#if Postgres
    import MartletPostgres
    import MartletSyncProtocol

    /// The reverts in those uploads of one client that the client may not know to be acknowledged. The service stores
    /// them in the transaction of the upload. So the client gets the reasons even if its connection breaks or the
    /// service ends.
    ///
    /// The column `reverted` of `martlet.clients` contains the notices as a list of messages for the client.
    struct RevertedNotices {
        private(set) var uploads: [RevertedUpload] = []

        /// - Parameter bytes: the column `reverted`.
        init(_ bytes: [UInt8]) throws {
            if bytes.isEmpty { return }
            var reader = try MessageReader(bytes, limits: Self.limits)
            let messages = try reader.list { reader throws(MalformedMessage) in try ServiceMessage(reader.blob()) }
            for case .reverted(let number, let objects) in messages {
                if uploads.last?.number == number {
                    uploads[uploads.count - 1].objects += objects
                } else {
                    uploads.append(RevertedUpload(number: number, objects: objects))
                }
            }
        }

        private static let limits: MessageLimits = {
            var limits = MessageLimits()
            limits.messageBytes = .max
            return limits
        }()

        private var encoded: [UInt8] {
            var writer = MessageWriter()
            writer.list(uploads.flatMap { $0.messages() }) { $0.blob($1.encoded()) }
            return writer.bytes
        }

        /// Adds the notice for an upload of a client. Removes the notices for uploads that the client knows to be
        /// acknowledged. A client has at most `SyncProtocol.maximumUploadsInFlight` unacknowledged uploads, including
        /// this one, so it has received the acknowledgements of all older uploads.
        static func add(_ upload: RevertedUpload, client: Int64, in session: PostgresSession) throws {
            let row = try session.query("SELECT reverted FROM martlet.clients WHERE id = $1", [.bigint(client)]).first
            var notices = try RevertedNotices(row?.bytes(0) ?? [])
            notices.uploads.removeAll { $0.number + SyncProtocol.maximumUploadsInFlight <= upload.number }
            notices.uploads.append(upload)
            try session.query(
                "UPDATE martlet.clients SET reverted = $2 WHERE id = $1", [.bigint(client), .bytes(notices.encoded)])
        }
    }
#endif
