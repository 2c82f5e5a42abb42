#if Sync
    import Foundation
    import MartletSync
    import MartletSyncProtocol

    /// A client that speaks the protocol and has no file. Thousands of them fit into one process.
    actor LoadClient {
        struct Failure: Error, CustomStringConvertible {
            let description: String
        }

        private(set) var state = ClientState()
        /// The number of `chunk` messages that were received: the data of new subscriptions.
        private(set) var chunks = 0
        private(set) var answeredMark: UInt64 = 0
        /// The uploads that the service has not acknowledged, by number.
        private var uploads: [UInt64: ClientMessage.Upload] = [:]
        private var session: ClientSession?
        private var outgoing: AsyncStream<ClientMessage>.Continuation?
        private var connection: Task<Void, Never>?
        private var isAccepted = false
        private var failure: Failure?
        private var waiting: [CheckedContinuation<Void, Never>] = []
        /// Called with the rows of each committed batch.
        private let received: @Sendable ([SyncRow]) -> Void

        init(_ received: @escaping @Sendable ([SyncRow]) -> Void = { _ in }) { self.received = received }

        /// Connects, and returns when the service has accepted the client.
        func connect(_ service: ServiceAddress) async throws {
            session = ClientSession(state, schemaHash: service.schemaHash, token: service.token)
            (failure, isAccepted) = (nil, false)
            let (output, outgoing) = AsyncStream.makeStream(of: ClientMessage.self)
            self.outgoing = outgoing
            connection = Task {
                do {
                    try await WebSocketTransport().run(
                        service.url, connected: { await self.begin() }, output: output,
                        received: { await self.receive($0) })
                    self.ended("the service has closed the connection")
                } catch {
                    self.ended("\(error)")
                }
            }
            try await wait { $0.isAccepted }
        }

        func disconnect() async {
            outgoing?.finish()
            connection?.cancel()
            await connection?.value
            session = nil
        }

        private func begin() { if let actions = session?.begin() { perform(actions) } }

        private func ended(_ reason: String) {
            failure = failure ?? Failure(description: reason)
            resumeWaiting()
        }

        private func receive(_ message: ServiceMessage) {
            if case .welcome = message { isAccepted = true }
            if case .chunk = message { chunks += 1 }
            if let actions = session?.receive(message, wall: wallMilliseconds()) { perform(actions) }
            resumeWaiting()
        }

        private func perform(_ actions: [ClientAction]) {
            state = session?.state ?? state
            for action in actions {
                switch action {
                case .send(let message): outgoing?.yield(message)
                case .upload(let number):
                    guard let upload = uploads[number] else { continue }
                    for message in UploadParts.messages(of: upload) { outgoing?.yield(message) }
                case .commit(let batch):
                    uploads = uploads.filter { $0.key > state.acknowledgedUpload }
                    received(Array(batch.rows))
                case .marked(let number): answeredMark = number
                case .save, .renewToken: break
                case .reverted(_, let objects): ended("an upload was reverted: \(objects.first?.message ?? "")")
                case .refused(_, let message): ended(message)
                case .close(let failure): ended(failure.message)
                }
            }
        }

        private func resumeWaiting() {
            for continuation in waiting { continuation.resume() }
            waiting = []
        }

        private func wait(_ condition: (isolated LoadClient) -> Bool) async throws {
            while !condition(self) {
                if let failure { throw failure }
                await withCheckedContinuation { waiting.append($0) }
            }
        }

        // MARK: Work

        /// Subscribes to queries, and returns when their objects were received.
        func subscribe(_ queries: [SubscribedQuery]) async throws {
            guard var session else { return }
            let actions = session.localChange { $0.subscribe(queries) }
            self.session = session
            perform(actions)
            try await wait { $0.state.shown.number == $0.state.wanted.number }
        }

        /// Uploads transactions for some seconds, at most `inFlight` at a time. Returns the number of acknowledged ones.
        func upload(
            seconds: Double, inFlight: Int, _ operations: @Sendable (Int) -> [SyncOperation]
        ) async throws -> Int {
            let start = state.acknowledgedUpload
            let end = ContinuousClock.now + .seconds(seconds)
            var number = 0
            while ContinuousClock.now < end {
                while state.outbox.count < inFlight, var session {
                    number += 1
                    let actions = session.localChange {
                        let upload = $0.write(operations(number), wall: wallMilliseconds())
                        uploads[upload.number] = upload
                    }
                    self.session = session
                    perform(actions)
                }
                try await wait { $0.state.outbox.count < inFlight }
            }
            let count = Int(state.acknowledgedUpload - start)
            try await wait { $0.state.outbox.isEmpty }
            return count
        }

        /// Returns when the client has received everything that was committed before this call.
        func download() async throws {
            let number = answeredMark + 1
            outgoing?.yield(.mark(number))
            try await wait { $0.answeredMark >= number }
        }
    }

    /// The address of a service, and what a client sends to be accepted.
    struct ServiceAddress: Sendable {
        let url: URL
        let schemaHash: [UInt8]
        let token: String
    }

    func wallMilliseconds() -> UInt64 { UInt64(Date().timeIntervalSince1970 * 1_000) }
#endif
