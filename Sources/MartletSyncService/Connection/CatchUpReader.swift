import MartletSyncProtocol

/// Reads the log for sessions whose cursors are before the cursor of the feed. Many clients can connect again at once,
/// for example after an instance has failed, and each of them needs the entries since its last connection.
///
/// While one reading runs, further sessions wait. The next reading serves all of them.
actor CatchUpReader {
    /// The sessions of one reading have cursors that differ by at most this number of transactions. So a client that
    /// was not connected for days does not delay the others.
    private static let maximumDistance: UInt64 = 100_000

    private let maximumBytes: Int
    private let read: @Sendable (CatchUp) async throws -> [ClientBatch?]
    private var waiting: [(request: CatchUp.Request, continuation: CheckedContinuation<ClientBatch?, any Error>)] = []
    private var isReading = false

    /// - Parameters:
    ///   - maximumBytes: the greatest size of the row images in the entries for one session.
    ///   - read: reads the log from the start to the end of the argument, adds each entry to it, and returns its
    ///     batches.
    init(maximumBytes: Int, read: @escaping @Sendable (CatchUp) async throws -> [ClientBatch?]) {
        self.maximumBytes = maximumBytes
        self.read = read
    }

    /// Returns the entries for a session.
    ///
    /// - Returns: Nil if the session has to read the log alone: the cursor of another session may be invalid.
    /// - Throws: `LogReaderError.tooManyChanges`; the errors of `read`.
    func batch(_ request: CatchUp.Request) async throws -> ClientBatch? {
        try await withCheckedThrowingContinuation { continuation in
            waiting.append((request, continuation))
            if !isReading {
                isReading = true
                Task { await run() }
            }
        }
    }

    private func run() async {
        while !waiting.isEmpty {
            let newest = waiting.reduce(0) { max($0, $1.request.start.xmin) }
            let served = waiting.filter { newest - $0.request.start.xmin <= Self.maximumDistance }
            waiting.removeAll { newest - $0.request.start.xmin <= Self.maximumDistance }
            await serve(served)
        }
        isReading = false
    }

    private func serve(
        _ served: [(request: CatchUp.Request, continuation: CheckedContinuation<ClientBatch?, any Error>)]
    ) async {
        do {
            let batches = try await read(CatchUp(served.map(\.request), maximumBytes: maximumBytes))
            for (batch, (_, continuation)) in zip(batches, served) {
                if let batch {
                    continuation.resume(returning: batch)
                } else {
                    continuation.resume(throwing: LogReaderError.tooManyChanges)
                }
            }
        } catch LogReaderError.unknownCursor where served.count > 1 {
            for (_, continuation) in served { continuation.resume(returning: nil) }
        } catch {
            for (_, continuation) in served { continuation.resume(throwing: error) }
        }
    }
}
