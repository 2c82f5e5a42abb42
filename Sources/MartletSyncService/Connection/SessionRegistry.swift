import MartletSyncProtocol
import Synchronization

/// The open sessions of a service.
package final class SessionRegistry: Sendable {
    private struct State {
        var sessions: [SessionID: SessionDriver] = [:]
        /// True after `endAll`. The registry then refuses new sessions.
        var isClosed = false
    }

    private let state = Mutex(State())

    package init() {}

    package var count: Int { state.withLock { $0.sessions.count } }

    /// Adds a session. Returns false, without adding it, after `endAll`.
    package func add(_ session: SessionDriver) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.sessions[session.id] = session
            return true
        }
    }

    package func remove(_ session: SessionDriver) { state.withLock { $0.sessions[session.id] = nil } }

    /// Informs sessions that the log may have new entries for them.
    ///
    /// - Parameter ids: the sessions; nil for all.
    package func logChanged(_ ids: Set<SessionID>?) async {
        guard let ids else {
            for session in all { await session.logChanged() }
            return
        }
        let sessions = state.withLock { state in ids.compactMap { state.sessions[$0] } }
        for session in sessions { await session.logChanged() }
    }

    /// Calls `tick` of all sessions.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func tick(_ now: UInt64) async { for session in all { await session.tick(now) } }

    /// Ends all sessions, asks their clients to connect again, and refuses new sessions. Each client gets a random
    /// delay, so that the clients do not all connect to the remaining instances at once.
    package func endAll(maximumDelayMilliseconds: UInt64 = 5_000) async {
        state.withLock { $0.isClosed = true }
        for session in all {
            await session.end(
                .retry, "the service shuts down", delayMilliseconds: .random(in: 0...maximumDelayMilliseconds))
        }
    }

    /// The open sessions.
    package var all: [SessionDriver] { state.withLock { Array($0.sessions.values) } }
}
