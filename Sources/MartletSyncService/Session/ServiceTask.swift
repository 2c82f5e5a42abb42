package import MartletSyncProtocol

/// What a session asks of the database. A session runs one task at a time and waits for its result.
package enum ServiceTask: Sendable, Equatable {
    /// Verify a token.
    case authenticate(token: String)
    /// Find the client, or register a new one if there is no identity yet. A client with a position has data already.
    case open(ClientIdentity?, hasPosition: Bool)
    /// Read the log after the cursor. The result contains at least the entries that concern the queries or the client.
    /// Without a cursor, only find the current one.
    ///
    /// If `isCurrent` is true, the result contains everything that was committed before the task. Otherwise it may lack
    /// the newest entries; the owner then calls `logChanged` later.
    case read(after: SyncCursor?, for: [SubscribedQuery], isCurrent: Bool)
    /// Read the log after the cursor. At the same snapshot, also read the rows that only the new queries contain, and
    /// the addresses of the rows that only the former queries contain.
    case change(after: SyncCursor, from: [SubscribedQuery], to: [SubscribedQuery])
    /// Store an upload, unless it is stored already.
    case store(ClientMessage.Upload)
}

/// The result of a `ServiceTask`.
package enum ServiceTaskResult: Sendable {
    case authenticated(AuthenticatedUser)
    case opened(OpenedClient)
    case read(ClientBatch)
    case changed(ClientBatch, SubscriptionData)
    case stored(reverted: [RevertedObject])
    /// The task failed. The session sends the failure and ends.
    case failed(ServiceMessage.Failure)
}

/// The user that a token names.
package struct AuthenticatedUser: Sendable, Hashable {
    package var id: String
    /// The claims of the token, as JSON. Rules refer to them.
    package var claims: String
    /// The time at which the token expires, in milliseconds since 1970; nil if it does not.
    package var expiration: UInt64?

    package init(id: String, claims: String = "{}", expiration: UInt64? = nil) {
        self.id = id
        self.claims = claims
        self.expiration = expiration
    }
}

package struct OpenedClient: Sendable {
    package var identity: ClientIdentity
    /// The history of the database to which cursors belong.
    package var epoch: String
    /// The time of the service, in milliseconds since 1970.
    package var milliseconds: UInt64
    package var storedUpload: UInt64
    /// The time stamp of that upload, as the client has sent it; 0 if it is not known.
    package var storedTime: UInt64
    /// What was reverted in uploads whose acknowledgement the client may not have received.
    package var reverted: [RevertedUpload]
    /// Identifies the deployed schema. Tasks of the session are refused when another one is deployed.
    package var deployment: Int

    package init(
        identity: ClientIdentity, epoch: String, milliseconds: UInt64, storedUpload: UInt64, storedTime: UInt64 = 0,
        reverted: [RevertedUpload] = [], deployment: Int = 0
    ) {
        self.deployment = deployment
        self.reverted = reverted
        self.identity = identity
        self.epoch = epoch
        self.milliseconds = milliseconds
        self.storedUpload = storedUpload
        self.storedTime = storedTime
    }
}

/// The entries of the log between two cursors.
package struct ClientBatch: Sendable {
    /// The later cursor.
    package var cursor: SyncCursor
    package var entries: [LogEntry]
    /// The newest upload of the client that is known to be visible at the cursor; zero if none is known.
    package var storedUpload: UInt64
    /// The collections that `ClientChanges.collections` names, as they are at the cursor.
    package var contents: [ObjectAddress: [ValuePath: SyncValue]] = [:]

    package init(cursor: SyncCursor, entries: [LogEntry], storedUpload: UInt64) {
        self.cursor = cursor
        self.entries = entries
        self.storedUpload = storedUpload
    }
}

/// The difference between two sets of subscriptions at one snapshot.
package struct SubscriptionData: Sendable {
    package var rows: [SyncRow]
    package var leaving: [ObjectAddress]

    package init(rows: [SyncRow], leaving: [ObjectAddress]) {
        self.rows = rows
        self.leaving = leaving
    }
}
