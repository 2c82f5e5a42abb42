#if Postgres
    import Foundation
    import MartletSync
    import MartletSyncProtocol

    /// A client without a file. The objects and the state of the client are in memory.
    actor MemoryClient {
        private(set) var rows: [ObjectAddress: [ValuePath: SyncValue]] = [:]
        private(set) var state = ClientState()
        private var uploads: [ClientMessage.Upload] = []
        private(set) var reverted: [RevertedObject] = []
        private(set) var refusals: [String] = []
        private var session: ClientSession?
        private var outgoing: AsyncStream<ClientMessage>.Continuation?
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private let token: String
        private let schemaHash: [UInt8]
        private let schema: AgreedSchema?

        /// - Parameters:
        ///   - schemaHash: identifies the schema of the client.
        ///   - schema: the types of the client, for audits. Without it, the client sends no checksums.
        init(_ schemaHash: [UInt8], token: String = "ada", schema: AgreedSchema? = nil) {
            self.schemaHash = schemaHash
            self.token = token
            self.schema = schema
        }

        /// Removes an object without an upload.
        func lose(_ address: ObjectAddress) { rows[address] = nil }

        private var sums: RowSums? {
            guard let schema, state.outbox.isEmpty, state.shown.number > 0 else { return nil }
            var summer = RowSummer(schema)
            for (address, values) in rows { summer.add(SyncRow(address: address, values: values)) }
            return summer.sums
        }

        /// Synchronizes until the connection ends.
        func synchronize(_ url: URL) async throws {
            let (stream, continuation) = AsyncStream.makeStream(of: ClientMessage.self)
            defer { continuation.finish() }
            try await clientTransport.run(url, connected: { await self.begin(continuation) }, output: stream) {
                await self.receive($0)
            }
        }

        /// Writes in one local transaction.
        func write(_ operations: [SyncOperation]) {
            for operation in operations {
                switch operation {
                case .create(let address, let values), .update(let address, let values):
                    rows[address, default: [:]].merge(values) { $1 }
                default: rows[operation.address] = nil
                }
            }
            change { uploads.append($0.write(operations, wall: Self.now)) }
        }

        func subscribe(_ queries: [SubscribedQuery]) { change { $0.subscribe(queries) } }

        /// Waits until the condition holds. Checks the condition again after each message from the service.
        func wait(until condition: @Sendable (MemoryClient) async -> Bool) async {
            while await !condition(self) { await withCheckedContinuation { waiting.append($0) } }
        }

        private static var now: UInt64 { UInt64(Date().timeIntervalSince1970 * 1_000) }

        private func begin(_ continuation: AsyncStream<ClientMessage>.Continuation) {
            outgoing = continuation
            let session = ClientSession(state, schemaHash: schemaHash, token: token)
            self.session = session
            perform(session.begin())
        }

        private func receive(_ message: ServiceMessage) {
            perform(session?.receive(message, wall: Self.now) ?? [])
            waiting.forEach { $0.resume() }
            waiting = []
        }

        private func change(_ body: (inout ClientState) -> Void) {
            guard session != nil else { return body(&state) }
            let actions = session?.localChange(body) ?? []
            state = session?.state ?? state
            perform(actions)
        }

        private func perform(_ actions: [ClientAction]) {
            for action in actions {
                switch action {
                case .send(let message): outgoing?.yield(message)
                case .upload(let number):
                    for upload in uploads where upload.number == number {
                        for message in UploadParts.messages(of: upload) { outgoing?.yield(message) }
                    }
                case .save: state = session?.state ?? state
                case .commit(let batch):
                    state = session?.state ?? state
                    uploads.removeAll { $0.number <= state.acknowledgedUpload }
                    let batch = UploadMask(uploads).masked(batch)
                    for address in batch.leaving { rows[address] = nil }
                    for row in batch.rows { rows[row.address, default: [:]].merge(row.values) { $1 } }
                case .reverted(_, let objects): reverted += objects
                case .sums(let audit): outgoing?.yield(.sums(audit: audit, sums))
                case .close: outgoing?.finish()
                case .refused(_, let message): refusals.append(message)
                case .marked, .renewToken: break
                }
            }
        }
    }
#endif
