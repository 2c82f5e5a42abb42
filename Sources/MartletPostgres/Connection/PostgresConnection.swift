#if Postgres
    import Dispatch
    import Foundation
    import Synchronization

    /// A connection to PostgreSQL for asynchronous code. Any task may use the connection.
    ///
    /// The connection has its own thread, which runs the statements. So a statement never blocks a thread of Swift's
    /// concurrency runtime or of Dispatch. If a task is cancelled while its statement runs, a thread of Dispatch asks
    /// the server to stop the statement.
    ///
    /// The connection runs the closures of all `run` calls one after the other. Between two closures of one task, it
    /// may run closures of other tasks. So all statements of a transaction must be in one closure.
    package final class PostgresConnection: Sendable {
        private let thread: SessionThread

        /// Connects to the server.
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
        /// `CancellationError`. If the task is cancelled while the closure runs, the running statement fails with
        /// `queryCanceled`.
        package func run<R: Sendable>(_ body: @escaping @Sendable (PostgresSession) throws -> R) async throws -> R {
            let closure = thread.newClosureNumber()
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    thread.enqueue { [thread] state in
                        continuation.resume(
                            with: Result {
                                guard let session = state.session else {
                                    thread.discard(closure)
                                    throw PostgresError(.connectionFailure, "the connection is closed")
                                }
                                guard thread.begin(closure, session.canceller) else { throw CancellationError() }
                                defer { thread.finish(closure) }
                                return try body(session)
                            })
                    }
                }
            } onCancel: {
                thread.cancel(closure)
            }
        }

        /// The number of `run` calls whose closures have not begun.
        package var waitingCount: Int { thread.pendingCount }

        /// Closes the connection after the closures of all earlier `run` calls have ended. Later calls of `run` throw.
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
            /// The numbers of the closures that have not begun.
            var pending: Set<UInt64> = []
        }

        private let waiting = Mutex(Waiting())
        /// The number of the closure that runs, with the canceller of its session. Nil while no closure runs.
        ///
        /// A thread may acquire the mutex `waiting` while it holds this mutex, but must not acquire this mutex while it
        /// holds `waiting`.
        private let running = Mutex<(closure: UInt64, canceller: PostgresCanceller)?>(nil)
        /// Is signaled once for each job, and once to end the thread.
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

        /// Removes the first waiting job and returns it. Returns nil if no job waits: then the thread must end.
        private func next() -> Job? {
            waiting.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
        }

        func enqueue(_ job: @escaping Job) {
            waiting.withLock { $0.jobs.append(job) }
            signal.signal()
        }

        /// Ends the thread after it has run all jobs that were enqueued before this call.
        func end() { signal.signal() }

        /// Returns the number of a new closure of `PostgresConnection.run`.
        func newClosureNumber() -> UInt64 {
            waiting.withLock {
                $0.lastClosure += 1
                $0.pending.insert($0.lastClosure)
                return $0.lastClosure
            }
        }

        /// Marks a closure as running. Returns false if the closure was cancelled before it began.
        func begin(_ closure: UInt64, _ canceller: PostgresCanceller) -> Bool {
            running.withLock { running in
                guard waiting.withLock({ $0.pending.remove(closure) }) != nil else { return false }
                running = (closure, canceller)
                canceller.allow()
                return true
            }
        }

        var pendingCount: Int { waiting.withLock { $0.pending.count } }

        /// Removes the number of a closure that will not run.
        func discard(_ closure: UInt64) {
            waiting.withLock { _ = $0.pending.remove(closure) }
        }

        func finish(_ closure: UInt64) {
            running.withLock { if $0?.closure == closure { $0 = nil } }
        }

        func cancel(_ closure: UInt64) {
            if waiting.withLock({ $0.pending.remove(closure) }) != nil { return }
            // Sending the request to the server blocks. So a thread of Dispatch sends it, and not the thread that
            // cancels the task.
            DispatchQueue.global().async { [self] in
                // This thread holds the mutex `running` until the server has received the request. Otherwise the next
                // closure could begin, and the request could stop a statement of that closure.
                running.withLock { if let running = $0, running.closure == closure { running.canceller.stop() } }
            }
        }
    }
#endif
