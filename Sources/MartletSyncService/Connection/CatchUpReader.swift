import MartletSyncProtocol

/// Reads the log for sessions with cursors before the cursor of the feed. Many clients can connect again at once, for
/// example after an instance has failed, and each of them needs the entries since its last connection.
///
/// While one reading runs, further sessions wait. The next reading serves all of them.
actor CatchUpReader {
    /// The cursors of the sessions that share a reading differ by at most this number of transactions. A session with
    /// an older cursor reads the log alone, so that it does not delay the others.
    private static let maximumDistance: UInt64 = 100_000
    /// The maximum number of readings for one group of sessions. If a cursor is not valid, the next reading leaves out
    /// the sessions with the oldest cursor.
    private static let maximumRepetitions = 3

    private typealias Waiting = (
        request: CatchUp.Request, continuation: CheckedContinuation<CatchUp.Outcome, any Error>
    )

    private let limits: CatchUp.Limits
    private let read: @Sendable (CatchUp) async throws -> [CatchUp.Outcome]
    private var waiting: [Waiting] = []
    private var isReading = false

    /// - Parameter read: reads the log between the cursors `start` and `end` of its argument, adds each entry to the
    ///   argument, and returns the outcomes.
    init(limits: CatchUp.Limits, read: @escaping @Sendable (CatchUp) async throws -> [CatchUp.Outcome]) {
        self.limits = limits
        self.read = read
    }

    /// Returns the entries for a session.
    ///
    /// - Throws: the errors of `read`.
    func outcome(_ request: CatchUp.Request) async throws -> CatchUp.Outcome {
        try await withCheckedThrowingContinuation { continuation in
            waiting.append((request, continuation))
            if !isReading {
                isReading = true
                Task { await run() }
            }
        }
    }

    private func run() async {
        while let version = waiting.first?.request.version {
            // Sessions with filters of another catalog wait for their own reading.
            let group = waiting.filter { $0.request.version == version }
            waiting.removeAll { $0.request.version == version }
            let newest = group.reduce(0) { max($0, $1.request.start.xmax) }
            let end = CatchUp.end(group.map(\.request))
            var served: [Waiting] = []
            for session in group {
                let isNear = newest - session.request.start.xmax <= Self.maximumDistance
                if isNear, session.request.end.isContained(in: end) {
                    served.append(session)
                } else {
                    session.continuation.resume(returning: .alone)
                }
            }
            await serve(served)
        }
        isReading = false
    }

    private func serve(_ sessions: [Waiting]) async {
        var served = sessions
        for _ in 0..<Self.maximumRepetitions where !served.isEmpty {
            do {
                let outcomes = try await read(CatchUp(served.map(\.request), limits: limits))
                for (outcome, session) in zip(outcomes, served) { session.continuation.resume(returning: outcome) }
                return
            } catch LogReaderError.unknownCursor {
                // Probably the oldest cursor is not valid. Its sessions read the log alone, and find out.
                let oldest = served.reduce(UInt64.max) { min($0, $1.request.start.xmax) }
                for session in served where session.request.start.xmax == oldest {
                    session.continuation.resume(returning: .alone)
                }
                served.removeAll { $0.request.start.xmax == oldest }
            } catch {
                for session in served { session.continuation.resume(throwing: error) }
                return
            }
        }
        for session in served { session.continuation.resume(returning: .alone) }
    }
}
