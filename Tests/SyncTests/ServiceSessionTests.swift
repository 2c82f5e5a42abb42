import MartletSyncProtocol
import MartletValues
import Testing

@testable import MartletSyncService

@Suite("sessions of the service")
struct ServiceSessionTests {
    private static let query = SubscribedQuery(type: 0, condition: [1])
    private static let address = ObjectAddress(type: 0, key: .integer(1))
    private static let values = [ValuePath(0): SyncValue.scalar(.integer(5))]

    /// A session in which each query matches all objects. The session refuses queries with the condition `[0]`.
    private func session(_ adjust: (inout ServiceSession.Limits) -> Void = { _ in }) -> ServiceSession {
        var limits = ServiceSession.Limits()
        adjust(&limits)
        return ServiceSession(limits: limits) { queries, _ throws(RefusedQueries) in
            if queries.contains(where: { $0.condition == [0] }) { throw RefusedQueries("not allowed") }
            return SubscriptionFilter(queries) { _, _ in !queries.isEmpty }
        }
    }

    private func hello(
        version: UInt64 = SyncProtocol.version, position: SyncPosition? = nil, queries: [SubscribedQuery] = [query]
    ) -> ClientMessage {
        .hello(
            .init(
                protocolVersion: version, identity: nil, schemaHash: [], position: position, acknowledgedUpload: 0,
                subscriptionSet: 0, queries: queries, token: "token"))
    }

    private func upload(_ number: UInt64) -> ClientMessage {
        .upload(.init(number: number, base: SyncCursor("1"), time: HybridTimestamp(rawValue: 1), operations: []))
    }

    private func opened(epoch: String = "a") -> ServiceTaskResult {
        .opened(
            OpenedClient(
                identity: ClientIdentity(id: 7, secret: [1]), epoch: epoch, milliseconds: 1_000, storedUpload: 0))
    }

    private func batch(_ cursor: String, _ entries: [LogEntry] = [], stored: UInt64 = 0) -> ClientBatch {
        ClientBatch(cursor: SyncCursor(cursor), entries: entries, storedUpload: stored)
    }

    private func inserted(_ key: Int64) -> LogEntry {
        LogEntry(address: ObjectAddress(type: 0, key: .integer(key)), old: nil, new: Self.values, origin: nil)
    }

    /// A session that has sent its first changes, up to the cursor "1".
    private func openSession(
        expiration: UInt64? = nil, _ adjust: (inout ServiceSession.Limits) -> Void = { _ in }
    ) -> ServiceSession {
        var session = session(adjust)
        _ = session.receive(hello())
        _ = session.finish(.authenticated(.init(id: "ada", expiration: expiration)))
        _ = session.finish(opened())
        _ = session.finish(.read(batch("1")))
        return session
    }

    private func text(_ actions: [ServiceAction]) -> [String] {
        actions.flatMap { action in
            if case .sendData(let data) = action { return data.takeMessages().map { text(.send($0)) } }
            return [text(action)]
        }
    }

    private func text(_ action: ServiceAction) -> String {
        switch action {
        case .send(.welcome): "welcome"
        case .send(.changes(let changes)):
            "changes to \(changes.cursor.text), upload \(changes.acknowledgedUpload), \(changes.rows.count) rows"
                + (changes.isLast ? "" : ", more")
        case .send(.chunk(let rows, let leaving, let progress)):
            "chunk of \(rows.count), \(leaving.count) leave, \(progress)"
        case .send(.complete(let set, let cursor)): "complete \(set) at \(cursor.text)"
        case .send(.refused(let set, let message)): "refused \(set): \(message)"
        case .send(.mark(let number)): "mark \(number)"
        case .send(.reverted(let upload, let objects)): "reverted \(objects.count) of \(upload)"
        case .send(.tokenDue): "token due"
        case .send(.failure(let failure)): "failure \(failure.action): \(failure.message)"
        case .run(.authenticate(let token)): "authenticate \(token)"
        case .run(.open): "open"
        case .run(.read(let cursor, _, _)): "read after \(cursor?.text ?? "nothing")"
        case .run(.change(let cursor, let former, let new)):
            "change after \(cursor.text) from \(former.count) to \(new.count)"
        case .run(.store(let uploads)):
            "store "
                + uploads.map { upload in
                    "\(upload.number)" + (upload.operations.isEmpty ? "" : ", \(upload.operations.count) operations")
                }.joined(separator: " and ")
        case .send(.audit(let number, let cursor)): "audit \(number) at \(cursor.text)"
        case .run(.sum(let cursor, let queries)): "sum of \(queries.count) queries after \(cursor.text)"
        case .run(.record(let result)):
            "record \(result.audit), \(result.rowCount) rows, "
                + (result.differences.map { "\($0.count) differences" } ?? "not comparable")
        case .close: "close"
        case .sendData: "data"
        }
    }

    private func sums(_ checksum: UInt64) -> RowSums {
        var sums = RowSums()
        sums.add(RowSums.BucketID(type: 0, number: 3), checksum: checksum)
        return sums
    }

    @Test("before an audit, a client gets the changes up to the snapshot; if checksums differ, it loads its data again")
    func audit() {
        var session = openSession()
        #expect(session.audit(4).isEmpty, "an older client would not understand the message")
        session.supportsAudits = true
        #expect(text(session.audit(4)) == ["sum of 1 queries after 1"])
        #expect(session.isAuditing && session.audit(5).isEmpty, "one audit at a time")
        #expect(
            text(session.finish(.summed(batch("2", [inserted(1)]), sums(1)))) == [
                "changes to 2, upload 0, 1 rows", "audit 4 at 2",
            ])
        #expect(text(session.receive(.sums(audit: 4, nil))) == ["record 4, 1 rows, not comparable"])
        #expect(session.finish(.recorded(repairs: false)).isEmpty && !session.isAuditing)
        for checksum in [1, 2] as [UInt64] {
            _ = session.audit(6)
            _ = session.finish(.summed(batch("3"), sums(1)))
            let count = checksum == 1 ? 0 : 1
            #expect(
                text(session.receive(.sums(audit: 6, sums(checksum)))) == ["record 6, 1 rows, \(count) differences"])
            let actions = text(session.finish(.recorded(repairs: count > 0)))
            #expect(
                actions
                    == (count == 0
                        ? [] : ["failure startAgain: an audit has found differences in 1 parts of the file", "close"]))
        }
        #expect(!session.isAuditing)
    }

    @Test("the session ends if a client sends checksums that the service has not asked for")
    func unexpectedSums() {
        var session = openSession()
        session.supportsAudits = true
        #expect(
            text(session.receive(.sums(audit: 4, sums(1)))) == [
                "failure stop: the client sent a message that is not expected now", "close",
            ])
    }

    @Test("a client is authenticated and opened, gets a welcome, and then the changes since its position")
    func opening() {
        var session = session()
        let position = SyncPosition(epoch: "a", cursor: SyncCursor("3"))
        #expect(text(session.receive(hello(position: position))) == ["authenticate token"])
        #expect(text(session.finish(.authenticated(.init(id: "ada")))) == ["open"])
        #expect(text(session.finish(opened())) == ["welcome", "read after 3"])
        #expect(text(session.finish(.read(batch("5", [inserted(1)])))) == ["changes to 5, upload 0, 1 rows"])
    }

    @Test("a client that starts again gets its first position with the number of its newest stored upload Y12")
    func restartedClient() {
        var session = session()
        _ = session.receive(hello())
        _ = session.finish(.authenticated(.init(id: "ada")))
        var client = OpenedClient(
            identity: ClientIdentity(id: 7, secret: [1]), epoch: "a", milliseconds: 1_000, storedUpload: 6)
        client.reverted = [RevertedUpload(number: 6, objects: [])]
        #expect(text(session.finish(.opened(client))) == ["welcome", "read after nothing"])
        #expect(text(session.finish(.read(batch("5")))).last == "changes to 5, upload 6, 0 rows")
    }

    @Test("a client without a position gets the current position, and no earlier entries of the log")
    func withoutPosition() {
        var session = session()
        _ = session.receive(hello())
        _ = session.finish(.authenticated(.init(id: "ada")))
        #expect(text(session.finish(opened())) == ["welcome", "read after nothing"])
        #expect(text(session.finish(.read(batch("5", [inserted(1)])))) == ["changes to 5, upload 0, 0 rows"])
    }

    @Test("the session ends after a wrong epoch, a wrong protocol version, refused queries or too many queries")
    func refusedHello() {
        var old = session()
        _ = old.receive(hello(position: SyncPosition(epoch: "b", cursor: SyncCursor("3"))))
        _ = old.finish(.authenticated(.init(id: "ada")))
        #expect(text(old.finish(opened())) == ["failure startAgain: the database was restored or replaced", "close"])
        var newer = session()
        #expect(text(newer.receive(hello(version: 9))).first?.contains("version 9 of the protocol") == true)
        var refused = session()
        _ = refused.receive(hello(queries: [SubscribedQuery(type: 0, condition: [0])]))
        _ = refused.finish(.authenticated(.init(id: "ada")))
        #expect(text(refused.finish(opened())) == ["failure startAgain: not allowed", "close"])
        var many = session { $0.subscriptions = 1 }
        let failure = text(many.receive(hello(queries: [Self.query, Self.query])))
        #expect(failure == ["failure stop: 2 subscriptions, at most 1 are allowed", "close"])
    }

    @Test("messages before 'hello', a second 'hello' and messages after the end of the session are not processed")
    func unexpected() {
        var early = session()
        #expect(
            text(early.receive(upload(1)))
                == ["failure stop: the client sent a message that is not expected now", "close"])
        #expect(early.receive(hello()).isEmpty && early.logChanged().isEmpty && early.tick(1).isEmpty)
        var twice = openSession()
        #expect(text(twice.receive(hello())).last == "close")
        var hasty = session()
        _ = hasty.receive(hello())
        #expect(text(hasty.receive(upload(1))).last == "close")
        #expect(hasty.finish(.authenticated(.init(id: "ada"))).isEmpty)
    }

    @Test("the session of a client that does not send 'hello' in time ends")
    func silentClient() {
        var session = session()
        #expect(text(session.tick(5_000)) == [])
        #expect(text(session.tick(14_999)) == [])
        #expect(text(session.tick(15_000)) == ["failure retry: the client did not send 'hello' in time", "close"])
    }

    @Test("messages wait while a task runs, and are answered in the order of their arrival")
    func order() {
        var session = openSession()
        #expect(text(session.receive(upload(1))) == ["store 1"])
        #expect(text(session.receive(.subscribe(set: 1, []))) == [])
        #expect(text(session.receive(.mark(4))) == [])
        let object = RevertedObject(address: Self.address, reason: .constraint, message: "unique")
        let reverted = RevertedUpload(number: 1, objects: [object])
        #expect(text(session.finish(.stored(reverted: [reverted]))) == ["read after 1"])
        #expect(
            text(session.finish(.read(batch("2", stored: 1)))) == [
                "reverted 1 of 1", "changes to 2, upload 1, 0 rows", "change after 2 from 1 to 0",
            ])
        let data = SubscriptionData(rows: [], leaving: [Self.address])
        #expect(
            text(session.finish(.changed(batch("3", [inserted(1)], stored: 1), data))) == [
                "changes to 3, upload 1, 1 rows", "chunk of 0, 1 leave, 1000", "complete 1 at 3", "read after 3",
            ])
        #expect(text(session.finish(.read(batch("4", [inserted(1)], stored: 1)))) == ["mark 4"])
    }

    @Test("if commits change no objects of the client, the session sends only a new cursor, once a minute")
    func cursors() {
        var session = openSession()
        _ = session.tick(1_000)
        #expect(text(session.logChanged()) == ["read after 1"])
        #expect(text(session.finish(.read(batch("2")))) == [])
        #expect(text(session.tick(60_999)) == [])
        #expect(text(session.tick(61_000)) == ["read after 2"])
        #expect(text(session.finish(.read(batch("3")))) == ["changes to 3, upload 0, 0 rows"])
        #expect(text(session.tick(120_999)) == [])
        #expect(text(session.tick(121_000)) == ["read after 3"])
        #expect(text(session.finish(.read(batch("3")))) == [])
    }

    @Test("if the service refuses a query of a new set of subscriptions, the previous set stays active")
    func refusedSet() {
        var session = openSession()
        #expect(
            text(session.receive(.subscribe(set: 1, [SubscribedQuery(type: 0, condition: [0])])))
                == ["refused 1: not allowed"])
        #expect(text(session.logChanged()) == ["read after 1"])
        #expect(text(session.finish(.read(batch("2", [inserted(1)])))) == ["changes to 2, upload 0, 1 rows"])
    }

    @Test("rows are divided into several messages, and the last message of 'changes' is marked")
    func parts() {
        var session = openSession { $0.rowBytesPerMessage = 12 }
        _ = session.logChanged()
        #expect(
            text(session.finish(.read(batch("2", [inserted(1), inserted(2), inserted(3)])))) == [
                "changes to 2, upload 0, 1 rows, more", "changes to 2, upload 0, 1 rows, more",
                "changes to 2, upload 0, 1 rows",
            ])
        _ = session.receive(.subscribe(set: 1, []))
        let data = SubscriptionData(
            rows: [1, 2].map { SyncRow(address: .init(type: 0, key: .integer($0)), values: Self.values) },
            maximumBytes: 12)
        #expect(
            text(session.finish(.changed(batch("3"), data))) == [
                "changes to 3, upload 0, 0 rows", "chunk of 1, 0 leave, 500", "chunk of 1, 0 leave, 1000",
                "complete 1 at 3",
            ])
    }

    @Test("if the messages of a client cause too much work, the session handles further messages at a later tick")
    func limitedWork() {
        var session = openSession { ($0.workAtOnce, $0.workPerSecond) = (100, 60) }
        _ = session.tick(1_000)
        // A set with one subscription costs 51 units of work, so the third set has to wait.
        for set in 1...2 as ClosedRange<UInt64> {
            #expect(!session.receive(.subscribe(set: set, [Self.query])).isEmpty)
            _ = session.finish(.changed(batch("1"), SubscriptionData(rows: [], leaving: [])))
        }
        #expect(session.receive(.subscribe(set: 3, [Self.query])).isEmpty)
        #expect(session.tick(1_020).isEmpty)
        #expect(!session.tick(1_100).isEmpty)
        _ = session.finish(.changed(batch("1"), SubscriptionData(rows: [], leaving: [])))
        // The changes of other clients do not wait.
        #expect(text(session.logChanged()) == ["read after 1"])
    }

    @Test("the session of a client ends if too many of its messages wait")
    func flood() {
        var session = openSession { $0.waitingMessages = 3 }
        for number in 1...4 { #expect(text(session.receive(upload(UInt64(number)))).last != "close") }
        #expect(
            text(session.receive(upload(5))) == ["failure retry: more than 3 messages of the client wait", "close"])
    }

    @Test("the session of a client ends if its waiting subscriptions and tokens are too large")
    func largeRequests() {
        var session = openSession { $0.waitingRequestBytes = 100 }
        // The first set is read at once, so only the others wait.
        #expect(text(session.receive(.subscribe(set: 1, [Self.query]), bytes: 60)).last != "close")
        #expect(text(session.receive(.subscribe(set: 2, [Self.query]), bytes: 60)).last != "close")
        #expect(text(session.receive(.token("t"), bytes: 40)).last != "close")
        #expect(
            text(session.receive(.subscribe(set: 3, [Self.query]), bytes: 1))
                == ["failure retry: subscriptions and tokens of more than 100 bytes wait", "close"])
    }

    @Test("the session requests a new token before the old one expires, and refuses a token of another user")
    func tokens() {
        var session = openSession(expiration: 100_000) { $0.cursorMilliseconds = 1_000_000 }
        #expect(text(session.tick(39_999)) == [])
        #expect(text(session.tick(40_000)) == ["token due"])
        #expect(text(session.tick(41_000)) == [])
        #expect(text(session.receive(.token("new"))) == ["authenticate new"])
        #expect(text(session.finish(.authenticated(.init(id: "ada", expiration: 300_000)))) == [])
        #expect(text(session.tick(100_000)) == [])
        #expect(text(session.tick(240_000)) == ["token due"])
        var expired = session
        #expect(text(expired.tick(300_000)) == ["failure signIn: the token has expired", "close"])
        _ = session.receive(.token("other"))
        #expect(
            text(session.finish(.authenticated(.init(id: "eve"))))
                == ["failure signIn: the token is of another user", "close"])
    }

    @Test("a task that fails ends the session")
    func failedTask() {
        var session = openSession()
        _ = session.receive(upload(1))
        let failure = ServiceMessage.Failure(action: .retry, message: "no database", delayMilliseconds: 5)
        #expect(text(session.finish(.failed(failure))) == ["failure retry: no database", "close"])
        #expect(session.receive(upload(2)).isEmpty)
    }

    @Test("the parts of an upload are stored together, and do not belong to the next upload")
    func uploadParts() {
        var session = openSession()
        let operation = SyncOperation.delete(Self.address)
        #expect(text(session.receive(.uploadPart([operation, operation]))) == [])
        #expect(text(session.receive(.mark(1))) == ["read after 1"])
        #expect(text(session.receive(.uploadPart([operation]))) == [])
        #expect(text(session.receive(upload(1))) == [])
        #expect(text(session.finish(.read(batch("2")))) == ["mark 1", "store 1, 3 operations"])
        // The next upload does not contain these parts.
        #expect(text(session.receive(upload(2))) == [])
        _ = session.finish(.stored(reverted: []))
        #expect(text(session.finish(.read(batch("3", stored: 1)))).last == "store 2")
    }

    @Test("consecutive waiting uploads are stored together, up to a number and a size")
    func uploadsTogether() {
        var session = openSession { ($0.uploadsTogether, $0.uploadBytesTogether) = (3, 100) }
        #expect(text(session.receive(upload(1), bytes: 10)) == ["store 1"])
        for number in 2...6 as ClosedRange<UInt64> { #expect(session.receive(upload(number), bytes: 10).isEmpty) }
        #expect(session.receive(.mark(1)).isEmpty)
        #expect(session.receive(upload(7), bytes: 99).isEmpty)
        #expect(session.receive(upload(8), bytes: 10).isEmpty)
        _ = session.finish(.stored(reverted: []))
        #expect(text(session.finish(.read(batch("2", stored: 1)))).last == "store 2 and 3 and 4")
        let reverted = [2, 4].map { number in
            RevertedUpload(
                number: number,
                objects: [RevertedObject(address: Self.address, reason: .constraint, message: "unique")])
        }
        _ = session.finish(.stored(reverted: reverted))
        #expect(
            text(session.finish(.read(batch("3", stored: 4)))) == [
                "reverted 1 of 2", "reverted 1 of 4", "changes to 3, upload 4, 0 rows", "store 5 and 6",
            ])
        _ = session.finish(.stored(reverted: []))
        _ = session.finish(.read(batch("4", stored: 6)))
        #expect(text(session.finish(.read(batch("4", stored: 6)))) == ["mark 1", "store 7"])
        _ = session.finish(.stored(reverted: []))
        #expect(text(session.finish(.read(batch("5", stored: 7)))).last == "store 8")
    }

    @Test("the session ends if the client's waiting uploads are too large; stored uploads are not counted")
    func uploadBytes() {
        var session = openSession { $0.waitingUploadBytes = 100 }
        let operation = SyncOperation.delete(Self.address)
        #expect(text(session.receive(.uploadPart([operation]), bytes: 60)) == [])
        #expect(text(session.receive(upload(1), bytes: 40)) == ["store 1, 1 operations"])
        _ = session.finish(.stored(reverted: []))
        _ = session.finish(.read(batch("2", stored: 1)))
        #expect(text(session.receive(.uploadPart([operation]), bytes: 100)) == [])
        #expect(
            text(session.receive(.uploadPart([operation]), bytes: 1)) == [
                "failure stop: uploads of more than 100 bytes of the client wait", "close",
            ])
    }

    @Test("a client that reconnects gets the reverted objects of its unacknowledged uploads Y26")
    func revertsAfterReconnection() {
        let object = RevertedObject(address: Self.address, reason: .constraint, message: "unique")
        var session = session()
        _ = session.receive(hello(position: SyncPosition(epoch: "a", cursor: SyncCursor("3"))))
        _ = session.finish(.authenticated(.init(id: "ada")))
        var client = OpenedClient(
            identity: ClientIdentity(id: 7, secret: [1]), epoch: "a", milliseconds: 1_000, storedUpload: 2)
        client.reverted = [1, 2].map { RevertedUpload(number: $0, objects: [object]) }
        #expect(text(session.finish(.opened(client))) == ["welcome", "read after 3"])
        #expect(
            text(session.finish(.read(batch("5", stored: 1)))) == ["reverted 1 of 1", "changes to 5, upload 1, 0 rows"])
        _ = session.logChanged()
        #expect(
            text(session.finish(.read(batch("6", stored: 2)))) == ["reverted 1 of 2", "changes to 6, upload 2, 0 rows"])
    }

    @Test("a long list of reverted objects is divided into several messages")
    func manyReverts() {
        let objects = (0..<5_000).map {
            RevertedObject(
                address: ObjectAddress(type: 0, key: .integer($0)), reason: .constraint,
                message: String(repeating: "x", count: 200))
        }
        let messages = RevertedUpload(number: 1, objects: objects).messages()
        #expect(messages.count > 1 && messages.allSatisfy { $0.encoded().count <= 300_000 })
        let named = messages.flatMap { message -> [RevertedObject] in
            if case .reverted(1, let part) = message { part } else { [] }
        }
        #expect(named == objects)
    }
}
