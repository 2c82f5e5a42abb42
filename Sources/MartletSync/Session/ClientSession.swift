package import MartletSyncProtocol

/// What the owner of a session has to do, in this order.
package enum ClientAction: Sendable, Equatable {
    case send(ClientMessage)
    /// Commit the batch and the state of the session in one transaction.
    case commit(DownloadedBatch)
    /// Commit the state of the session.
    case save
    /// Notify the program.
    case reverted(upload: UInt64, [RevertedObject])
    case refused(set: UInt64, message: String)
    case marked(UInt64)
    case renewToken
    /// Close the connection. A malformed or unexpected message closes it too.
    case close(ServiceMessage.Failure)
}

/// One connection of a client to the service.
///
/// This is a value without threads, clocks and sockets. Its methods return what the owner has to do. A connection that
/// breaks needs no method: the owner discards the session and creates another one with the state that it has committed.
package struct ClientSession: Sendable {
    package private(set) var state: ClientState
    private let schemaHash: [UInt8]
    private let token: String
    /// The epoch of the service; nil before it has answered.
    private var epoch: String?
    private var sentUpload: UInt64 = 0
    /// The sets of subscriptions that were sent and not answered. The service answers them in this order, and sends the
    /// data of each as the difference to the one before.
    private var sentSets: [ClientState.SubscriptionSet] = []
    /// The newest set that the service has refused. It is sent again only by another session.
    private var refusedSet: UInt64 = 0
    /// Parts of changes, which are not shown before all have come.
    private var staged = DownloadedBatch(rows: [], leaving: [])
    /// Parts of the data of the first set of `sentSets`.
    private var stagedSet = DownloadedBatch(rows: [], leaving: [])

    /// The number of uploads that are sent before the first of them is acknowledged.
    package static let maximumUploadsInFlight = 64

    package init(_ state: ClientState, schemaHash: [UInt8], token: String) {
        self.state = state
        self.schemaHash = schemaHash
        self.token = token
    }

    /// The connection is open.
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

    /// The program has written or has changed its subscriptions: the state was changed and committed.
    package mutating func localChange(_ change: (inout ClientState) -> Void) -> [ClientAction] {
        change(&state)
        return sendPending()
    }

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
        case .reverted(let upload, let objects): return [.reverted(upload: upload, objects)]
        case .tokenDue: return [.renewToken]
        case .failure(let failure): return [.close(failure)]
        }
    }

    private mutating func begin(_ welcome: ServiceMessage.Welcome, _ wall: UInt64) -> [ClientAction] {
        guard epoch == nil else { return [.close(.unexpected)] }
        // The uploads of a client are numbered, so they must not be continued under another number of the client.
        guard state.identity.map({ $0.id == welcome.identity.id }) ?? true else { return [.close(.unexpected)] }
        epoch = welcome.epoch
        state.identity = welcome.identity
        state.clock.synchronize(service: welcome.milliseconds, wall: wall)
        // Uploads that are stored are sent again only to be acknowledged, so they are skipped.
        sentUpload = max(welcome.storedUpload, state.acknowledgedUpload)
        return [.save] + sendPending()
    }

    private mutating func sendPending() -> [ClientAction] {
        guard epoch != nil else { return [] }
        var actions: [ClientAction] = []
        if state.wanted.number > max(sentSets.last?.number ?? state.shown.number, refusedSet) {
            sentSets.append(state.wanted)
            actions.append(.send(.subscribe(set: state.wanted.number, state.wanted.queries)))
        }
        // The service acknowledges an upload with the changes after a position. Without one, a client whose connection
        // breaks after an upload would not learn what became of its objects.
        guard state.position != nil else { return actions }
        let limit = state.acknowledgedUpload + UInt64(Self.maximumUploadsInFlight)
        for upload in state.outbox where upload.number > sentUpload && upload.number <= limit {
            sentUpload = upload.number
            actions.append(.send(.upload(upload)))
        }
        return actions
    }

    private mutating func receive(_ changes: ServiceMessage.Changes) -> [ClientAction] {
        staged.append(changes.rows, changes.leaving)
        guard changes.isLast, let epoch else { return [] }
        guard changes.acknowledgedUpload <= state.lastUpload else { return [.close(.unexpected)] }
        state.position = SyncPosition(epoch: epoch, cursor: changes.cursor)
        state.acknowledgedUpload = max(state.acknowledgedUpload, changes.acknowledgedUpload)
        state.outbox.removeAll { $0.number <= state.acknowledgedUpload }
        let batch = UploadMask(state.outbox).masked(staged)
        staged = DownloadedBatch(rows: [], leaving: [])
        return [.commit(batch)] + sendPending()
    }

    private mutating func complete(_ set: UInt64, _ cursor: SyncCursor) -> [ClientAction] {
        guard let epoch, let answered = takeAnswered(set) else { return [.close(.unexpected)] }
        state.position = SyncPosition(epoch: epoch, cursor: cursor)
        state.shown = answered.set
        return [.commit(UploadMask(state.outbox).masked(answered.data))] + sendPending()
    }

    // The first set that was not answered, with its data; nil if its number is another one.
    private mutating func takeAnswered(
        _ number: UInt64
    ) -> (set: ClientState.SubscriptionSet, data: DownloadedBatch)? {
        guard sentSets.first?.number == number else { return nil }
        defer { stagedSet = DownloadedBatch(rows: [], leaving: []) }
        return (sentSets.removeFirst(), stagedSet)
    }

}

extension DownloadedBatch {
    fileprivate mutating func append(_ rows: [SyncRow], _ leaving: [ObjectAddress]) {
        self.rows += rows
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
    fileprivate static let unexpected = ServiceMessage.Failure(
        action: .retry, message: "the service sent a message that is not expected now", delayMilliseconds: 1_000)
}
