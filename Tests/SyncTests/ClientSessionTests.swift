import MartletSyncProtocol
import MartletValues
import Testing

@testable import MartletSync

@Suite("sessions of a client")
struct ClientSessionTests {
    private let address = ObjectAddress(type: 0, key: .integer(1))
    private let welcome = ServiceMessage.welcome(
        .init(identity: ClientIdentity(id: 1, secret: [1]), epoch: "e", milliseconds: 0, storedUpload: 0))

    private func changes(acknowledging upload: UInt64 = 0) -> ServiceMessage {
        .changes(.init(cursor: SyncCursor("c"), acknowledgedUpload: upload, rows: [], leaving: [], isLast: true))
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

    @Test("a session sends no upload while the sent but unacknowledged uploads have 8 MB or more")
    func bytesInFlight() {
        var state = ClientState()
        let large = SyncValue.scalar(.blob(Array(repeating: 1, count: 3 << 20)))
        for _ in 1...5 { state.write([.update(address, [ValuePath(0): large])], wall: 0) }
        state.identity = ClientIdentity(id: 1, secret: [1])
        var session = ClientSession(state, schemaHash: [], token: "")
        // The service has stored the first upload during an earlier connection.
        let welcome = ServiceMessage.welcome(
            .init(
                identity: ClientIdentity(id: 1, secret: [1]), epoch: "e", milliseconds: 0, storedUpload: 1,
                storedTime: state.outbox[0].time.rawValue))
        _ = session.receive(welcome, wall: 0)
        #expect(sent(session.receive(changes(), wall: 0)) == [2, 3])
        #expect(sent(session.receive(changes(acknowledging: 1), wall: 0)) == [4])
    }

    private func sent(_ actions: [ClientAction]) -> [UInt64] {
        actions.compactMap { if case .upload(let number) = $0 { number } else { nil } }
    }
}
