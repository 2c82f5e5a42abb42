import Synchronization

/// Wakes up tasks that wait for a change. Each task waits for the next element of its stream. No wake-up is lost while
/// a task does other work: the next time the task waits, it receives one wake-up for all of them.
///
/// Thread safety: the methods may be called on any thread.
package final class WakeUps: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastNumber = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    package init() {}

    deinit { finish() }

    /// Returns a stream of the wake-ups that are sent from now on. The first element of the stream arrives at once, so
    /// that a task checks the current state before it waits.
    package func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let number: Int? = state.withLock { state in
            if state.isFinished { return nil }
            state.lastNumber += 1
            state.streams[state.lastNumber] = continuation
            return state.lastNumber
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.streams[number] = nil }
        }
        return stream
    }

    /// Wakes up all waiting tasks for the last time, and ends their streams. A stream that is created later ends after
    /// its first element.
    package func finish() {
        let streams = state.withLock { state in
            state.isFinished = true
            defer { state.streams = [:] }
            return Array(state.streams.values)
        }
        for stream in streams {
            stream.yield()
            stream.finish()
        }
    }

    /// Wakes up all waiting tasks.
    package func send() { for stream in state.withLock({ Array($0.streams.values) }) { stream.yield() } }
}
