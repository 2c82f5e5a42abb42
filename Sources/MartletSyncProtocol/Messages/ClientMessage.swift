/// A snapshot of PostgreSQL, as the text of `pg_current_snapshot()`. A client at this cursor has received all changes
/// of the transactions that are visible in the snapshot.
package struct SyncCursor: Sendable, Hashable {
    package let text: String
    package init(_ text: String) { self.text = text }
}

/// Identifies a client to the service in all of its sessions.
package struct ClientIdentity: Sendable, Hashable {
    package var id: UInt64
    /// Random bytes that the service has assigned. No other client knows them, so no other client can send uploads as
    /// this client.
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
    /// The number of the type in `AgreedSchema`.
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
        /// The hash of `AgreedSchema.agreement` on the side of the client.
        package var schemaHash: [UInt8]
        /// Nil for a client that has received no data yet, or that loads all of its data again.
        package var position: SyncPosition?
        /// The number of the newest upload that the service has acknowledged.
        package var acknowledgedUpload: UInt64
        /// The number of the set of subscriptions that determines the objects in the client's file. The service does
        /// not store the sets of clients, so the client also sends the queries of the set.
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

    /// The changes of one transaction of the client, which contains one or more writes. The service stores an upload as
    /// a whole.
    package struct Upload: Sendable, Hashable {
        /// The first upload of a client has the number 1. The service stores each number once.
        package var number: UInt64
        /// The cursor of the client when this transaction was committed. The client has seen all values that are
        /// visible at this cursor, so they never win a conflict against this upload.
        package var base: SyncCursor
        /// The time stamp of the transaction. It decides conflicts with other writes.
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
    /// Asks the service to send all changes that are committed in the database, and then a `mark` with this number.
    case mark(UInt64)
    /// Replaces the token of the session.
    case token(String)
    /// A part of the operations of an upload that does not fit into one message. More parts may follow, and then the
    /// `upload` message with the last operations.
    case uploadPart([SyncOperation])
    /// The answer to the `ServiceMessage.audit` with this number: the checksums of the objects in the file. Nil if the
    /// file cannot be compared now, because it contains uploads that are not acknowledged or its data is not complete.
    case sums(audit: UInt64, RowSums?)
}

package enum SyncProtocol {
    /// The version of the protocol that this code implements.
    package static let version: UInt64 = 1
    /// The seconds between two pings of a client. The service answers each ping.
    package static let pingSeconds = 30
    /// Each side closes a connection over which it has received nothing for this time.
    package static let silenceSeconds: Int64 = 75
    /// The name of the WebSocket subprotocol.
    package static let subprotocol = "martlet.sync.1"
    /// The name of the subprotocol that also contains `ServiceMessage.audit`. A client offers both names. A service
    /// without audits chooses `subprotocol`.
    package static let auditSubprotocol = "martlet.sync.1.audit"
    /// The maximum number of uploads that a client sends before the service has acknowledged the first of them.
    package static let maximumUploadsInFlight: UInt64 = 64
}
