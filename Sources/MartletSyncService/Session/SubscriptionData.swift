package import MartletSyncProtocol
import Synchronization

/// The difference between two sets of subscriptions at one snapshot: the objects that enter the subscriptions, with all
/// of their values, and the addresses of the objects that leave them. The data is stored as encoded `chunk` messages,
/// because the objects of a subscription may need more memory than the service has.
///
/// A reader can take messages while a `Writer` still adds messages. The writer never waits for the reader, so a slow
/// client does not keep a transaction open.
///
/// Thread safety: all methods may be called on any thread.
package final class SubscriptionData: Sendable {
    /// The reason why the data is not complete.
    package struct Incomplete: Error {}

    package enum Next: Sendable {
        /// An encoded message.
        case message([UInt8])
        /// The next message does not exist yet. See `available`.
        case notYet
        /// All messages were taken.
        case end
    }

    private struct State {
        var end: Result<Void, Incomplete>?
        var isCancelled = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let messages: ByteSpool
    private let state = Mutex(State())

    package init(spool: ByteSpool = ByteSpool()) { messages = spool }

    /// The total size of the messages that were not taken yet.
    package var remainingBytes: Int { messages.remainingBytes }

    /// True if no further messages will be added.
    package var isEnded: Bool { state.withLock { $0.end != nil } }

    fileprivate var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Removes and returns the next message.
    ///
    /// - Throws: `ByteSpool.FileError`; `Incomplete` after all messages if the writer has failed.
    package func next() throws -> Next {
        let end = state.withLock { $0.end }
        if let message = try messages.next() { return .message(message) }
        guard let end else { return .notYet }
        try end.get()
        return .end
    }

    /// Waits until `next` does not return `notYet`.
    package func available() async { await wait { [messages] in $0.end != nil || messages.remainingBytes > 0 } }

    /// Waits until no further messages will be added.
    package func ended() async { await wait { $0.end != nil } }

    /// Cancels the writer, because the messages are not needed.
    package func cancel() {
        resumeWaiting { state in
            state.isCancelled = true
            state.end = state.end ?? .failure(Incomplete())
        }
    }

    /// Called if the writer cannot add all messages. Has no effect after `Writer.finish`.
    package func fail() { end(.failure(Incomplete())) }

    func append(_ message: [UInt8]) throws {
        try messages.append(message)
        resumeWaiting { _ in }
    }

    func end(_ result: Result<Void, Incomplete>) { resumeWaiting { $0.end = $0.end ?? result } }

    private func resumeWaiting(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func wait(_ condition: (State) -> Bool) async {
        while !state.withLock({ condition($0) }) {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if !condition(state) { state.waiting.append(continuation) }
                    return condition(state)
                }
                if isReady { continuation.resume() }
            }
        }
    }
}

extension SubscriptionData {
    /// Encodes the messages of a `SubscriptionData`.
    package struct Writer {
        package let data: SubscriptionData
        /// The fraction of the objects that was read, from 0 to 999. The last message has the progress 1,000.
        package var progress = 0
        /// The number of objects that enter the subscriptions.
        package private(set) var rowCount = 0
        private let maximumBytes: Int
        private var rows = MessageWriter()
        private var messageRowCount = 0
        private var leaving = MessageWriter()
        private var leavingCount = 0

        /// - Parameter maximumBytes: the size of a message. A larger row has a message of its own.
        package init(_ data: SubscriptionData = SubscriptionData(), maximumBytes: Int = 256 << 10) {
            self.data = data
            self.maximumBytes = maximumBytes
        }

        /// Throws `CancellationError` if the data is not needed.
        package func requireNeeded() throws { if data.isCancelled { throw CancellationError() } }

        /// Adds an object that enters the subscriptions.
        package mutating func add(_ row: SyncRow) throws {
            var writer = MessageWriter()
            writer.row(row)
            try makeSpace(writer)
            rows.append(writer)
            messageRowCount += 1
            rowCount += 1
        }

        /// Adds an object that leaves the subscriptions.
        package mutating func add(leaving address: ObjectAddress) throws {
            var writer = MessageWriter()
            writer.address(address)
            try makeSpace(writer)
            leaving.append(writer)
            leavingCount += 1
        }

        /// Adds the last message. There is always at least one message.
        package mutating func finish() throws {
            progress = 1_000
            try endMessage()
            data.end(.success(()))
        }

        private mutating func makeSpace(_ next: MessageWriter) throws {
            let size = rows.bytes.count + leaving.bytes.count
            if size > 0, size + next.bytes.count > maximumBytes { try endMessage() }
        }

        private mutating func endMessage() throws {
            var message = MessageWriter()
            message.chunk(rows, count: messageRowCount, leaving: leaving, leavingCount: leavingCount)
            message.number(UInt64(progress))
            try data.append(message.bytes)
            (rows, messageRowCount, leaving, leavingCount) = (MessageWriter(), 0, MessageWriter(), 0)
        }
    }
}
