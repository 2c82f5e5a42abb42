import Synchronization
import Testing

@testable import MartletSyncProtocol
@testable import MartletSyncService

/// A log in which each read waits until the test finishes it.
private final class ManualLog: Sendable {
    private struct State {
        var waiting: [(SyncCursor?, CheckedContinuation<LogBatch, any Error>)] = []
        var observer: CheckedContinuation<Void, Never>?
        var count = 0
    }

    private let state = Mutex(State())

    /// The number of reads that have begun.
    var count: Int { state.withLock { $0.count } }

    func read(_ cursor: SyncCursor?) async throws -> LogBatch {
        try await withCheckedThrowingContinuation { continuation in
            let observer = state.withLock { state in
                state.waiting.append((cursor, continuation))
                state.count += 1
                defer { state.observer = nil }
                return state.observer
            }
            observer?.resume()
        }
    }

    /// Waits until a read has begun, and finishes the read with `result`. Returns the cursor at which the read began.
    @discardableResult
    func finish(_ result: Result<LogBatch, any Error>) async -> SyncCursor? {
        await withCheckedContinuation { continuation in
            let isReading = state.withLock { state in
                if state.waiting.isEmpty { state.observer = continuation }
                return !state.waiting.isEmpty
            }
            if isReading { continuation.resume() }
        }
        let (cursor, continuation) = state.withLock { $0.waiting.removeFirst() }
        continuation.resume(with: result)
        return cursor
    }

    @discardableResult
    func finish(_ cursor: String) async -> SyncCursor? { await finish(.success(LogBatch(cursor: SyncCursor(cursor)))) }
}

@Suite("reads of the log")
struct LogFeedTests {
    private let log = ManualLog()
    private let session = SessionID(number: 1)
    private let filter = SubscriptionFilter([]) { _, _ in false }

    private func feed() -> LogFeed { LogFeed { [log] in try await log.read($0) } }

    @Test("requests that arrive during a read share the next read")
    func sharing() async throws {
        let feed = feed()
        async let first: Void = feed.advance()
        #expect(await log.finish("5:5:") == nil)
        try await first
        async let second: Void = feed.advance()
        while log.count < 2 { await Task.yield() }
        async let third: Void = feed.advance()
        async let fourth: Void = feed.advance()
        while await !feed.isReadingRequested { await Task.yield() }
        #expect(await log.finish("6:6:") == SyncCursor("5:5:"))
        try await second
        #expect(await log.finish("7:7:") == SyncCursor("6:6:"))
        _ = try await (third, fourth)
        #expect(log.count == 3)
    }

    @Test("if a read fails, its requests also fail, and the next read begins at the same cursor")
    func failure() async throws {
        struct Broken: Error {}
        let feed = feed()
        async let first: Void = feed.advance()
        await log.finish("5:5:")
        try await first
        let second = Task { try await feed.advance() }
        await log.finish(.failure(Broken()))
        await #expect(throws: Broken.self) { try await second.value }
        async let third: Void = feed.advance()
        #expect(await log.finish("6:6:") == SyncCursor("5:5:"))
        try await third
    }

    @Test("a session with an older cursor gets the result 'behind'; a session with a newer cursor waits for a read")
    func attaching() async throws {
        let feed = feed()
        async let start: Void = feed.advance()
        await log.finish("5:5:")
        try await start
        guard case .behind(let end) = try await feed.attach(session, client: 1, after: SyncCursor("3:3:"), filter)
        else {
            Issue.record("the session is not behind")
            return
        }
        #expect(end == SyncCursor("5:5:") && log.count == 1)
        async let newer = feed.attach(session, client: 1, after: SyncCursor("7:7:"), filter)
        await log.finish("8:8:")
        guard case .behind(SyncCursor("8:8:")) = try await newer else {
            Issue.record("the session does not wait")
            return
        }
        await #expect(throws: LogReaderError.unknownCursor) {
            try await feed.attach(session, client: 1, after: SyncCursor("x"), filter)
        }
    }

    @Test("a reset notifies all sessions and detaches them")
    func reset() async throws {
        let feed = feed()
        let (informed, continuation) = AsyncStream.makeStream(of: Set<SessionID>?.self)
        await feed.observe { continuation.yield($0) }
        async let attached = feed.attach(session, client: 1, after: nil, filter)
        await log.finish("5:5:")
        guard case .batch(let batch) = try await attached, batch.cursor == SyncCursor("5:5:") else {
            Issue.record("the session has no cursor")
            return
        }
        await feed.reset()
        var sessions = informed.makeAsyncIterator()
        // The value nil means all sessions.
        #expect(await sessions.next() == .some(nil))
        #expect(await feed.take(session, after: SyncCursor("5:5:")) == nil)
    }
}
