package import MartletSyncProtocol

/// A task that a session requests from the database. A session requests one task at a time and waits for its result.
package enum ServiceTask: Sendable, Equatable {
    /// Verify a token.
    case authenticate(token: String)
    /// Find the client with this identity, or register a new client if the identity is nil. A client that has a
    /// position already has data.
    case open(ClientIdentity?, hasPosition: Bool)
    /// Read the log after the cursor. The result contains at least the entries that concern the queries or the client.
    /// If the cursor is nil, only find the current cursor.
    ///
    /// If `isCurrent` is true, the result contains everything that was committed before the task. Otherwise the result
    /// may lack the newest entries, and the owner of the session calls `logChanged` later.
    case read(after: SyncCursor?, for: [SubscribedQuery], isCurrent: Bool)
    /// Read the log after the cursor. At the same snapshot, also read the rows that match only the new queries, and
    /// the addresses of the rows that match only the former queries.
    case change(after: SyncCursor, from: [SubscribedQuery], to: [SubscribedQuery])
    /// Store uploads with consecutive numbers, except those that are stored already.
    case store([ClientMessage.Upload])
    /// Read the log after the cursor. At the same snapshot, also calculate the checksums of all objects that the queries
    /// contain.
    case sum(after: SyncCursor, for: [SubscribedQuery])
    /// Store the result of the audit of a client.
    case record(AuditResult)
}

/// The result of a `ServiceTask`.
package enum ServiceTaskResult: Sendable {
    case authenticated(AuthenticatedUser)
    case opened(OpenedClient)
    case read(ClientBatch)
    case changed(ClientBatch, SubscriptionData)
    /// The uploads are stored, except for the changes to these objects.
    case stored(reverted: [RevertedUpload])
    case summed(ClientBatch, RowSums)
    /// The result of an audit is stored. If `repairs` is true, the client has to load its data again.
    case recorded(repairs: Bool)
    /// The task failed. The session sends the failure and ends.
    case failed(ServiceMessage.Failure)
}

/// The result of the audit of a client.
package struct AuditResult: Sendable, Equatable {
    /// The number of the audit.
    package var audit: UInt64
    /// The number of rows that the client must have.
    package var rowCount: UInt64
    /// The buckets with different checksums. Nil if the client could not be compared, because it has unacknowledged
    /// uploads or has not received its data yet.
    package var differences: [RowSums.Difference]?

    package init(audit: UInt64, rowCount: UInt64, differences: [RowSums.Difference]?) {
        (self.audit, self.rowCount, self.differences) = (audit, rowCount, differences)
    }
}

/// The user that a token names.
package struct AuthenticatedUser: Sendable, Hashable {
    package var id: String
    /// The claims of the token, as JSON. Rules refer to them.
    package var claims: String
    /// The time at which the token expires, in milliseconds since 1970; nil if the token does not expire.
    package var expiration: UInt64?

    package init(id: String, claims: String = "{}", expiration: UInt64? = nil) {
        self.id = id
        self.claims = claims
        self.expiration = expiration
    }
}

package struct OpenedClient: Sendable {
    package var identity: ClientIdentity
    /// Identifies the history of the database. Cursors are valid only within one history.
    package var epoch: String
    /// The time of the service, in milliseconds since 1970.
    package var milliseconds: UInt64
    /// The number of the newest stored upload of the client; 0 if there is none.
    package var storedUpload: UInt64
    /// The time stamp of this upload, as the client has sent it; 0 if the time stamp is not known.
    package var storedTime: UInt64
    /// The reverts in uploads that the client may not know to be acknowledged.
    package var reverted: [RevertedUpload]
    /// The number of the deployed schema. Later tasks of the session fail if another schema is deployed.
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
    /// The contents, at the cursor, of the collections that `ClientChanges.collections` returns.
    package var contents: [ObjectAddress: [ValuePath: SyncValue]] = [:]

    package init(cursor: SyncCursor, entries: [LogEntry], storedUpload: UInt64) {
        self.cursor = cursor
        self.entries = entries
        self.storedUpload = storedUpload
    }
}
