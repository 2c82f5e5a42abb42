#if Postgres
    import Dispatch
    import Foundation
    import Synchronization

    /// A connection to PostgreSQL for asynchronous code. Any task may use it.
    ///
    /// The connection has a thread, on which all calls that block run. So neither the threads of Swift's concurrency nor
    /// those of Dispatch wait for PostgreSQL. Blocks of work run one after the other, each without interruption: a
    /// transaction is one block.
    package final class PostgresConnection: Sendable {
        private let thread: SessionThread

        /// Connects.
        ///
        /// - Parameter address: a connection string or URI as libpq defines it.
        package init(_ address: String) async throws {
            thread = SessionThread()
            try await withCheckedThrowingContinuation { continuation in
                thread.enqueue { state in
                    continuation.resume(with: Result { state.session = try PostgresSession(address) })
                }
            }
        }

        deinit { thread.end() }

        /// Runs the closure on the thread of the connection, after all blocks that were passed before.
        ///
        /// If the task is cancelled, a statement that the closure runs fails with `queryCanceled`, and a closure that has
        /// not begun does not run.
        package func run<R: Sendable>(_ body: @escaping @Sendable (PostgresSession) throws -> R) async throws -> R {
            let block = thread.newBlock()
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    thread.enqueue { [thread] state in
                        continuation.resume(
                            with: Result {
                                guard let session = state.session else {
                                    throw PostgresError(.connectionFailure, "the connection is closed")
                                }
                                guard thread.begin(block, session.canceller) else { throw CancellationError() }
                                defer { thread.end(block) }
                                return try body(session)
                            })
                    }
                }
            } onCancel: {
                thread.cancel(block)
            }
        }

        /// Disconnects after the blocks that were passed before. Later blocks throw.
        package func close() async {
            await withCheckedContinuation { continuation in
                thread.enqueue { state in
                    state.session = nil
                    continuation.resume()
                }
            }
        }
    }

    /// What only the thread of a connection uses.
    private struct SessionState {
        var session: PostgresSession?
    }

    /// A thread that runs blocks one after the other.
    private final class SessionThread: Sendable {
        typealias Block = @Sendable (inout SessionState) -> Void

        // Guarded by the lock: all of these.
        private struct Waiting {
            var blocks: [Block] = []
            var lastBlock: UInt64 = 0
            var running: (block: UInt64, canceller: PostgresCanceller)?
            /// Blocks that have not begun.
            var pending: Set<UInt64> = []
        }

        private let waiting = Mutex(Waiting())
        private let signal = DispatchSemaphore(value: 0)

        init() {
            let thread = Thread { [signal, self] in
                var state = SessionState()
                while true {
                    signal.wait()
                    guard let block = self.next() else { return }
                    block(&state)
                }
            }
            thread.name = "martlet-postgres"
            thread.start()
        }

        /// The next block; nil at the end.
        private func next() -> Block? {
            waiting.withLock { $0.blocks.isEmpty ? nil : $0.blocks.removeFirst() }
        }

        func enqueue(_ block: @escaping Block) {
            waiting.withLock { $0.blocks.append(block) }
            signal.signal()
        }

        /// Ends the thread after the blocks that were passed before.
        func end() { signal.signal() }

        func newBlock() -> UInt64 {
            waiting.withLock {
                $0.lastBlock += 1
                $0.pending.insert($0.lastBlock)
                return $0.lastBlock
            }
        }

        /// False if the block was cancelled before it began.
        func begin(_ block: UInt64, _ canceller: PostgresCanceller) -> Bool {
            waiting.withLock {
                guard $0.pending.remove(block) != nil else { return false }
                $0.running = (block, canceller)
                canceller.allow()
                return true
            }
        }

        func end(_ block: UInt64) {
            waiting.withLock { if $0.running?.block == block { $0.running = nil } }
        }

        // The lock is held until the server has received the request, so that it cannot stop a statement of the next block.
        func cancel(_ block: UInt64) {
            waiting.withLock {
                if let running = $0.running, running.block == block { return running.canceller.stop() }
                $0.pending.remove(block)
            }
        }
    }
#endif
