package import MartletSyncProtocol

/// Runs one `ServiceSession`: decodes what the client sends, runs its tasks on the database, and keeps what is to be
/// sent until the connection takes it.
///
/// The connection calls `received` for each frame and takes what to send from `nextOutput`, in two loops.
package actor SessionDriver {
    package struct Limits: Sendable {
        /// While more bytes than this wait to be sent, the log is not read for this client.
        package var pauseBytes = 1 << 20
        /// If the connection takes nothing of the waiting output for this time, the client loses it. The result of one
        /// task may wait as a whole, however large it is.
        package var stallMilliseconds: UInt64 = 60_000
        package var messages = MessageLimits()

        package init() {}
    }

    package nonisolated let id: SessionID
    private var session: ServiceSession
    private var context: SessionContext
    private let database: any ServiceDatabase
    private let limits: Limits
    /// Encoded messages that the connection has not taken yet.
    private var output: [[UInt8]] = []
    package private(set) var outputBytes = 0
    /// The time since which the connection has taken none of the waiting output, or zero.
    private var stalledAt: UInt64 = 0
    /// True after the end of the session. The connection may still have to take the last output.
    package private(set) var isEnded = false
    /// The connection that waits for output.
    private var consumer: CheckedContinuation<[UInt8]?, Never>?
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

    /// Processes one frame that the client has sent. A frame that is not a message ends the session.
    package func received(_ frame: [UInt8]) {
        let message: ClientMessage
        do {
            message = try ClientMessage(frame, limits: limits.messages)
        } catch {
            return end(.stop, "\(error)")
        }
        if case .hello(let hello) = message { context.schemaHash = hello.schemaHash }
        perform(session.receive(message, bytes: frame.count))
    }

    /// The next frame to send. Waits until there is one; nil at the end of the session, after all frames were taken.
    ///
    /// Only one task may wait at a time.
    package func nextOutput() async -> [UInt8]? {
        guard output.isEmpty else {
            let frame = output.removeFirst()
            outputBytes -= frame.count
            stalledAt = 0
            resumeReading()
            return frame
        }
        if isEnded { return nil }
        return await withCheckedContinuation { consumer = $0 }
    }

    /// The connection has ended.
    package func disconnected() async {
        isEnded = true
        output = []
        consumer?.resume(returning: nil)
        consumer = nil
        if !isRunningTask { await database.ended(id) }
    }

    /// The service ends the session, for example because it shuts down.
    package func end(_ action: ServiceMessage.Failure.Action, _ message: String, delayMilliseconds: UInt64 = 1_000) {
        guard !isEnded else { return }
        send(.failure(.init(action: action, message: message, delayMilliseconds: delayMilliseconds)))
        finishOutput()
    }

    // MARK: Events of the service

    /// The log may have new entries.
    package func logChanged() {
        guard outputBytes <= limits.pauseBytes else {
            missedLogChange = true
            return
        }
        perform(session.logChanged())
    }

    /// - Parameter now: milliseconds since 1970.
    package func tick(_ now: UInt64) {
        if output.isEmpty || isEnded {
            stalledAt = 0
        } else if stalledAt == 0 {
            stalledAt = now
        } else if now >= stalledAt + limits.stallMilliseconds {
            output = []
            return finishOutput()
        }
        perform(session.tick(now))
    }

    private func resumeReading() {
        guard missedLogChange, outputBytes <= limits.pauseBytes else { return }
        missedLogChange = false
        perform(session.logChanged())
    }

    // MARK: Actions

    private func perform(_ actions: [ServiceAction]) {
        guard !isEnded else { return }
        for action in actions {
            switch action {
            case .send(let message): send(message)
            case .run(let task): run(task)
            case .close: finishOutput()
            }
        }
    }

    private func run(_ task: ServiceTask) {
        let (database, context) = (database, context)
        isRunningTask = true
        Task {
            let result = await database.run(task, context)
            isRunningTask = false
            if isEnded { return await database.ended(id) }
            finish(result)
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

    private func send(_ message: ServiceMessage) {
        guard !isEnded else { return }
        let frame = message.encoded()
        if let consumer {
            self.consumer = nil
            return consumer.resume(returning: frame)
        }
        outputBytes += frame.count
        output.append(frame)
    }

    // Ends the session. The connection can still take the waiting output.
    private func finishOutput() {
        isEnded = true
        consumer?.resume(returning: nil)
        consumer = nil
    }
}
