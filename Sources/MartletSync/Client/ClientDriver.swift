import MartletEngine
package import MartletSyncProtocol

/// The reason why a connection has ended.
package enum ConnectionEnd: Sendable {
    /// The service has ended the session.
    case failure(ServiceMessage.Failure)
    /// The file could not be read or written.
    case file(any Error)
    /// The file was closed, or the program has suspended the client.
    case closed
}

/// Connects one `ClientSession` to the network and to the file. The driver passes the messages of the service and the
/// changes of the file to the session, and carries out the actions that the session returns.
///
/// All methods run on the queue of the client and do not suspend. So the driver finishes processing one message before
/// it processes the next message.
package actor ClientDriver {
    private let executor: QueueExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var session: ClientSession
    /// The values that uploads in the file have written. The driver reads them when it commits the first batch.
    private var mask = UploadMask()
    /// Returns the open file, or nil after the file was closed or the program has suspended the client. The driver does
    /// not keep the file open.
    private let store: @Sendable () -> SyncedStore?
    /// Returns the wall clock of this machine, in milliseconds since 1970.
    private let wall: @Sendable () -> UInt64
    private let notify: @Sendable (ClientNotice) -> Void
    /// The messages to send to the service. The end of the stream ends the connection.
    package nonisolated let output: AsyncStream<ClientMessage>
    private nonisolated let outgoing: AsyncStream<ClientMessage>.Continuation
    /// True after the service has sent `welcome`.
    private var isOpen = false
    /// The greatest number that the driver has sent in a `ClientMessage.mark` on this connection.
    private var sentMark: UInt64 = 0
    /// The reason why the connection has ended. Nil until the connection ends.
    package private(set) var end: ConnectionEnd?

    package init(
        _ session: ClientSession, executor: QueueExecutor, store: @escaping @Sendable () -> SyncedStore?,
        wall: @escaping @Sendable () -> UInt64, notify: @escaping @Sendable (ClientNotice) -> Void
    ) {
        self.session = session
        self.executor = executor
        self.store = store
        self.wall = wall
        self.notify = notify
        (output, outgoing) = AsyncStream.makeStream(of: ClientMessage.self)
    }

    /// Sends `hello`. The client calls this method when the connection is open.
    package func begin() { perform { _ in session.begin() } }

    package func received(_ message: ServiceMessage) {
        perform { store in
            if case .chunk(_, _, let progress) = message { notify(.progress(Double(progress) / 1_000)) }
            var actions = session.receive(message, wall: wall())
            if case .welcome = message {
                isOpen = true
                notify(.connected)
                actions += try pendingChanges(store)
            }
            return actions
        }
        // After an acknowledgement, `state.outbox` has room for further uploads of the file.
        let state = session.state
        if isOpen, state.hasMoreUploads, state.outbox.count < SyncedStore.loadedUploads {
            perform { try pendingChanges($0) }
        }
    }

    /// Sends the new uploads, subscriptions and marks of the file. The client calls this method after this process or
    /// another process has written to the file.
    package func fileChanged() {
        guard isOpen else { return }
        perform { try pendingChanges($0) }
    }

    /// Sends a new token of the user to the service.
    package func renew(_ token: String) { if isOpen, end == nil { outgoing.yield(.token(token)) } }

    /// Ends the connection. The client calls this method when the file is closed or the program suspends the client.
    package func close() { finish(.closed) }

    private func pendingChanges(_ store: SyncedStore) throws -> [ClientAction] {
        var state = session.state
        try store.refresh(&state)
        var actions = session.localChange { $0 = state }
        let record = try store.read { try $0.record() }
        if record.wantedMark > max(record.answeredMark, sentMark) {
            sentMark = record.wantedMark
            actions.append(.send(.mark(sentMark)))
        }
        return actions
    }

    private func perform(_ actions: (SyncedStore) throws -> [ClientAction]) {
        guard end == nil else { return }
        guard let store = store() else { return finish(.closed) }
        do {
            for action in try actions(store) where end == nil { try perform(action, store) }
        } catch {
            finish(.file(error))
        }
    }

    private func perform(_ action: ClientAction, _ store: SyncedStore) throws {
        switch action {
        case .send(let message): outgoing.yield(message)
        case .upload(let number):
            for message in UploadParts.messages(of: try store.upload(number)) { outgoing.yield(message) }
        case .commit(let batch): try store.commit(batch, session.state, &mask)
        case .save: try store.save(session.state)
        case .reverted(_, let objects): notify(.reverted(objects))
        case .refused(let set, let message):
            try store.update { record in
                guard set > record.refusedSet else { return false }
                (record.refusedSet, record.refusal) = (set, message)
                return true
            }
        case .marked(let number):
            try store.update { record in
                guard number > record.answeredMark else { return false }
                record.answeredMark = number
                return true
            }
        case .renewToken: notify(.tokenDue)
        case .sums(let audit):
            outgoing.yield(.sums(audit: audit, try store.sums(at: session.state)))
        case .close(let failure): finish(.failure(failure))
        }
    }

    private func finish(_ reason: ConnectionEnd) {
        if end == nil { end = reason }
        outgoing.finish()
    }
}

/// An event that a driver reports to the client.
package enum ClientNotice: Sendable {
    case connected
    /// The fraction of the data of new subscriptions that has been received, between 0 and 1.
    case progress(Double)
    case reverted([RevertedObject])
    case tokenDue
}
