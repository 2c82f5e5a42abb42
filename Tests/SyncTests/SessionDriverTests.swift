import Foundation
import MartletSyncProtocol
import MartletValues
import Synchronization
import Testing

@testable import MartletSyncService

/// A database in which each task waits until the test finishes it.
private final class ManualDatabase: ServiceDatabase {
    private struct State {
        var waiting: [(task: ServiceTask, context: SessionContext, CheckedContinuation<ServiceTaskResult, Never>)] = []
        var observer: CheckedContinuation<Void, Never>?
        var reports: [String] = []
    }

    private let state = Mutex(State())

    func run(_ task: ServiceTask, _ context: SessionContext) async -> ServiceTaskResult {
        await withCheckedContinuation { continuation in
            let observer = state.withLock { state in
                state.waiting.append((task, context, continuation))
                defer { state.observer = nil }
                return state.observer
            }
            observer?.resume()
        }
    }

    func report(_ error: any Error) { state.withLock { $0.reports.append("\(error)") } }

    var reports: [String] { state.withLock { $0.reports } }
    var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Waits for the next task, and finishes the task with the result that `body` returns.
    func finishNext(_ body: (ServiceTask, SessionContext) -> ServiceTaskResult) async {
        await withCheckedContinuation { continuation in
            let hasTask = state.withLock { state in
                if state.waiting.isEmpty { state.observer = continuation }
                return !state.waiting.isEmpty
            }
            if hasTask { continuation.resume() }
        }
        let (task, context, continuation) = state.withLock { $0.waiting.removeFirst() }
        continuation.resume(returning: body(task, context))
    }
}

private func recordIssue(_ text: String) { Issue.record(Comment(rawValue: text)) }

@Suite("connections of the service")
struct SessionDriverTests {
    private let database = ManualDatabase()

    private func driver(_ adjust: (inout SessionDriver.Limits) -> Void = { _ in }) -> SessionDriver {
        var limits = SessionDriver.Limits()
        adjust(&limits)
        let session = ServiceSession { queries, _ in SubscriptionFilter(queries) { _, _ in true } }
        return SessionDriver(session, database, limits: limits)
    }

    private let hello = ClientMessage.hello(
        .init(
            identity: nil, schemaHash: [4, 2], position: nil, acknowledgedUpload: 0, subscriptionSet: 0, queries: [],
            token: "token"))

    private func next(_ driver: SessionDriver) async throws -> ServiceMessage? {
        try await driver.nextOutput().map { try ServiceMessage($0) }
    }

    private func batch(_ cursor: String, rows: Int = 0) -> ServiceTaskResult {
        let entries = (0..<rows).map { number in
            LogEntry(
                address: .init(type: 0, key: .integer(Int64(number))), old: nil,
                new: [ValuePath(0): .scalar(.text(String(repeating: "x", count: 1_000)))], origin: nil)
        }
        return .read(ClientBatch(cursor: SyncCursor(cursor), entries: entries, storedUpload: 0))
    }

    private func open(_ driver: SessionDriver) async throws {
        await driver.received(hello.encoded())
        await database.finishNext { _, _ in .authenticated(.init(id: "ada")) }
        await database.finishNext { _, _ in
            .opened(
                OpenedClient(
                    identity: ClientIdentity(id: 7, secret: [1]), epoch: "a", milliseconds: 1, storedUpload: 0))
        }
        await database.finishNext { _, _ in batch("1") }
        guard case .welcome = try await next(driver), case .changes = try await next(driver) else {
            Issue.record("no 'welcome' or no 'changes'")
            return
        }
    }

    @Test("tasks get the schema, the user and the client of their session")
    func context() async throws {
        let driver = driver()
        await driver.received(hello.encoded())
        await database.finishNext { task, context in
            #expect(task == .authenticate(token: "token") && context.user == nil && context.schemaHash == [4, 2])
            return .authenticated(.init(id: "ada"))
        }
        await database.finishNext { task, context in
            #expect(task == .open(nil, hasPosition: false) && context.user?.id == "ada" && context.client == nil)
            return .opened(
                OpenedClient(
                    identity: ClientIdentity(id: 7, secret: [1]), epoch: "a", milliseconds: 1, storedUpload: 0))
        }
        await database.finishNext { task, context in
            #expect(task == .read(after: nil, for: [], isCurrent: false) && context.client?.id == 7)
            return batch("1")
        }
        guard case .welcome(let welcome) = try await next(driver) else { return recordIssue("no 'welcome'") }
        #expect(welcome.identity.id == 7)
    }

    @Test("a frame that is not a message ends the connection with a reason")
    func garbage() async throws {
        let driver = driver()
        await driver.received([0xff, 1, 2])
        guard case .failure(let failure) = try await next(driver) else { return recordIssue("no 'failure'") }
        #expect(failure.action == .stop && failure.message.contains("unknown kind 255"))
        #expect(await driver.nextOutput() == nil)
        await driver.received(hello.encoded())
        #expect(await driver.nextOutput() == nil)
    }

    @Test("a frame that is longer than the limit is refused")
    func longFrame() async throws {
        let driver = driver { $0.messages.messageBytes = 20 }
        await driver.received([UInt8](repeating: 1, count: 21))
        guard case .failure(let failure) = try await next(driver) else { return recordIssue("no 'failure'") }
        #expect(failure.message.contains("at most 20"))
    }

    @Test("a consumer that waits for output gets new output at once")
    func waitingConsumer() async throws {
        let driver = driver()
        try await open(driver)
        async let message = next(driver)
        await driver.logChanged()
        await database.finishNext { _, _ in batch("2", rows: 1) }
        guard case .changes(let changes) = try await message else { return recordIssue("no 'changes'") }
        #expect(changes.cursor.text == "2" && changes.rows.count == 1)
    }

    @Test("while a client has much pending output, its session does not read the log; afterwards, it reads the log")
    func slowClient() async throws {
        let driver = driver { $0.pauseBytes = 1_500 }
        try await open(driver)
        await driver.logChanged()
        await database.finishNext { _, _ in batch("2", rows: 2) }
        // The driver may not have received the result yet, so its output may still be empty. It runs the task of a mark
        // only after it has added the rows to the output.
        await driver.received(ClientMessage.mark(1).encoded())
        await database.finishNext { task, _ in
            #expect(task == .read(after: SyncCursor("2"), for: [], isCurrent: true))
            return batch("3")
        }
        await driver.received(ClientMessage.mark(2).encoded())
        await database.finishNext { _, _ in batch("4") }
        await driver.logChanged()
        guard case .changes = try await next(driver) else { return recordIssue("no 'changes'") }
        await database.finishNext { task, _ in
            #expect(task == .read(after: SyncCursor("4"), for: [], isCurrent: false))
            return batch("5")
        }
    }

    @Test("the service ends the connection of a client that takes no output")
    func blockedClient() async throws {
        let driver = driver { $0.stallMilliseconds = 5_000 }
        try await open(driver)
        await driver.logChanged()
        await database.finishNext { _, _ in batch("2", rows: 2) }
        while await driver.outputBytes == 0 { await Task.yield() }
        await driver.tick(1_000)
        // When the connection takes output, the time limit begins again.
        _ = await driver.nextOutput()
        await driver.logChanged()
        await database.finishNext { _, _ in batch("3", rows: 2) }
        while await driver.outputBytes == 0 { await Task.yield() }
        await driver.tick(6_000)
        await driver.tick(10_999)
        #expect(await !driver.isEnded)
        await driver.tick(11_000)
        #expect(await driver.isEnded)
        #expect(await driver.nextOutput() == nil)
    }

    @Test("the connection of an ended session is closed after a time limit if its client takes no output")
    func endedSession() async throws {
        let driver = driver { $0.stallMilliseconds = 5_000 }
        try await open(driver)
        let closing = Task { await driver.untilOverdue() }
        await driver.end(.retry, "the token has expired")
        await driver.tick(1_000)
        await driver.tick(5_999)
        #expect(await !driver.isOverdue)
        await driver.tick(6_000)
        #expect(await driver.isOverdue)
        await closing.value
    }

    @Test("a wait for the end of a connection ends with the connection, or when its task is cancelled")
    func endedWait() async throws {
        let (first, second) = (driver(), driver())
        let waits = [first, second].map { driver in Task { await driver.untilOverdue() } }
        await first.disconnected()
        await waits[0].value
        waits[1].cancel()
        await waits[1].value
    }

    @Test("if the temporary file of a session cannot be read, the error is reported, and the connection ends")
    func unreadableFile() async throws {
        let driver = driver()
        try await open(driver)
        let spool = ByteSpool(maximumMemoryBytes: 0)
        let data = SubscriptionData(spool: spool)
        var writer = SubscriptionData.Writer(data)
        try writer.add(leaving: ObjectAddress(type: 0, key: .integer(1)))
        try writer.finish()
        ftruncate(try #require(spool.descriptor), 0)
        await driver.received(ClientMessage.subscribe(set: 1, []).encoded())
        await database.finishNext { _, _ in
            .changed(ClientBatch(cursor: SyncCursor("2"), entries: [], storedUpload: 0), data)
        }
        guard case .changes = try await next(driver) else { return recordIssue("no 'changes'") }
        guard case .failure(let failure) = try await next(driver) else { return recordIssue("no 'failure'") }
        #expect(failure.action == .retry)
        #expect(await driver.nextOutput() == nil)
        #expect(await driver.isEnded)
        #expect(database.reports.count == 1 && database.reports.first?.contains("temporary file") == true)
    }

    // Sends a change of the subscriptions, and answers with this data.
    private func subscribe(_ driver: SessionDriver, _ set: UInt64, _ data: SubscriptionData) async {
        await driver.received(ClientMessage.subscribe(set: set, []).encoded())
        await database.finishNext { _, _ in
            .changed(ClientBatch(cursor: SyncCursor("\(set + 1)"), entries: [], storedUpload: 0), data)
        }
    }

    private func address(_ key: Int64) -> ObjectAddress { ObjectAddress(type: 0, key: .integer(key)) }

    @Test("the first objects of a subscription are sent while further objects are being read")
    func streamedData() async throws {
        let driver = driver()
        try await open(driver)
        let data = SubscriptionData()
        var writer = SubscriptionData.Writer(data, maximumBytes: 1)
        await subscribe(driver, 1, data)
        guard case .changes = try await next(driver) else { return recordIssue("no 'changes'") }
        var keys: [SQLValue] = []
        for key in 1...3 as ClosedRange<Int64> {
            async let message = next(driver)
            // A message ends when the next object does not fit.
            if key == 1 { try writer.add(leaving: address(1)) }
            if key < 3 { try writer.add(leaving: address(key + 1)) } else { try writer.finish() }
            guard case .chunk(_, let leaving, _) = try await message else { return recordIssue("no 'chunk'") }
            keys += leaving.map(\.key)
        }
        #expect(keys == [.integer(1), .integer(2), .integer(3)])
        guard case .complete(1, _) = try await next(driver) else { return recordIssue("no 'complete'") }
    }

    @Test("if reading objects fails, the client gets the complete messages, and must connect again")
    func incompleteData() async throws {
        let driver = driver()
        try await open(driver)
        let data = SubscriptionData()
        var writer = SubscriptionData.Writer(data, maximumBytes: 1)
        await subscribe(driver, 1, data)
        guard case .changes = try await next(driver) else { return recordIssue("no 'changes'") }
        for key in 1...2 as ClosedRange<Int64> { try writer.add(leaving: address(key)) }
        data.fail()
        guard case .chunk = try await next(driver) else { return recordIssue("no 'chunk'") }
        guard case .failure(let failure) = try await next(driver) else { return recordIssue("no 'failure'") }
        #expect(failure.action == .retry)
        #expect(await driver.nextOutput() == nil)
        #expect(database.reports.isEmpty)
    }

    @Test("if the client disconnects, the reading of objects is cancelled")
    func abandonedData() async throws {
        let driver = driver()
        try await open(driver)
        let data = SubscriptionData()
        let writer = SubscriptionData.Writer(data)
        await subscribe(driver, 1, data)
        guard case .changes = try await next(driver) else { return recordIssue("no 'changes'") }
        try writer.requireNeeded()
        async let end = driver.nextOutput()
        await driver.disconnected()
        #expect(await end == nil)
        #expect(throws: CancellationError.self) { try writer.requireNeeded() }
    }

    @Test("if a session ends while objects are being read, the client gets no more objects, only the reason")
    func endedData() async throws {
        let driver = driver()
        try await open(driver)
        let data = SubscriptionData()
        var writer = SubscriptionData.Writer(data, maximumBytes: 1)
        await subscribe(driver, 1, data)
        guard case .changes = try await next(driver) else { return recordIssue("no 'changes'") }
        for key in 1...2 as ClosedRange<Int64> { try writer.add(leaving: address(key)) }
        await driver.end(.retry, "the service shuts down")
        guard case .failure(let failure) = try await next(driver) else { return recordIssue("no 'failure'") }
        #expect(failure.message == "the service shuts down")
        #expect(await driver.nextOutput() == nil)
        #expect(throws: CancellationError.self) { try writer.requireNeeded() }
    }

    @Test("while the database reads objects slowly, the connection is not ended as blocked, and the log is not read")
    func slowData() async throws {
        let driver = driver { $0.stallMilliseconds = 5_000 }
        try await open(driver)
        let data = SubscriptionData()
        var writer = SubscriptionData.Writer(data)
        await subscribe(driver, 1, data)
        guard case .changes = try await next(driver) else { return recordIssue("no 'changes'") }
        await driver.tick(1_000)
        await driver.tick(60_000)
        #expect(await !driver.isEnded)
        await driver.logChanged()
        async let message = next(driver)
        try writer.finish()
        guard case .chunk = try await message else { return recordIssue("no 'chunk'") }
        guard case .complete = try await next(driver) else { return recordIssue("no 'complete'") }
        await database.finishNext { task, _ in
            #expect(task == .read(after: SyncCursor("2"), for: [], isCurrent: false))
            return batch("3", rows: 1)
        }
    }

    @Test("if the log changes while objects are read, the session reads it after the last object")
    func logChangeDuringData() async throws {
        let driver = driver()
        try await open(driver)
        let data = SubscriptionData()
        await subscribe(driver, 1, data)
        guard case .changes = try await next(driver) else { return recordIssue("no 'changes'") }
        await driver.logChanged()
        var message = MessageWriter()
        message.chunk(MessageWriter(), count: 0, leaving: MessageWriter(), leavingCount: 0)
        message.number(1_000)
        try data.append(message.bytes)
        guard case .chunk = try await next(driver) else { return recordIssue("no 'chunk'") }
        let waiting = Task { try await next(driver) }
        // The connection waits for output when the data ends.
        for _ in 0..<100 { await Task.yield() }
        data.end(.success(()))
        guard case .complete = try await waiting.value else { return recordIssue("no 'complete'") }
        await database.finishNext { task, _ in
            #expect(task == .read(after: SyncCursor("2"), for: [], isCurrent: false))
            return batch("3", rows: 1)
        }
    }

    @Test("a change of the subscriptions begins only after the objects of the previous change were read")
    func nextChange() async throws {
        let driver = driver()
        try await open(driver)
        let data = SubscriptionData()
        var writer = SubscriptionData.Writer(data)
        await subscribe(driver, 1, data)
        await driver.received(ClientMessage.subscribe(set: 2, []).encoded())
        guard case .changes = try await next(driver) else { return recordIssue("no 'changes'") }
        for _ in 0..<100 { await Task.yield() }
        #expect(!database.isWaiting)
        try writer.finish()
        await database.finishNext { task, _ in
            guard case .change = task else { preconditionFailure("\(task)") }
            return .changed(ClientBatch(cursor: SyncCursor("3"), entries: [], storedUpload: 0), SubscriptionData())
        }
    }

    @Test("after a disconnection, the result of a task is ignored")
    func disconnection() async throws {
        let driver = driver()
        try await open(driver)
        await driver.logChanged()
        await driver.disconnected()
        await database.finishNext { _, _ in batch("2", rows: 1) }
        #expect(await driver.nextOutput() == nil)
    }

    @Test("a shutdown asks the client to connect again, after all earlier messages")
    func shutdown() async throws {
        let driver = driver()
        try await open(driver)
        await driver.end(.retry, "the service shuts down", delayMilliseconds: 100)
        guard case .failure(let failure) = try await next(driver) else { return recordIssue("no 'failure'") }
        #expect(failure.action == .retry && failure.delayMilliseconds == 100)
        #expect(await driver.nextOutput() == nil)
    }
}
