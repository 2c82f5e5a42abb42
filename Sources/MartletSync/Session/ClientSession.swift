package import MartletSyncProtocol

/// An action that the owner of a session must carry out. Methods of the session return actions in the order in which
/// the owner must carry them out.
package enum ClientAction: Sendable, Equatable {
    case send(ClientMessage)
    /// Read the upload with this number, and send its messages. See `UploadParts`.
    case upload(UInt64)
    /// Commit the batch and the state of the session in one transaction. The values that unacknowledged uploads have
    /// written must be left out: see `UploadMask`.
    case commit(DownloadedBatch)
    /// Commit the state of the session.
    case save
    /// Notify the program that the service reverted the changes that an upload made to these objects.
    case reverted(upload: UInt64, [RevertedObject])
    /// Notify the program that the service refused a set of subscriptions.
    case refused(set: UInt64, message: String)
    /// Notify the program that the service has answered the `mark` with this number: the client has received everything
    /// that was committed in the database before it sent the mark.
    case marked(UInt64)
    /// Get a new token and send it to the service, because the token of the session expires soon.
    case renewToken
    /// Send the checksums of the file for this audit. See `SyncedStore.sums`.
    case sums(audit: UInt64)
    /// Close the connection, because the service has ended the session or has sent an unexpected message.
    case close(ServiceMessage.Failure)
}

/// One connection of a client to the service.
///
/// The session uses no threads or sockets, and does not read the system clock. Its methods return the actions that the
/// owner must carry out. There is no method for the failure of a connection: the owner discards the session, and
/// creates another session from the state that the file contains.
package struct ClientSession: Sendable {
    package private(set) var state: ClientState
    private let schemaHash: [UInt8]
    private let token: String
    /// The epoch of the service; nil until the service has sent `welcome`.
    private var epoch: String?
    /// The number of the newest upload that the session has sent or that the service had already stored.
    private var sentUpload: UInt64 = 0
    /// The sets of subscriptions that the client has sent and the service has not answered. The service answers the
    /// sets in this order, and sends the data of each set as the difference to the previous set.
    private var sentSets: [ClientState.SubscriptionSet] = []
    /// The newest set that the service has refused. This session does not send it again.
    private var refusedSet: UInt64 = 0
    /// The received parts of the current `changes` message. They are committed together when the last part arrives.
    private var staged = DownloadedBatch(rows: [], leaving: [])
    /// The reverts that the service has reported since the last complete `changes`. The last part of the next `changes`
    /// acknowledges the reverted uploads. When these changes are committed, the program is notified of the reverts.
    private var stagedReverts: [ClientAction] = []
    /// The received parts of the data for the first set in `sentSets`.
    private var stagedSet = DownloadedBatch(rows: [], leaving: [])

    /// The client sends no further upload while the unacknowledged uploads have this many bytes or more.
    package static let maximumBytesInFlight = 8 << 20

    package init(_ state: ClientState, schemaHash: [UInt8], token: String) {
        self.state = state
        self.schemaHash = schemaHash
        self.token = token
    }

    /// Returns the first message. The owner calls this method when the connection is open.
    package func begin() -> [ClientAction] {
        [
            .send(
                .hello(
                    .init(
                        identity: state.identity, schemaHash: schemaHash, position: state.position,
                        acknowledgedUpload: state.acknowledgedUpload, subscriptionSet: state.shown.number,
                        queries: state.shown.queries, token: token)))
        ]
    }

    /// Applies a write of the program, or a change of its subscriptions, to the state. The owner commits the state
    /// before it carries out the actions.
    package mutating func localChange(_ change: (inout ClientState) -> Void) -> [ClientAction] {
        change(&state)
        return sendPending()
    }

    /// Applies a message of the service to the state.
    ///
    /// - Parameter wall: the wall clock of this machine, in milliseconds since 1970.
    package mutating func receive(_ message: ServiceMessage, wall: UInt64) -> [ClientAction] {
        guard epoch != nil || message.isAllowedFirst else { return [.close(.unexpected)] }
        switch message {
        case .welcome(let welcome): return begin(welcome, wall)
        case .chunk(let rows, let leaving, _):
            stagedSet.append(rows, leaving)
            return []
        case .complete(let set, let cursor): return complete(set, cursor)
        case .refused(let set, let message):
            guard takeAnswered(set) != nil else { return [.close(.unexpected)] }
            refusedSet = set
            return [.refused(set: set, message: message)]
        case .changes(let changes): return receive(changes)
        case .mark(let number): return [.marked(number)]
        case .reverted(let upload, let objects):
            stagedReverts.append(.reverted(upload: upload, objects))
            return []
        case .tokenDue: return [.renewToken]
        case .failure(let failure): return [.close(failure)]
        case .audit(let number, let cursor):
            guard cursor == state.position?.cursor else { return [.close(.unexpected)] }
            return [.sums(audit: number)]
        }
    }

    private mutating func begin(_ welcome: ServiceMessage.Welcome, _ wall: UInt64) -> [ClientAction] {
        guard epoch == nil else { return [.close(.unexpected)] }
        // The service must not assign another identity, because upload numbers are unique only for one client.
        guard state.identity.map({ $0.id == welcome.identity.id }) ?? true else { return [.close(.unexpected)] }
        // If the newest stored upload is older than the newest acknowledged upload, the database was restored from a
        // backup that lacks acknowledged uploads.
        guard welcome.storedUpload >= state.acknowledgedUpload else { return [.close(.lostUploads)] }
        // The service may have stored uploads that are not acknowledged in the file. The outbox must then contain the
        // newest of these uploads with the same time stamp. (The service sends 0 if it does not know the time stamp.)
        // If the outbox does not contain this upload, the file is an older copy or has lost commits in a power failure.
        // Such a file may use the same numbers for other changes.
        if welcome.storedUpload > state.acknowledgedUpload {
            let upload = state.outbox.first { $0.number == welcome.storedUpload }
            guard let upload, [0, upload.time.rawValue].contains(welcome.storedTime) else {
                return [.close(.olderFile)]
            }
        }
        epoch = welcome.epoch
        state.identity = welcome.identity
        state.clock.synchronize(service: welcome.milliseconds, wall: wall)
        // The service has stored the uploads up to this number, so the session does not send them again. A later
        // `changes` acknowledges them.
        sentUpload = welcome.storedUpload
        return [.save] + sendPending()
    }

    private mutating func sendPending() -> [ClientAction] {
        guard epoch != nil else { return [] }
        var actions: [ClientAction] = []
        if state.wanted.number > max(sentSets.last?.number ?? state.shown.number, refusedSet) {
            sentSets.append(state.wanted)
            actions.append(.send(.subscribe(set: state.wanted.number, state.wanted.queries)))
        }
        // A client without a position sends no upload. The service acknowledges an upload in the changes after the
        // position of the client. If the connection failed before the client had a position, the client would later
        // download a newer state of the database, and would never receive the changes that acknowledge the upload.
        guard state.position != nil else { return actions }
        let limit = state.acknowledgedUpload + SyncProtocol.maximumUploadsInFlight
        var bytesInFlight = 0
        for upload in state.outbox {
            guard bytesInFlight < Self.maximumBytesInFlight, upload.number <= limit else { break }
            bytesInFlight += upload.bytes
            if upload.number <= sentUpload { continue }
            sentUpload = upload.number
            actions.append(.upload(upload.number))
        }
        return actions
    }

    private mutating func receive(_ changes: ServiceMessage.Changes) -> [ClientAction] {
        staged.append(SyncRows(changes.rows), changes.leaving)
        guard changes.isLast, let epoch else { return [] }
        guard changes.acknowledgedUpload <= state.lastUpload else { return [.close(.unexpected)] }
        state.position = SyncPosition(epoch: epoch, cursor: changes.cursor)
        state.acknowledgedUpload = max(state.acknowledgedUpload, changes.acknowledgedUpload)
        state.outbox.removeAll { $0.number <= state.acknowledgedUpload }
        let batch = staged
        staged = DownloadedBatch(rows: [], leaving: [])
        defer { stagedReverts = [] }
        return [.commit(batch)] + stagedReverts + sendPending()
    }

    private mutating func complete(_ set: UInt64, _ cursor: SyncCursor) -> [ClientAction] {
        guard let epoch, let answered = takeAnswered(set) else { return [.close(.unexpected)] }
        state.position = SyncPosition(epoch: epoch, cursor: cursor)
        state.shown = answered.set
        return [.commit(answered.data)] + sendPending()
    }

    // Removes and returns the first set that the service has not answered, with its data. Returns nil if this set does
    // not have the given number.
    private mutating func takeAnswered(
        _ number: UInt64
    ) -> (set: ClientState.SubscriptionSet, data: DownloadedBatch)? {
        guard sentSets.first?.number == number else { return nil }
        defer { stagedSet = DownloadedBatch(rows: [], leaving: []) }
        return (sentSets.removeFirst(), stagedSet)
    }
}

extension DownloadedBatch {
    fileprivate mutating func append(_ rows: SyncRows, _ leaving: [ObjectAddress]) {
        self.rows.append(rows)
        self.leaving += leaving
    }
}

extension ServiceMessage {
    fileprivate var isAllowedFirst: Bool {
        switch self {
        case .welcome, .failure: true
        default: false
        }
    }
}

extension ServiceMessage.Failure {
    fileprivate static let lostUploads = ServiceMessage.Failure(
        action: .registerAgain, message: "the service has lost uploads that it has acknowledged", delayMilliseconds: 0)
    fileprivate static let olderFile = ServiceMessage.Failure(
        action: .registerAgain, message: "the service has uploads that the file does not contain", delayMilliseconds: 0)
    fileprivate static let unexpected = ServiceMessage.Failure(
        action: .retry, message: "the service sent a message that is not expected now", delayMilliseconds: 1_000)
}
