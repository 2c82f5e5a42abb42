import MartletSyncProtocol
import MartletValues
import Testing

@testable import MartletSync

@Suite("sessions of a client")
struct ClientSessionTests {
    private let address = ObjectAddress(type: 0, key: .integer(1))
    private let welcome = ServiceMessage.welcome(
        .init(identity: ClientIdentity(id: 1, secret: [1]), epoch: "e", milliseconds: 0, storedUpload: 0))

    private func changes(_ rows: [SyncRow] = []) -> ServiceMessage {
        .changes(.init(cursor: SyncCursor("c"), acknowledgedUpload: 0, rows: rows, leaving: [], isLast: true))
    }

    @Test("a session does not send a refused set of subscriptions again")
    func refused() {
        var state = ClientState()
        state.subscribe([])
        var session = ClientSession(state, schemaHash: [], token: "")
        let first = session.receive(welcome, wall: 0)
        #expect(first.contains(.send(.subscribe(set: 1, []))))
        #expect(session.receive(.refused(set: 1, message: "no"), wall: 0) == [.refused(set: 1, message: "no")])
        let second = session.receive(changes(), wall: 0)
        #expect(!second.contains(.send(.subscribe(set: 1, []))))
        let third = session.localChange { $0.subscribe([]) }
        #expect(third == [.send(.subscribe(set: 2, []))])
    }

    @Test("if the outbox does not contain the newest stored upload, the client registers again Y14")
    func olderFile() {
        func first(stored: UInt64, time: UInt64) -> ClientAction? {
            var state = ClientState()
            state.identity = ClientIdentity(id: 1, secret: [1])
            for _ in 1...2 { state.write([], wall: 5) }
            var session = ClientSession(state, schemaHash: [], token: "")
            let welcome = ServiceMessage.welcome(
                .init(
                    identity: ClientIdentity(id: 1, secret: [1]), epoch: "e", milliseconds: 0, storedUpload: stored,
                    storedTime: time))
            return session.receive(welcome, wall: 0).first
        }
        var state = ClientState()
        state.write([], wall: 5)
        let time = state.outbox[0].time.rawValue
        #expect(first(stored: 0, time: 0) == .save)
        #expect(first(stored: 1, time: time) == .save)
        #expect(first(stored: 1, time: 0) == .save)
        for (stored, time) in [(1, time + 1), (3, time)] as [(UInt64, UInt64)] {
            guard case .close(let failure)? = first(stored: stored, time: time) else {
                Issue.record("the session continues after upload \(stored)")
                continue
            }
            #expect(failure.action == .registerAgain)
        }
    }

    @Test("a session closes the connection if the service assigns another number to its client")
    func otherIdentity() {
        var state = ClientState()
        state.identity = ClientIdentity(id: 2, secret: [1])
        var session = ClientSession(state, schemaHash: [], token: "")
        let first = session.receive(welcome, wall: 0).first
        let isClosed = if case .close? = first { true } else { false }
        #expect(isClosed)
        #expect(session.state == state)
    }

    @Test(
        "a written member masks its embedded object, and a written embedded object masks its members",
        arguments: [([3], [3, 1]), ([3, 1], [3]), ([3, 1], [3, 1]), ([3, 1, 0], [3, 1])])
    func nestedMask(_ written: [Int], _ downloaded: [Int]) {
        var state = ClientState()
        state.write([.update(address, [ValuePath(written): .null])], wall: 0)
        var session = ClientSession(state, schemaHash: [], token: "")
        _ = session.receive(welcome, wall: 0)
        let values: [ValuePath: SyncValue] = [ValuePath(downloaded): .scalar(.integer(1)), ValuePath(4): .null]
        let actions = session.receive(changes([SyncRow(address: address, values: values)]), wall: 0)
        let shown = SyncRow(address: address, values: [ValuePath(4): .null])
        #expect(actions.first == .commit(DownloadedBatch(rows: [shown], leaving: [])))
    }

    @Test("a large upload is sent in parts, and the next upload is sent after its acknowledgement")
    func parts() {
        var state = ClientState()
        let large = SyncValue.scalar(.text(String(repeating: "x", count: 100_000)))
        let operations = (1...100).map { _ in SyncOperation.update(address, [ValuePath(0): large]) }
        state.write(operations, wall: 0)
        state.write([.delete(address)], wall: 0)
        var session = ClientSession(state, schemaHash: [], token: "")
        _ = session.receive(welcome, wall: 0)
        let first = sent(session.receive(changes(), wall: 0))
        #expect(first.count == 50)
        #expect(first.allSatisfy { $0.encoded().count < UploadParts.usualBytes + 100 })
        var received: [SyncOperation] = []
        for message in first {
            switch message {
            case .uploadPart(let part): received += part
            case .upload(let upload):
                #expect(upload.number == 1)
                received += upload.operations
            default: Issue.record("unexpected message")
            }
        }
        #expect(received == operations)
        let acknowledged = ServiceMessage.changes(
            .init(cursor: SyncCursor("d"), acknowledgedUpload: 1, rows: [], leaving: [], isLast: true))
        #expect(sent(session.receive(acknowledged, wall: 0)) == [.upload(state.outbox[1])])
    }

    private func sent(_ actions: [ClientAction]) -> [ClientMessage] {
        actions.compactMap { if case .send(let message) = $0 { message } else { nil } }
    }
}
