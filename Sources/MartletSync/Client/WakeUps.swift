import Synchronization

/// Wakes up tasks that wait for a change. Wake-ups that are sent while a task works are not lost: when the task waits
/// again, it receives one wake-up for all of them.
///
/// Thread safety: the methods may be called on any thread.
package final class WakeUps: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())

    package init() {}

    deinit { for stream in state.withLock({ $0.streams.values.map { $0 } }) { stream.finish() } }

    /// Returns the wake-ups from now on. The first element is delivered at once, so that a task checks the current
    /// state before it waits.
    package func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let number = state.withLock { state in
            state.lastNumber += 1
            state.streams[state.lastNumber] = continuation
            return state.lastNumber
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.streams[number] = nil }
        }
        return stream
    }

    package func send() { for stream in state.withLock({ Array($0.streams.values) }) { stream.yield() } }
}
