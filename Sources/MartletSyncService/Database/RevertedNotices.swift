#if Postgres
    import MartletPostgres
    import MartletSyncProtocol

    /// What was reverted in uploads whose acknowledgement the client may not have received. The notices are stored in
    /// the transaction of the upload, so the client gets the reasons even if its connection breaks or the service ends.
    ///
    /// `martlet.clients` contains them as a list of the messages that are sent to the client.
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

        /// Adds an upload of a client, and removes the uploads whose acknowledgement the client has received. At most
        /// `SyncProtocol.maximumUploadsInFlight` uploads of a client are not acknowledged, so all older ones are.
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
