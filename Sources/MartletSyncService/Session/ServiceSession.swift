package import MartletSyncProtocol

/// An action that the owner of a session has to perform. The owner performs actions in the order in which the session
/// returns them.
package enum ServiceAction: Sendable {
    case send(ServiceMessage)
    /// Send the messages of the data.
    case sendData(SubscriptionData)
    /// Run the task and pass its result to `finish`.
    case run(ServiceTask)
    /// Close the connection after all messages are sent. The session ignores all further input.
    case close
}

/// One connection of the service to a client.
///
/// This is a value without threads, clocks, sockets and database connections. Its methods return the actions that the
/// owner has to perform. The session answers the messages of the client in their order. While a task runs, further
/// messages wait.
package struct ServiceSession: Sendable {
    package struct Limits: Sendable {
        /// The greatest number of messages of a client that wait. A client sends at most 64 uploads before the first of
        /// them is acknowledged.
        package var waitingMessages = 128
        /// The greatest size, in bytes, of all waiting or incomplete uploads of one client. A client sends no further
        /// upload while 8 MB are unacknowledged, and one upload has at most 64 MB.
        package var waitingUploadBytes = 96 << 20
        /// The greatest size, in bytes, of all waiting sets of subscriptions and tokens of one client.
        package var waitingRequestBytes = 16 << 20
        /// The greatest number of uploads that are stored together.
        package var uploadsTogether = 16
        /// The greatest size, in bytes, of uploads that are stored together. A larger upload is stored alone.
        package var uploadBytesTogether = 1 << 20
        /// The greatest number of subscriptions of one client.
        package var subscriptions = 1_000
        /// The amount of work that the service does for one client per second. An upload or a mark costs 1. A new token
        /// costs 10. A set of subscriptions costs 50, and 1 for each subscription. Messages beyond this amount wait.
        package var workPerSecond = 1_000
        /// The amount of work that the service does at once for a client that has sent nothing for a while.
        package var workAtOnce = 2_000
        /// Rows are divided into messages of at most this many bytes. A larger row has a message of its own.
        package var rowBytesPerMessage = 256 << 10
        /// The interval, in milliseconds, at which a client gets a new cursor even if there are no changes for it. With
        /// a new cursor, the client can continue after older entries were deleted from the log.
        package var cursorMilliseconds: UInt64 = 60_000
        /// The time, in milliseconds, within which a client must send `hello`.
        package var helloMilliseconds: UInt64 = 10_000
        /// The time, in milliseconds, between the request for a new token and the expiration of the current token.
        package var tokenMilliseconds: UInt64 = 60_000

        package init() {}
    }

    private enum Phase {
        case awaitsHello
        case opening(ClientMessage.Hello)
        case open
        case closed
    }

    /// Work that needs a task. It waits until the running task has ended.
    private enum Work {
        case read(Reason)
        case subscribe(set: UInt64, [SubscribedQuery], bytes: Int)
        case store([ClientMessage.Upload], bytes: Int)
        case mark(UInt64)
        case token(String, bytes: Int)
        case audit(UInt64)
        case record(AuditResult)

        /// The cost of the work (see `Limits.workPerSecond`). Work that the client has not requested costs nothing.
        var cost: Int {
            switch self {
            case .read, .audit, .record: 0
            case .store, .mark: 1
            case .token: 10
            case .subscribe(_, let queries, _): 50 + queries.count
            }
        }

        /// The size of the message, for sets of subscriptions and tokens.
        var requestBytes: Int {
            switch self {
            case .subscribe(_, _, let bytes), .token(_, let bytes): bytes
            default: 0
            }
        }

        var isAudit: Bool {
            switch self {
            case .audit, .record: true
            default: false
            }
        }
    }

    /// The reason why the session reads the log.
    private enum Reason {
        /// The session was opened. The client gets a first message of changes, which may be empty.
        case opened
        case logChanged
        /// An upload was stored. The client gets the changes that contain the upload.
        case stored
        /// `Limits.cursorMilliseconds` have passed. The client gets a new cursor if the cursor has changed.
        case cursor
    }

    private let limits: Limits
    private let compile: @Sendable ([SubscribedQuery], AuthenticatedUser) throws(RefusedQueries) -> SubscriptionFilter
    private var phase = Phase.awaitsHello
    private var waiting: [Work] = []
    private var running: Work?
    private var client: UInt64 = 0
    private var user: AuthenticatedUser?
    private var hasAskedForToken = false
    private var filter: SubscriptionFilter
    /// The filter of the new set of subscriptions while a task reads the data of this set.
    private var nextFilter: SubscriptionFilter?
    /// The position of the session in the log; nil until a task has found it.
    private var cursor: SyncCursor?
    private var sentCursor: SyncCursor?
    private var sentAt: UInt64 = 0
    /// The time of the first call of `tick`.
    private var createdAt: UInt64 = 0
    private var tickedAt: UInt64 = 0
    /// The amount of work that the service may do for the client until the next tick.
    private var budget: Int
    /// The number of the newest upload that the service has acknowledged to the client.
    private var acknowledgedUpload: UInt64 = 0
    /// The reverts of uploads that are not acknowledged yet.
    private var reverted: [RevertedUpload] = []
    /// The operations of an incomplete upload, and the size of their messages.
    private var partial: (operations: [SyncOperation], bytes: Int) = ([], 0)
    /// The size of the messages of all uploads that are not stored.
    private var uploadBytes = 0
    /// The size of the messages of the sets of subscriptions and tokens that wait.
    private var requestBytes = 0
    /// The audit for which the client has not sent its checksums yet, and the checksums of the database.
    private var audit: (number: UInt64, sums: RowSums)?
    /// Whether the client understands `ServiceMessage.audit`.
    package var supportsAudits = false
    /// True if the client is being compared or waits for a comparison.
    package var isAuditing: Bool {
        if case .closed = phase { return false }
        return ([running].compactMap(\.self) + waiting).contains(where: \.isAudit) || audit != nil
    }

    /// - Parameter compile: makes a filter from queries and from the rights of the user. Throws to refuse the queries.
    package init(
        limits: Limits = Limits(),
        compile: @escaping @Sendable ([SubscribedQuery], AuthenticatedUser) throws(RefusedQueries) -> SubscriptionFilter
    ) {
        self.limits = limits
        self.compile = compile
        budget = limits.workAtOnce
        filter = SubscriptionFilter([]) { _, _ in false }
    }

    // MARK: Input

    /// Called when the client has sent a message.
    ///
    /// - Parameter bytes: the size of the message.
    package mutating func receive(_ message: ClientMessage, bytes: Int = 0) -> [ServiceAction] {
        switch (phase, message) {
        case (.closed, _): return []
        case (.awaitsHello, .hello(let hello)): return begin(hello)
        case (.awaitsHello, _), (.opening, _), (.open, .hello):
            return end(.stop, "the client sent a message that is not expected now")
        case (.open, .subscribe(let set, let queries)):
            waiting.append(.subscribe(set: set, queries, bytes: bytes))
            requestBytes += bytes
        case (.open, .uploadPart(let operations)):
            partial.operations += operations
            partial.bytes += bytes
            uploadBytes += bytes
        case (.open, .upload(var upload)):
            upload.operations = partial.operations + upload.operations
            waiting.append(.store([upload], bytes: partial.bytes + bytes))
            partial = ([], 0)
            uploadBytes += bytes
        case (.open, .mark(let number)): waiting.append(.mark(number))
        case (.open, .token(let token)):
            waiting.append(.token(token, bytes: bytes))
            requestBytes += bytes
        case (.open, .sums(let number, let sums)):
            guard let audit, audit.number == number else {
                return end(.stop, "the client sent a message that is not expected now")
            }
            self.audit = nil
            let differences = sums.map { audit.sums.differences(from: $0) }
            waiting.append(
                .record(AuditResult(audit: number, rowCount: audit.sums.rowCount, differences: differences)))
        }
        if waiting.count > limits.waitingMessages {
            return end(.retry, "more than \(limits.waitingMessages) messages of the client wait")
        }
        if uploadBytes > limits.waitingUploadBytes {
            return end(.stop, "uploads of more than \(limits.waitingUploadBytes) bytes of the client wait")
        }
        if requestBytes > limits.waitingRequestBytes {
            return end(.retry, "subscriptions and tokens of more than \(limits.waitingRequestBytes) bytes wait")
        }
        return runNext()
    }

    /// Called when the log may have new entries.
    package mutating func logChanged() -> [ServiceAction] {
        guard case .open = phase else { return [] }
        let isWaiting = waiting.contains { if case .read = $0 { true } else { false } }
        if !isWaiting { waiting.append(.read(.logChanged)) }
        return runNext()
    }

    /// Compares the objects of the client with the database. Does nothing if the client does not support audits, or if
    /// an audit of the client is running.
    ///
    /// - Parameter number: identifies the audit.
    package mutating func audit(_ number: UInt64) -> [ServiceAction] {
        guard case .open = phase, supportsAudits, !isAuditing else { return [] }
        waiting.append(.audit(number))
        return runNext()
    }

    /// Checks the time limits. The owner calls this method every few seconds or more often.
    ///
    /// - Parameter now: milliseconds since 1970.
    package mutating func tick(_ now: UInt64) -> [ServiceAction] {
        if createdAt == 0 { createdAt = now }
        if case .awaitsHello = phase, now >= createdAt + limits.helloMilliseconds {
            return end(.retry, "the client did not send 'hello' in time")
        }
        guard case .open = phase else { return [] }
        if let expiration = user?.expiration {
            if expiration <= now { return end(.signIn, "the token has expired") }
            if !hasAskedForToken, expiration - now <= limits.tokenMilliseconds {
                hasAskedForToken = true
                return [.send(.tokenDue)]
            }
        }
        let elapsed = tickedAt == 0 ? 0 : Int(min(now &- tickedAt, 3_600_000))
        tickedAt = now
        budget = min(limits.workAtOnce, budget + elapsed * limits.workPerSecond / 1_000)
        if sentAt == 0 { sentAt = now }
        if running == nil, now >= sentAt + limits.cursorMilliseconds {
            sentAt = now
            waiting.append(.read(.cursor))
        }
        return runNext()
    }

    /// Called with the result of the task that the owner runs for the session.
    package mutating func finish(_ result: ServiceTaskResult) -> [ServiceAction] {
        if case .closed = phase { return [] }
        let work = running
        running = nil
        let actions: [ServiceAction]
        switch (result, work) {
        case (.failed(let failure), _):
            phase = .closed
            return [.send(.failure(failure)), .close]
        case (.authenticated(let user), _): actions = authenticated(user)
        case (.opened(let client), _): actions = opened(client)
        case (.read(let batch), .mark(let number)): actions = changes(batch, isForced: false) + [.send(.mark(number))]
        case (.read(let batch), .read(.cursor)): actions = changes(batch, isForced: batch.cursor != sentCursor)
        case (.read(let batch), .read(.opened)): actions = changes(batch, isForced: true)
        case (.read(let batch), .read): actions = changes(batch, isForced: false)
        case (.changed(let batch, let data), .subscribe(let set, _, _)): actions = complete(set, batch, data)
        case (.stored(let new), .store(_, let bytes)):
            uploadBytes -= bytes
            reverted += new
            waiting.insert(.read(.stored), at: 0)
            actions = []
        case (.summed(let batch, let sums), .audit(let number)):
            audit = (number, sums)
            actions = changes(batch, isForced: true) + [.send(.audit(number, batch.cursor))]
        case (.recorded(let repairs), .record(let result)):
            guard repairs, let differences = result.differences else { return runNext() }
            return end(.startAgain, "an audit has found differences in \(differences.count) parts of the file")
        default: preconditionFailure("the result does not belong to the task")
        }
        return actions + runNext()
    }

    // MARK: Opening

    private mutating func begin(_ hello: ClientMessage.Hello) -> [ServiceAction] {
        guard hello.protocolVersion == SyncProtocol.version else {
            return end(
                .stop,
                "the client uses version \(hello.protocolVersion) of the protocol, the service version \(SyncProtocol.version)"
            )
        }
        guard hello.queries.count <= limits.subscriptions else { return end(.stop, tooMany(hello.queries.count)) }
        phase = .opening(hello)
        return [.run(.authenticate(token: hello.token))]
    }

    private mutating func authenticated(_ user: AuthenticatedUser) -> [ServiceAction] {
        if let known = self.user, known.id != user.id { return end(.signIn, "the token is of another user") }
        let former = self.user
        self.user = user
        hasAskedForToken = false
        if case .open = phase, former?.claims != user.claims, isReadable(differentlyBy: user) {
            return end(.retry, "the rights of the user have changed")
        }
        guard case .opening(let hello) = phase else { return [] }
        return [.run(.open(hello.identity, hasPosition: hello.position != nil))]
    }

    private func isReadable(differentlyBy user: AuthenticatedUser) -> Bool {
        (try? compile(filter.queries, user))?.conditions != filter.conditions
    }

    private mutating func opened(_ opened: OpenedClient) -> [ServiceAction] {
        guard case .opening(let hello) = phase, let user else { return [] }
        if let epoch = hello.position?.epoch, epoch != opened.epoch {
            return end(.startAgain, "the database was restored or replaced")
        }
        do throws(RefusedQueries) {
            filter = try compile(hello.queries, user)
        } catch {
            return end(.startAgain, error.message)
        }
        phase = .open
        client = opened.identity.id
        cursor = hello.position?.cursor
        acknowledgedUpload = hello.acknowledgedUpload
        reverted = opened.reverted.filter { $0.number > acknowledgedUpload }
        // If a client loads its data again, no later log entry acknowledges its stored uploads. The client loads its
        // objects after this moment, so the objects already contain the stored uploads. The session acknowledges these
        // uploads now.
        if cursor == nil { acknowledgedUpload = max(acknowledgedUpload, opened.storedUpload) }
        // A client without a position gets one, so that its uploads can be acknowledged.
        waiting.insert(.read(.opened), at: 0)
        return [
            .send(
                .welcome(
                    .init(
                        identity: opened.identity, epoch: opened.epoch, milliseconds: opened.milliseconds,
                        storedUpload: opened.storedUpload, storedTime: opened.storedTime)))
        ]
    }

    // MARK: Tasks

    private mutating func runNext() -> [ServiceAction] {
        while case .open = phase, running == nil, let cost = waiting.first?.cost {
            if cost > 0 && budget <= 0 { return [] }
            budget -= cost
            let work = waiting.removeFirst()
            requestBytes -= work.requestBytes
            switch work {
            case .read(.stored), .mark: return run(work, .read(after: cursor, for: filter.queries, isCurrent: true))
            case .read: return run(work, .read(after: cursor, for: filter.queries, isCurrent: false))
            case .store(let uploads, let bytes): return store(uploads, bytes: bytes)
            case .token(let token, _): return run(work, .authenticate(token: token))
            case .audit:
                guard let cursor else { preconditionFailure("an open session has no cursor") }
                return run(work, .sum(after: cursor, for: filter.queries))
            case .record(let result): return run(work, .record(result))
            case .subscribe(let set, let queries, _):
                guard let cursor, let user else { preconditionFailure("an open session has no cursor or no user") }
                do throws(RefusedQueries) {
                    guard queries.count <= limits.subscriptions else { throw RefusedQueries(tooMany(queries.count)) }
                    nextFilter = try compile(queries, user)
                } catch {
                    return [.send(.refused(set: set, message: error.message))] + runNext()
                }
                return run(work, .change(after: cursor, from: filter.queries, to: queries))
            }
        }
        return []
    }

    // Stores the upload together with the uploads that wait directly behind it.
    private mutating func store(_ uploads: [ClientMessage.Upload], bytes: Int) -> [ServiceAction] {
        var (uploads, bytes) = (uploads, bytes)
        while case .store(let next, let size)? = waiting.first, budget > 0, uploads.count < limits.uploadsTogether,
            bytes + size <= limits.uploadBytesTogether
        {
            budget -= waiting.removeFirst().cost
            uploads += next
            bytes += size
        }
        return run(.store(uploads, bytes: bytes), .store(uploads))
    }

    private mutating func run(_ work: Work, _ task: ServiceTask) -> [ServiceAction] {
        running = work
        return [.run(task)]
    }

    private func tooMany(_ count: Int) -> String {
        "\(count) subscriptions, at most \(limits.subscriptions) are allowed"
    }

    private mutating func end(_ action: ServiceMessage.Failure.Action, _ message: String) -> [ServiceAction] {
        phase = .closed
        return [.send(.failure(.init(action: action, message: message, delayMilliseconds: 1_000))), .close]
    }

    // MARK: Changes

    // Sends the changes up to a new cursor. If the changes do not concern the client, sends them only if `isForced` is
    // true.
    private mutating func changes(_ batch: ClientBatch, isForced: Bool) -> [ServiceAction] {
        let isFirst = cursor == nil
        cursor = batch.cursor
        let found =
            isFirst
            ? ClientChanges([], for: client, filter.contains)
            : ClientChanges(batch.entries, for: client, filter.contains, contents: batch.contents)
        let acknowledges = batch.storedUpload > acknowledgedUpload
        guard isForced || acknowledges || !found.rows.isEmpty || !found.leaving.isEmpty else { return [] }
        acknowledgedUpload = max(acknowledgedUpload, batch.storedUpload)
        let notices = reverted.filter { $0.number <= acknowledgedUpload }.flatMap { $0.messages() }
        reverted.removeAll { $0.number <= acknowledgedUpload }
        return notices.map { .send($0) } + changes(found.rows, found.leaving)
    }

    private mutating func changes(_ rows: [SyncRow], _ leaving: [ObjectAddress]) -> [ServiceAction] {
        guard let cursor else { return [] }
        sentCursor = cursor
        let parts = RowParts(rows, leaving, maximumBytes: limits.rowBytesPerMessage).parts
        return parts.enumerated().map { number, part in
            .send(
                .changes(
                    .init(
                        cursor: cursor, acknowledgedUpload: acknowledgedUpload, rows: part.rows, leaving: part.leaving,
                        isLast: number == parts.count - 1)))
        }
    }

    private mutating func complete(_ set: UInt64, _ batch: ClientBatch, _ data: SubscriptionData) -> [ServiceAction] {
        let actions = changes(batch, isForced: true)
        if let nextFilter { filter = nextFilter }
        nextFilter = nil
        return actions + [.sendData(data), .send(.complete(set: set, batch.cursor))]
    }
}
