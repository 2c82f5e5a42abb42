package import Foundation
package import MartletEngine
import MartletSyncProtocol
import Synchronization

/// Synchronizes one open file of this process. The client keeps a connection to the service while this process holds
/// the synchronization lock of the file.
///
/// The client belongs to the open file, and ends when the file is closed. It does not keep the file open.
///
/// Thread safety: the methods may be called on any thread.
package final class SyncClient: StoreAttachment {
    /// The values that the client needs to connect.
    package struct Settings: Sendable {
        package var service: URL
        package var user: String
        /// Returns a token for the user. The client calls this closure before each connection, and when the service
        /// asks for a new token. The service asks one minute before the current token expires.
        package var token: @Sendable () async throws -> String
        package var schemaHash: [UInt8]
        package var transport: any SyncTransport
        /// Receives the reports of the client. The client calls this closure on a background queue.
        package var report: @Sendable (ClientReport) -> Void
        /// The milliseconds between two attempts to acquire the synchronization lock of the file while another process
        /// holds the lock.
        package var lockMilliseconds: UInt64 = 1_000

        package init(
            service: URL, user: String, token: @escaping @Sendable () async throws -> String, schemaHash: [UInt8],
            transport: any SyncTransport, report: @escaping @Sendable (ClientReport) -> Void
        ) {
            (self.service, self.user, self.token) = (service, user, token)
            (self.schemaHash, self.transport, self.report) = (schemaHash, transport, report)
        }
    }

    /// The connection to the service.
    package enum Phase: Sendable, Equatable {
        case disconnected, connecting, connected
    }

    private struct State {
        var phase = Phase.disconnected
        /// The fraction of the data of new subscriptions that has been received, between 0 and 1.
        var progress = 1.0
        var isSuspended = false
        /// True after the service has refused the program as not compatible.
        var isStopped = false
        /// The number of calls of `resume`.
        var resumeCount = 0
        var task: Task<Void, Never>?
        var driver: ClientDriver?
    }

    package let settings: Settings
    private let schema: SyncSchema
    private let coordinator: WeakReference
    private let executor: QueueExecutor
    private let wall: @Sendable () -> UInt64
    private let state = Mutex(State())
    /// True after the first Realm has prepared the file.
    private let preparation = Mutex(false)
    /// Wakes up tasks when the file or the state has changed.
    package let wakeUps = WakeUps()
    /// Ends the delay before the next connection.
    private let requests = WakeUps()

    /// - Parameter wall: returns the wall clock of this machine, in milliseconds since 1970.
    package init(
        _ coordinator: StoreCoordinator, _ schema: SyncSchema, _ settings: Settings,
        wall: @escaping @Sendable () -> UInt64
    ) {
        self.coordinator = coordinator.reference
        self.schema = schema
        self.settings = settings
        self.wall = wall
        executor = QueueExecutor(label: "martlet.sync")
        coordinator.listen(self) { [weak self] _, _ in self?.wakeUps.send() }
    }

    /// The open file; nil after the file was closed.
    package var store: SyncedStore? {
        (coordinator.object as? StoreCoordinator).map { SyncedStore($0, schema) }
    }

    // MARK: Control

    /// Calls `body` for the first Realm of this process that opens the file. Other threads wait until `body` has
    /// returned. If `body` throws, it is called again for the next Realm that opens the file.
    package func prepare(_ body: (SyncedStore) throws -> Void) throws {
        try preparation.withLock { isPrepared in
            guard !isPrepared, let store else { return }
            try body(store)
            isPrepared = true
        }
    }

    /// Begins to synchronize. Does nothing if the client has already begun.
    package func start() {
        state.withLock { state in
            if state.task == nil { state.task = Task.detached(priority: .utility) { [self] in await run() } }
        }
    }

    package func end() {
        let (task, driver) = state.withLock { ($0.task, $0.driver) }
        task?.cancel()
        if let driver { Task { await driver.close() } }
        wakeUps.finish()
        requests.finish()
    }

    package func waitForWork() { executor.queue.sync {} }

    /// Begins to end the connection, and returns at once. The client does not connect again until `resume` is called.
    /// Messages that the driver has already queued may still arrive.
    package func suspend() {
        let driver = state.withLock { state in
            state.isSuspended = true
            return state.driver
        }
        if let driver { Task { await driver.close() } }
    }

    /// Connects at once, even if the client was suspended or the service has refused the program before.
    package func resume() {
        state.withLock {
            ($0.isSuspended, $0.isStopped) = (false, false)
            $0.resumeCount += 1
        }
        wakeUps.send()
        requests.send()
    }

    package var phase: Phase { state.withLock { $0.phase } }
    package var progress: Double { state.withLock { $0.progress } }
    package var isSuspended: Bool { state.withLock { $0.isSuspended } }
    package var isStopped: Bool { state.withLock { $0.isStopped } }

    // MARK: Waiting

    /// Waits until a condition holds. The condition is evaluated at once, and again after each change of the file or of
    /// the connection.
    ///
    /// - Parameter seconds: the longest time to wait; nil or zero for no limit.
    /// - Throws: an error of the condition; `SyncTimeout` after `seconds`; `CancellationError` if the task is cancelled
    ///   or the file is closed.
    package func wait(
        seconds: Double?, until condition: @escaping @Sendable (SyncClient) throws -> Bool
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { [self] group in
            group.addTask { [self] in
                for await _ in wakeUps.stream() where try condition(self) { return }
                throw CancellationError()
            }
            if let seconds, seconds > 0 {
                group.addTask {
                    try await Task.sleep(for: .seconds(seconds))
                    throw SyncTimeout()
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    // MARK: Connections

    private func run() async {
        var delay = ReconnectDelay()
        while !Task.isCancelled {
            guard await waitUntilWanted() else { return }
            let resumeCount = state.withLock { $0.resumeCount }
            let lock: SyncLock?
            do {
                lock = try store?.acquireSynchronization()
            } catch {
                report(.file(error))
                await pause(delay.next(), resumeCount)
                continue
            }
            guard let lock else {
                await pause(settings.lockMilliseconds, resumeCount)
                continue
            }
            let (end, wasConnected) = await connect()
            setPhase(.disconnected)
            withExtendedLifetime(lock) {}
            if wasConnected { delay.reset() }
            guard await isContinued(after: end, &delay, resumeCount) else { return }
        }
    }

    // Waits while the client is suspended or stopped. Returns false if the file was closed.
    private func waitUntilWanted() async -> Bool {
        for await _ in wakeUps.stream() {
            if Task.isCancelled || coordinator.isEmpty { return false }
            if state.withLock({ !$0.isSuspended && !$0.isStopped }) { return true }
        }
        return false
    }

    // Waits until the time has passed or `resume` is called. Returns at once if `resume` was called since the number of
    // its calls was `resumeCount`, for example when the program received the report of the error.
    private func pause(_ milliseconds: UInt64, _ resumeCount: Int) async {
        await withTaskGroup(of: Void.self) { [self] group in
            group.addTask { try? await Task.sleep(for: .milliseconds(milliseconds)) }
            // The first element of the stream arrives at once.
            group.addTask { [self] in
                for await _ in requests.stream() where state.withLock({ $0.resumeCount }) != resumeCount { return }
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func connect() async -> (end: ConnectionEnd?, wasConnected: Bool) {
        setPhase(.connecting)
        let token: String
        do {
            token = try await settings.token()
        } catch {
            report(.token(error))
            return (nil, false)
        }
        let driver: ClientDriver
        do {
            guard let store else { return (.closed, false) }
            let session = ClientSession(try store.load(), schemaHash: settings.schemaHash, token: token)
            driver = ClientDriver(
                session, executor: executor,
                store: { [weak self] in self.flatMap { $0.isSuspended ? nil : $0.store } }, wall: wall,
                notify: { [weak self] in self?.received($0) })
        } catch {
            report(.file(error))
            return (nil, false)
        }
        let isWanted = state.withLock { state in
            state.driver = driver
            return !state.isSuspended
        }
        defer { state.withLock { $0.driver = nil } }
        // If `suspend` or `end` was called before `state.driver` was set, the call could not close this driver.
        guard isWanted, !Task.isCancelled else { return (.closed, false) }
        await run(driver)
        return (await driver.end, phase == .connected)
    }

    private func run(_ driver: ClientDriver) async {
        let changes = Task { [wakeUps] in for await _ in wakeUps.stream() { await driver.fileChanged() } }
        defer { changes.cancel() }
        do {
            try await settings.transport.run(
                settings.service, connected: { await driver.begin() }, output: driver.output,
                received: { await driver.received($0) })
        } catch {
            if await driver.end == nil, !Task.isCancelled { report(.connection(error)) }
        }
    }

    // Handles the end of a connection, and waits before the next connection. Returns false if the file was closed.
    private func isContinued(
        after end: ConnectionEnd?, _ delay: inout ReconnectDelay, _ resumeCount: Int
    ) async -> Bool {
        switch end {
        // The program has suspended the client, or the file was closed.
        case .closed: return !coordinator.isEmpty
        case .file(let error): report(.file(error))
        case .failure(let failure):
            // The program may call `resume` as soon as it receives the report.
            if failure.action == .stop {
                state.withLock { if $0.resumeCount == resumeCount { $0.isStopped = true } }
            }
            report(.failure(failure))
            switch failure.action {
            case .retry, .signIn:
                await pause(delay.next(requested: failure.delayMilliseconds), resumeCount)
                return true
            case .stop: return true
            case .startAgain, .registerAgain:
                do {
                    try store?.startAgain(forgetsClient: failure.action == .registerAgain)
                } catch {
                    report(.file(error))
                }
            }
        case nil: break
        }
        await pause(delay.next(), resumeCount)
        return true
    }

    // MARK: Reports

    private func received(_ notice: ClientNotice) {
        switch notice {
        case .connected: setPhase(.connected)
        case .progress(let progress):
            state.withLock { $0.progress = progress }
            wakeUps.send()
        case .reverted(let objects):
            guard let store else { return }
            report(.reverted(objects.map { RevertedChange($0, store.schema) }))
        case .tokenDue: Task { await renewToken() }
        }
    }

    private func renewToken() async {
        do {
            let token = try await settings.token()
            await state.withLock { $0.driver }?.renew(token)
        } catch {
            report(.token(error))
        }
    }

    private func setPhase(_ phase: Phase) {
        state.withLock { $0.phase = phase }
        wakeUps.send()
    }

    /// Passes a report to the program, on a background queue.
    package func report(_ report: ClientReport) {
        let action = settings.report
        DispatchQueue.global(qos: .utility).async { action(report) }
    }
}
