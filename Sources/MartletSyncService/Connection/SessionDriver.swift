package import MartletSyncProtocol

/// Links one `ServiceSession` to the connection of its client and to the database. The driver decodes the frames of the
/// client, runs the tasks of the session, and keeps outgoing frames until the connection takes them.
///
/// The connection runs two loops. One loop passes each received frame to `received`. The other loop sends the frames
/// that `nextOutput` returns.
package actor SessionDriver {
    package struct Limits: Sendable {
        /// While more bytes than this wait to be sent, the log is not read for this client.
        package var pauseBytes = 1 << 20
        /// The driver ends the session if the connection takes none of the waiting frames for this time, and discards
        /// these frames. (Their size is not limited, because the result of one task can be large.) After the end of a
        /// session, the connection has the same time to send the last frames.
        package var stallMilliseconds: UInt64 = 60_000
        package var messages = MessageLimits()

        package init() {}
    }

    package nonisolated let id: SessionID
    private var session: ServiceSession
    private var context: SessionContext
    private let database: any ServiceDatabase
    private let limits: Limits
    private enum Output {
        /// An encoded message.
        case frame([UInt8])
        /// The data of subscriptions, as a sequence of encoded messages.
        case data(SubscriptionData)
    }

    /// The output that the connection has not taken yet.
    private var output: [Output] = []
    /// The data in `output`.
    private var streams: [SubscriptionData] = []
    private var frameBytes = 0
    /// The size of the existing frames that the connection has not taken.
    package var outputBytes: Int { streams.reduce(frameBytes) { $0 + $1.remainingBytes } }
    /// The time of the first tick at which the connection had taken none of the waiting frames; zero if the connection
    /// has taken a frame since.
    private var stalledAt: UInt64 = 0
    /// The time of the first tick after the end of the session; zero before it.
    private var endedAt: UInt64 = 0
    private(set) var isOverdue = false
    /// Waits until the connection has to be closed.
    private var observer: CheckedContinuation<Void, Never>?
    /// True after the end of the session. The last frames may still wait for the connection.
    package private(set) var isEnded = false
    /// The connection that waits for output.
    private var consumer: CheckedContinuation<[UInt8]?, Never>?
    /// True while a Swift task waits for the next message of the data at the beginning of `output`.
    private var isWaitingForData = false
    private var missedLogChange = false
    private var isRunningTask = false

    package init(_ session: ServiceSession, _ database: any ServiceDatabase, limits: Limits = Limits()) {
        id = SessionID.next()
        context = SessionContext(id)
        self.session = session
        self.database = database
        self.limits = limits
    }

    // MARK: Connection

    /// Processes one frame that the client has sent. If the frame is not a valid message, the session ends.
    package func received(_ frame: [UInt8]) {
        let message: ClientMessage
        do {
            message = try ClientMessage(frame, limits: limits.messages)
        } catch {
            return end(.stop, "\(error)")
        }
        if case .hello(let hello) = message {
            (context.schemaHash, context.acknowledgedUpload) = (hello.schemaHash, hello.acknowledgedUpload)
        }
        perform(session.receive(message, bytes: frame.count))
    }

    /// Returns the next frame to send, and waits if there is none yet. Returns nil if the session has ended and all
    /// frames were taken.
    ///
    /// The caller must not call this method again before the previous call has returned.
    package func nextOutput() async -> [UInt8]? {
        if let frame = takeFrame() {
            stalledAt = 0
            resumeReading()
            return frame
        }
        if isEnded && output.isEmpty { return nil }
        return await withCheckedContinuation { consumer = $0 }
    }

    // Removes the first frame of the output and returns it; nil if there is none yet.
    private func takeFrame() -> [UInt8]? {
        while let first = output.first {
            switch first {
            case .frame(let frame):
                output.removeFirst()
                frameBytes -= frame.count
                return frame
            case .data(let data):
                do {
                    switch try data.next() {
                    case .message(let frame): return frame
                    case .notYet:
                        waitForData(data)
                        return nil
                    case .end:
                        output.removeFirst()
                        streams.removeFirst()
                    }
                } catch {
                    // The client receives this failure as the last frame, and connects again. An `Incomplete` error
                    // needs no report, because the reader of the database has reported its cause.
                    if !(error is SubscriptionData.Incomplete) { database.report(error) }
                    discardOutput()
                    isEnded = true
                    return ServiceMessage.failure(Self.incomplete).encoded()
                }
            }
        }
        return nil
    }

    private static let incomplete = ServiceMessage.Failure(
        action: .retry, message: "the data of the subscriptions could not be read", delayMilliseconds: 1_000)

    private func waitForData(_ data: SubscriptionData) {
        guard !isWaitingForData else { return }
        isWaitingForData = true
        Task {
            await data.available()
            isWaitingForData = false
            sendToConsumer()
        }
    }

    // Passes the next frame to the connection, if the connection waits for it.
    private func sendToConsumer() {
        guard let consumer else { return }
        let frame = takeFrame()
        guard frame != nil || (isEnded && output.isEmpty) else { return }
        self.consumer = nil
        consumer.resume(returning: frame)
        // The session reads no entries while it sends much data. The taken frame may be the first frame after this
        // data.
        resumeReading()
    }

    private func discardOutput() {
        for data in streams { data.cancel() }
        (output, streams, frameBytes) = ([], [], 0)
    }

    /// Called when the connection has ended.
    package func disconnected() async {
        isEnded = true
        discardOutput()
        sendToConsumer()
        becomeOverdue()
        if !isRunningTask { await database.ended(id) }
    }

    /// Returns when the connection has to be closed: it has taken no frame for too long, or is still open too long
    /// after the end of the session. Also returns if the current Swift task is cancelled.
    ///
    /// The caller must not call this method twice.
    package func untilOverdue() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if isOverdue || Task.isCancelled { return continuation.resume() }
                observer = continuation
            }
        } onCancel: {
            Task { await becomeOverdue() }
        }
    }

    private func becomeOverdue() {
        isOverdue = true
        observer?.resume()
        observer = nil
    }

    /// Sends a failure message and ends the session, for example because the service shuts down.
    package func end(_ action: ServiceMessage.Failure.Action, _ message: String, delayMilliseconds: UInt64 = 1_000) {
        guard !isEnded else { return }
        let failure = ServiceMessage.Failure(action: action, message: message, delayMilliseconds: delayMilliseconds)
        send(.frame(ServiceMessage.failure(failure).encoded()))
        finishOutput()
    }

    // MARK: Events of the service

    /// Called when the log may have new entries.
    package func logChanged() {
        guard !isPaused else {
            missedLogChange = true
            return
        }
        perform(session.logChanged())
    }

    private var isPaused: Bool { outputBytes > limits.pauseBytes || !streams.allSatisfy(\.isEnded) }

    /// Called at the beginning of a connection if the client understands `ServiceMessage.audit`.
    package func supportAudits() { session.supportsAudits = true }

    /// The client, and whether it can be audited. Nil if the client is not open.
    package var auditedClient: (id: UInt64, isSupported: Bool)? {
        isEnded ? nil : context.client.map { ($0.id, session.supportsAudits) }
    }

    /// Compares the objects of the client with the database. See `ServiceSession.audit`.
    package func audit(_ number: UInt64) { perform(session.audit(number)) }

    /// True while an audit of the client runs.
    package var isAuditing: Bool { !isEnded && session.isAuditing }

    /// Called at regular intervals. Ends the session if the connection has taken no frame for too long.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func tick(_ now: UInt64) {
        if isEnded {
            if endedAt == 0 { endedAt = now }
            if now >= endedAt + limits.stallMilliseconds { becomeOverdue() }
            return
        }
        if !hasFrame {
            stalledAt = 0
        } else if stalledAt == 0 {
            stalledAt = now
        } else if now >= stalledAt + limits.stallMilliseconds {
            discardOutput()
            finishOutput()
            return becomeOverdue()
        }
        perform(session.tick(now))
    }

    // Whether the connection can take a frame.
    private var hasFrame: Bool {
        guard case .data(let data)? = output.first else { return !output.isEmpty }
        return data.remainingBytes > 0 || data.isEnded
    }

    private func resumeReading() {
        guard missedLogChange, !isPaused else { return }
        missedLogChange = false
        perform(session.logChanged())
    }

    // MARK: Actions

    private func perform(_ actions: [ServiceAction]) {
        guard !isEnded else { return }
        for action in actions {
            switch action {
            case .send(let message): send(.frame(message.encoded()))
            case .sendData(let data): send(.data(data))
            case .run(let task): run(task)
            case .close: finishOutput()
            }
        }
    }

    private func run(_ task: ServiceTask) {
        let (database, context, streams) = (database, context, streams)
        isRunningTask = true
        Task {
            // The data of an earlier set must be read completely before the next set is read.
            if case .change = task { for data in streams { await data.ended() } }
            let result = await database.run(task, context)
            isRunningTask = false
            guard isEnded else { return finish(result) }
            if case .changed(_, let data) = result { data.cancel() }
            await database.ended(id)
        }
    }

    private func finish(_ result: ServiceTaskResult) {
        switch result {
        case .authenticated(let user): context.user = user
        case .opened(let client):
            (context.client, context.epoch) = (client.identity, client.epoch)
            context.deployment = client.deployment
        default: break
        }
        perform(session.finish(result))
    }

    private func send(_ new: Output) {
        guard !isEnded else { return }
        switch new {
        case .frame(let frame): frameBytes += frame.count
        case .data(let data): streams.append(data)
        }
        output.append(new)
        sendToConsumer()
    }

    // Ends the session. The connection can still take the waiting frames. If the output contains incomplete data, the
    // connection gets only the last frame, which contains the reason for the end.
    private func finishOutput() {
        isEnded = true
        if !streams.allSatisfy(\.isEnded), let last = output.last {
            discardOutput()
            if case .frame(let frame) = last { (output, frameBytes) = ([last], frame.count) }
        }
        sendToConsumer()
    }
}
