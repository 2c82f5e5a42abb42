#if Postgres
    import Dispatch
    import Foundation
    import Synchronization

    /// A connection to PostgreSQL for asynchronous code. Any task may use it.
    ///
    /// The connection has its own thread, which runs the statements. So neither the threads of Swift's concurrency nor
    /// those of Dispatch wait for a statement. If a task is cancelled while its statement runs, a thread of Dispatch
    /// sends a request to the server to stop the statement.
    ///
    /// The closures that are passed to `run` run one after the other, and are not interleaved. So all statements of a
    /// transaction must be in one closure.
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

        /// Runs the closure on the thread of the connection, after the closures of all earlier calls.
        ///
        /// If the task is cancelled before the closure begins, the closure does not run, and this method throws
        /// `CancellationError`. If the task is cancelled later, the running statement fails with `queryCanceled`.
        package func run<R: Sendable>(_ body: @escaping @Sendable (PostgresSession) throws -> R) async throws -> R {
            let closure = thread.newClosure()
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    thread.enqueue { [thread] state in
                        continuation.resume(
                            with: Result {
                                guard let session = state.session else {
                                    throw PostgresError(.connectionFailure, "the connection is closed")
                                }
                                guard thread.begin(closure, session.canceller) else { throw CancellationError() }
                                defer { thread.end(closure) }
                                return try body(session)
                            })
                    }
                }
            } onCancel: {
                thread.cancel(closure)
            }
        }

        /// Disconnects after the closures of all earlier calls of `run`. Later calls of `run` throw.
        package func close() async {
            await withCheckedContinuation { continuation in
                thread.enqueue { state in
                    state.session = nil
                    continuation.resume()
                }
            }
        }
    }

    /// The state that only the thread of a connection uses.
    private struct SessionState {
        var session: PostgresSession?
    }

    /// A thread that runs jobs one after the other. A job connects, disconnects, or runs a closure of
    /// `PostgresConnection.run`.
    private final class SessionThread: Sendable {
        typealias Job = @Sendable (inout SessionState) -> Void

        // The mutex `waiting` guards all of these properties.
        private struct Waiting {
            var jobs: [Job] = []
            /// The number of the newest closure of `PostgresConnection.run`.
            var lastClosure: UInt64 = 0
            /// The closures that have not begun.
            var pending: Set<UInt64> = []
        }

        private let waiting = Mutex(Waiting())
        /// The closure that runs. A thread that holds the mutex `running` may acquire the mutex `waiting`.
        private let running = Mutex<(closure: UInt64, canceller: PostgresCanceller)?>(nil)
        private let signal = DispatchSemaphore(value: 0)

        init() {
            let thread = Thread { [signal, self] in
                var state = SessionState()
                while true {
                    signal.wait()
                    guard let job = self.next() else { return }
                    job(&state)
                }
            }
            thread.name = "martlet-postgres"
            thread.start()
        }

        /// The next job; nil if the thread must end.
        private func next() -> Job? {
            waiting.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
        }

        func enqueue(_ job: @escaping Job) {
            waiting.withLock { $0.jobs.append(job) }
            signal.signal()
        }

        /// Ends the thread after all jobs that were enqueued before.
        func end() { signal.signal() }

        func newClosure() -> UInt64 {
            waiting.withLock {
                $0.lastClosure += 1
                $0.pending.insert($0.lastClosure)
                return $0.lastClosure
            }
        }

        /// False if the closure was cancelled before it began.
        func begin(_ closure: UInt64, _ canceller: PostgresCanceller) -> Bool {
            running.withLock { running in
                guard waiting.withLock({ $0.pending.remove(closure) }) != nil else { return false }
                running = (closure, canceller)
                canceller.allow()
                return true
            }
        }

        func end(_ closure: UInt64) {
            running.withLock { if $0?.closure == closure { $0 = nil } }
        }

        func cancel(_ closure: UInt64) {
            if waiting.withLock({ $0.pending.remove(closure) }) != nil { return }
            // Sending the request blocks, so it does not happen on the thread that cancels the task.
            DispatchQueue.global().async { [self] in
                // The mutex `running` is held until the server has received the request. Otherwise the request could
                // stop a statement of the next closure.
                running.withLock { if let running = $0, running.closure == closure { running.canceller.stop() } }
            }
        }
    }
#endif
