import MartletSync
import MartletSyncProtocol
import MartletValues

/// A client with its file, its program and its connection.
final class ModelClient {
    let file: any ClientFile
    /// False if a test has damaged the file or the service. Differences are then not a failure.
    var checksCommits = true
    private var session: ClientSession?
    /// The greatest size of the operations in one message of an upload, in bytes.
    private var partBytes = UploadParts.usualBytes
    private var service: ModelServiceSession?
    /// The messages in transit to the service. A connection delivers messages in order, until it breaks.
    private(set) var toService: [ClientMessage] = []
    /// The messages in transit to the client.
    private(set) var toClient: [ServiceMessage] = []
    /// The previous connection. The client has ended it, but the service may still receive messages in transit.
    private var previous: (service: ModelServiceSession, messages: [ClientMessage])?
    private var greatestCursor = -1
    /// The time stamp of the newest write.
    private var newestTime = HybridTimestamp.zero
    /// Milliseconds by which the wall clock is wrong.
    let clockError: Int64
    private(set) var failure: String?
    /// The numbers of the uploads for which the program was notified of reverted changes.
    private var revertedUploads: [UInt64] = []
    /// True after a crash. The program may then have missed a notification of reverted changes.
    private var mayMissNotices = false

    init(_ file: any ClientFile, clockError: Int64) { (self.file, self.clockError) = (file, clockError) }

    var isIdle: Bool { toService.isEmpty && toClient.isEmpty && service?.isBusy != true }

    private func wall(_ now: UInt64) -> UInt64 { UInt64(max(0, Int64(now) + clockError)) }

    private func attempt(_ body: () throws -> Void) {
        do { try body() } catch { fail("\(error)") }
        if let found = file.failure { fail(found) }
    }

    func connect(_ server: ModelServer, splits: Bool) {
        guard session == nil else { return }
        attempt {
            service = ModelServiceSession(server, splits: splits)
            // If `splits` is true, each operation of an upload is sent in a separate message.
            partBytes = splits ? 1 : UploadParts.usualBytes
            let session = ClientSession(try file.load(), schemaHash: [], token: "")
            self.session = session
            try perform(session.begin(), server)
        }
    }

    func disconnect() {
        if let service { previous = (service, toService) }
        (session, service) = (nil, nil)
        (toService, toClient) = ([], [])
    }

    /// Simulates a crash and a new start of the program.
    func crash() {
        disconnect()
        attempt { try file.crash(applying: nil, nil) }
    }

    func write(_ operations: [SyncOperation], _ now: UInt64, _ server: ModelServer, isCancelled: Bool = false) {
        attempt {
            let known = try file.load().lastUpload
            try file.write(operations, wall: wall(now), isCancelled: isCancelled)
            for upload in try file.uploads where upload.number > known {
                if isCancelled { fail("a cancelled write was recorded") }
                if upload.time <= newestTime { fail("the time stamp is not newer") }
                newestTime = upload.time
            }
            try localChange(server)
        }
    }

    func subscribe(_ queries: [SubscribedQuery], _ server: ModelServer) {
        attempt {
            try file.subscribe(queries)
            try localChange(server)
        }
    }

    private func localChange(_ server: ModelServer) throws {
        guard var state = session?.state else { return }
        try file.refresh(&state)
        let actions = session?.localChange { $0 = state } ?? []
        try perform(actions, server)
    }

    /// Delivers one message to the service.
    func deliverToService() {
        guard !toService.isEmpty, let service else { return }
        let bytes = toService.removeFirst().encoded()
        guard let message = try? ClientMessage(bytes) else { return fail("a message cannot be decoded") }
        toClient += service.receive(message)
    }

    /// Runs the waiting task of the service for this client.
    func runTask(_ now: UInt64, _ server: ModelServer, refuses: (SyncOperation) -> Bool) {
        guard let service else { return }
        attempt {
            let uploads = service.waitingUploads
            let upload = try conflictFree(uploads.count == 1 ? uploads[0] : nil, server)
            toClient += service.runTask(now, refuses: refuses)
            if checksCommits, let upload, !upload.operations.contains(where: refuses) {
                try checkEffect(of: upload, server)
            }
        }
    }

    /// Returns the upload if it has no conflicts; otherwise nil. An upload has no conflicts if its base is the newest
    /// version of the server, and the outbox contains no other upload. Returns nil if the upload is already stored.
    private func conflictFree(
        _ upload: ClientMessage.Upload?, _ server: ModelServer
    ) throws -> ClientMessage.Upload? {
        guard let upload, Int(upload.base.text) == server.version else { return nil }
        let state = try file.load()
        let isStored = state.identity.map { server.storedUpload($0.id) >= upload.number } ?? true
        return try isStored || file.uploads != [upload] ? nil : upload
    }

    /// Checks the objects of a stored upload that has no conflicts: they must be equal on the server and in the file.
    private func checkEffect(of upload: ClientMessage.Upload, _ server: ModelServer) throws {
        let rows = try file.objects()
        // Does not check objects of the type `Report`. Because of 'sync: upload', only the creation of these objects is
        // uploaded. Later changes are made only in the file.
        for address in upload.operations.map(\.address) where address.type != Sample.report(0).type {
            let (mine, theirs) = (rows[address], server.rows[address])
            let shown = theirs?.mapValues { $0.shown { rows[$0] != nil } }.normalized
            if mine != shown {
                fail(
                    "after the upload, \(address) is \(String(describing: theirs)) on the server and "
                        + "\(String(describing: mine)) in the file")
            }
        }
    }

    /// Delivers one message that the client has sent over its previous connection, or runs a task of that connection.
    func deliverLate(_ now: UInt64) {
        guard let previous else { return }
        if previous.service.isBusy {
            _ = previous.service.runTask(now, refuses: { _ in false })
        } else if let message = previous.messages.first {
            self.previous?.messages.removeFirst()
            _ = previous.service.receive(message)
        }
    }

    func audit() { toClient += service?.audit() ?? [] }

    func poll() { toClient += service?.poll() ?? [] }

    func tick(_ now: UInt64) { toClient += service?.tick(now) ?? [] }

    /// What happens while a client handles a message.
    enum Event {
        case none
        /// The client crashes before it commits the changes of the message.
        case crash
        /// The program writes before the client commits the changes of the message.
        case write([SyncOperation])
    }

    /// Delivers one message to the client.
    func deliverToClient(_ now: UInt64, _ event: Event, _ server: ModelServer) {
        guard !toClient.isEmpty else { return }
        let bytes = toClient.removeFirst().encoded()
        guard let message = try? ServiceMessage(bytes) else { return fail("a message cannot be decoded") }
        // The service may end a connection, for example because the client did not send 'hello' in time.
        if case .failure(let failure) = message, failure.action == .retry { return disconnect() }
        if case .failure(let failure) = message, failure.action == .startAgain, server.damage != nil {
            disconnect()
            greatestCursor = -1
            return attempt { try file.startAgain() }
        }
        let actions = session?.receive(message, wall: wall(now)) ?? []
        attempt {
            switch event {
            case .none:
                try perform(actions, server)
                // The acknowledgement of uploads makes room for uploads that were not loaded yet.
                if session?.state.hasMoreUploads ?? false { try localChange(server) }
            case .crash:
                let batch = actions.lazy.compactMap { if case .commit(let batch) = $0 { batch } else { nil } }.first
                let state = session?.state
                mayMissNotices = true
                disconnect()
                try file.crash(applying: batch, state)
            case .write(let operations):
                try file.write(operations, wall: wall(now), isCancelled: false)
                try perform(actions, server)
                try localChange(server)
            }
        }
    }

    private func perform(_ actions: [ClientAction], _ server: ModelServer) throws {
        for action in actions {
            switch action {
            case .send(let message): toService.append(message)
            case .upload(let number):
                guard let upload = try file.uploads.first(where: { $0.number == number }) else {
                    fail("the upload \(number) is not in the outbox")
                    continue
                }
                toService += UploadParts.messages(of: upload, maximumBytes: partBytes)
            case .save: if let state = session?.state { try file.save(state) }
            case .commit(let batch):
                guard let state = session?.state else { continue }
                try file.commit(batch, state)
                if checksCommits { try check(server) }
            case .sums(let audit):
                guard let state = session?.state else { continue }
                toService.append(.sums(audit: audit, try file.sums(at: state)))
            case .close(let failure): fail("the session was closed: \(failure.message)")
            case .reverted(let upload, _): revertedUploads.append(upload)
            case .refused, .marked, .renewToken: break
            }
        }
    }

    // MARK: Invariants

    /// Checks that the file contains the objects of the subscriptions, with the values of the server at the cursor of
    /// the client. Does not compare values that unacknowledged uploads have written.
    private func check(_ server: ModelServer) throws {
        let (stored, rows) = (try file.load(), try file.objects())
        guard let cursor = stored.position.flatMap({ Int($0.cursor.text) }) else { return }
        if cursor < greatestCursor { fail("the client goes back from version \(greatestCursor) to \(cursor)") }
        greatestCursor = cursor
        let expected = server.history[cursor].filter {
            ModelServiceSession.matches(stored.shown.queries, $0.key, $0.value)
        }
        let uploads = try file.uploads
        let mask = UploadMask(uploads)
        for address in Set(expected.keys).union(rows.keys) where !mask.contains(address) {
            guard let mine = rows[address], let theirs = expected[address] else {
                return fail("\(address) is \(rows[address] == nil ? "not " : "")in the file at version \(cursor)")
            }
            for path in Set(mine.keys).union(theirs.keys) where !agrees(mine[path], theirs[path], rows, mask) {
                return fail(
                    "\(address) \(path.properties) is \(String(describing: mine[path])) instead of "
                        + "\(String(describing: theirs[path])) at version \(cursor)")
            }
        }
        checkOwnWrites(uploads, rows, mask)
        checkCounters(uploads, rows, expected)
        checkOwnElements(uploads, rows, mask)
    }

    // Checks that each counter shows the value of the server plus the additions in the outbox.
    private func checkCounters(_ uploads: [ClientMessage.Upload], _ rows: ModelRows, _ expected: ModelRows) {
        let operations = uploads.flatMap(\.operations)
        let replaced = operations.compactMap { operation in
            switch operation {
            case .create(let address, _), .delete(let address): address
            default: nil
            }
        }
        for (address, values) in rows {
            guard let theirs = expected[address], !replaced.contains(address) else { continue }
            for path in Sample.counters where values[path] != nil {
                var shown = theirs
                for case .add(address, path, let amount) in operations { shown.add(amount, at: path) }
                if values[path] != shown[path] {
                    return fail(
                        "the counter of \(address) is \(String(describing: values[path])) instead of "
                            + "\(String(describing: shown[path]))")
                }
            }
        }
    }

    // Compares a value in the file with a value of the server. A link is shown if its target is in the file. If an
    // upload in the outbox has created the target, the link may be missing until the upload is acknowledged.
    func agrees(_ mine: SyncValue?, _ theirs: SyncValue?, _ rows: ModelRows, _ mask: UploadMask) -> Bool {
        let shown = [theirs?.shown { rows[$0] != nil }, theirs?.shown { rows[$0] != nil && !mask.contains($0) }]
        if let mine = mine?.embeddedElements, let theirs = theirs?.embeddedElements {
            // Each embedded object contains at most one link, so an element is equal to one of the two values.
            return mine.map(\.key) == theirs.map(\.key)
                && zip(mine, theirs).allSatisfy { agrees($0.value, $1.value, rows, mask) }
        }
        if let all = shown[0]?.elements, let certain = shown[1]?.elements, let mine = mine?.elements {
            return Set(certain).isSubset(of: mine) && Set(mine).isSubset(of: all)
        }
        return shown.contains { $0?.isEmptyCollection ?? true ? mine == nil || mine == $0 : mine == $0 }
    }

    // Checks that the file shows the newest values that the uploads in the outbox have written. Does not check objects
    // that a later upload has deleted.
    private func checkOwnWrites(_ uploads: [ClientMessage.Upload], _ rows: ModelRows, _ mask: UploadMask) {
        var written: ModelRows = [:]
        func add(_ address: ObjectAddress, _ values: ModelValues) {
            for (path, value) in values {
                for known in (written[address] ?? [:]).keys where known.overlaps(path) {
                    written[address]?[known] = nil
                }
                written[address, default: [:]][path] = value
            }
        }
        for operation in uploads.flatMap(\.operations) where operation.address.type != Sample.report(0).type {
            switch operation {
            case .create(let address, let values): add(address, values)
            case .update(let address, let values) where rows[address] != nil: add(address, values)
            case .delete(let address): written[address] = nil
            case .add(let address, let path, let amount):
                if written[address]?[path] != nil { written[address]?.add(amount, at: path) }
            default: break
            }
        }
        for (address, values) in written {
            for (path, value) in values where !agrees(rows[address]?.value(at: path), value, rows, mask) {
                return fail("the write of the client, \(address) \(path.properties) = \(value), is not shown")
            }
        }
    }

    /// Checks the client after all messages were delivered. The file must then contain the objects of the
    /// subscriptions, and the outbox must be empty.
    func checkAtRest(_ server: ModelServer) {
        attempt {
            // After a repair, the client has loaded its data again, and may have missed a notice.
            let mayMissNotices = mayMissNotices || !checksCommits
            try check(server)
            let (stored, rows) = (try file.load(), try file.objects())
            let uploads = try file.uploads
            if !uploads.isEmpty { fail("\(uploads.count) uploads are left") }
            if stored.shown != stored.wanted { fail("the newest subscriptions are not complete") }
            let expected = server.rows.filter { ModelServiceSession.matches(stored.wanted.queries, $0.key, $0.value) }
            let shown = expected.mapValues { $0.mapValues { $0.shown { expected[$0] != nil } }.normalized }
            if rows != shown { fail("the client differs from the server at rest") }
            let expectedReverts = stored.identity.map { server.revertedUploads($0.id) } ?? []
            if Set(revertedUploads).count < revertedUploads.count { fail("a notice of reverted changes was repeated") }
            if !mayMissNotices, Set(revertedUploads) != expectedReverts {
                fail("notices of the uploads \(revertedUploads) instead of \(expectedReverts.sorted())")
            }
        }
    }

    func fail(_ message: String) { failure = failure ?? message }
}
