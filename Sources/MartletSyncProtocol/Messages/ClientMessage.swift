/// A snapshot of PostgreSQL whose changes a client has received completely: the text of `pg_current_snapshot()`.
package struct SyncCursor: Sendable, Hashable {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// Identifies a client to the service in all of its sessions.
package struct ClientIdentity: Sendable, Hashable {
    package var id: UInt64
    /// Random bytes that the service assigned. They prevent another client from continuing this client's uploads.
    package var secret: [UInt8]

    package init(id: UInt64, secret: [UInt8]) {
        self.id = id
        self.secret = secret
    }
}

/// The position of a client in the history of the database.
package struct SyncPosition: Sendable, Hashable {
    /// The system identifier and the timeline of PostgreSQL. A cursor is meaningless in another epoch.
    package var epoch: String
    package var cursor: SyncCursor

    package init(epoch: String, cursor: SyncCursor) {
        self.epoch = epoch
        self.cursor = cursor
    }
}

/// One query to which a client is subscribed.
package struct SubscribedQuery: Sendable, Hashable {
    /// The number of the type in the schema that both sides agreed on.
    package var type: Int
    /// The canonical encoding of the condition.
    package var condition: [UInt8]

    package init(type: Int, condition: [UInt8]) {
        self.type = type
        self.condition = condition
    }
}

/// A message from a client to the service.
package enum ClientMessage: Sendable, Hashable {
    package struct Hello: Sendable, Hashable {
        package var protocolVersion: UInt64
        /// Nil for a client that has no identity yet.
        package var identity: ClientIdentity?
        /// The hash of the facts of the client's schema.
        package var schemaHash: [UInt8]
        /// Nil for a client that has no data yet.
        package var position: SyncPosition?
        /// The number of the newest upload that the service has acknowledged.
        package var acknowledgedUpload: UInt64
        /// The set of subscriptions to which the client's data belongs. The service keeps no state of clients, so the
        /// client sends the queries too.
        package var subscriptionSet: UInt64
        package var queries: [SubscribedQuery]
        /// Proves who the user is.
        package var token: String

        package init(
            protocolVersion: UInt64 = SyncProtocol.version, identity: ClientIdentity?, schemaHash: [UInt8],
            position: SyncPosition?, acknowledgedUpload: UInt64, subscriptionSet: UInt64,
            queries: [SubscribedQuery], token: String
        ) {
            self.protocolVersion = protocolVersion
            self.identity = identity
            self.schemaHash = schemaHash
            self.position = position
            self.acknowledgedUpload = acknowledgedUpload
            self.subscriptionSet = subscriptionSet
            self.queries = queries
            self.token = token
        }
    }

    /// The changes of one or more transactions of the client, which the service stores as a whole.
    package struct Upload: Sendable, Hashable {
        /// 1 for the first upload of a client. The service stores the upload of each number once.
        package var number: UInt64
        /// The cursor of the client when it wrote. Values that are visible at this cursor never win against this
        /// upload.
        package var base: SyncCursor
        /// The time stamp of the write, by which conflicts are decided.
        package var time: HybridTimestamp
        package var operations: [SyncOperation]

        package init(number: UInt64, base: SyncCursor, time: HybridTimestamp, operations: [SyncOperation]) {
            self.number = number
            self.base = base
            self.time = time
            self.operations = operations
        }
    }

    case hello(Hello)
    /// Replaces the set of subscriptions.
    case subscribe(set: UInt64, [SubscribedQuery])
    /// The last message of an upload. Its operations follow those in the `uploadPart` messages before it.
    case upload(Upload)
    /// Asks the service for a `mark` with this number, after all changes that were committed before.
    case mark(UInt64)
    /// Replaces the token of the session.
    case token(String)
    /// Operations of the next upload, which does not fit into one message.
    case uploadPart([SyncOperation])
}

package enum SyncProtocol {
    /// The version of the protocol that this code implements.
    package static let version: UInt64 = 1
    /// The name of the WebSocket subprotocol.
    package static let subprotocol = "martlet.sync.1"
    /// How many uploads a client sends before the service has acknowledged the first of them.
    package static let maximumUploadsInFlight: UInt64 = 64
}
