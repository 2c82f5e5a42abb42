import MartletValues
import Testing

@testable import MartletSyncProtocol
@testable import MartletSyncService

@Suite("the log feed of sessions")
struct FeedStateTests {
    private static let (ada, ben, eve) = (SessionID(number: 1), SessionID(number: 2), SessionID(number: 3))

    /// A filter for the objects in which property 1 has the value `group`.
    private func filter(_ group: Int64) -> SubscriptionFilter {
        let test = ConditionTest.isIn(ConditionOperand(ValuePath(1), .integer), [.integer(group)])
        return SubscriptionFilter([], conditions: [0: [.test(test, isNegated: false)]]) { _, values in
            values[ValuePath(1)] == .scalar(.integer(group))
        }
    }

    private func entry(_ id: Int64, from old: Int64?, to new: Int64?, by client: UInt64? = nil) -> LogEntry {
        func values(_ group: Int64) -> [ValuePath: SyncValue] {
            [ValuePath(0): .scalar(.integer(id)), ValuePath(1): .scalar(.integer(group))]
        }
        return LogEntry(
            address: ObjectAddress(type: 0, key: .integer(id)), old: old.map(values), new: new.map(values),
            origin: client.map { LogEntry.Origin(client: $0, upload: 1) })
    }

    private func ids(_ batch: ClientBatch?) -> [SQLValue]? { batch?.entries.map(\.address.key) }

    private func feed(maximumPending: Int = 100, maximumTotal: Int = 1_000) -> FeedState {
        var feed = FeedState(
            cursor: SyncCursor("1:1:"), seed: 1, maximumPending: maximumPending, maximumTotal: maximumTotal)
        feed.attach(Self.ada, client: 10, filter(1))
        feed.attach(Self.ben, client: 20, filter(2))
        return feed
    }

    @Test("a session gets the entries that match its queries before or after a change; other entries do not notify it")
    func matching() {
        var feed = feed()
        let batch = LogBatch(
            cursor: SyncCursor("2:2:"),
            entries: [
                entry(1, from: nil, to: 1), entry(2, from: 1, to: 2), entry(3, from: 3, to: nil),
                entry(4, from: 2, to: 2),
            ])
        #expect(feed.advance(batch) == [Self.ada, Self.ben])
        let own = feed.take(Self.ada, after: SyncCursor("1:1:"))
        #expect(ids(own) == [.integer(1), .integer(2)] && own?.cursor == SyncCursor("2:2:"))
        #expect(ids(feed.take(Self.ben, after: SyncCursor("1:1:"))) == [.integer(2), .integer(4)])
        #expect(feed.advance(LogBatch(cursor: SyncCursor("3:3:"), entries: [entry(5, from: nil, to: 9)])).isEmpty)
        // A session that was not notified also gets the newest cursor.
        let empty = feed.take(Self.ada, after: SyncCursor("2:2:"))
        #expect(ids(empty) == [] && empty?.cursor == SyncCursor("3:3:"))
    }

    @Test("a collection change notifies the sessions of its owner; if the owner is unknown, all sessions of the type")
    func collections() {
        var feed = feed()
        var seen = entry(1, from: 1, to: 1)
        seen.collections = [3]
        #expect(feed.advance(LogBatch(cursor: SyncCursor("2:2:"), entries: [seen])) == [Self.ada])
        var unseen = entry(1, from: nil, to: nil)
        (unseen.collections, unseen.isUnseen) = ([3], true)
        #expect(feed.advance(LogBatch(cursor: SyncCursor("3:3:"), entries: [unseen])) == [Self.ada, Self.ben])
        var other = LogEntry(address: ObjectAddress(type: 1, key: .integer(1)), old: nil, new: nil, origin: nil)
        other.isUnseen = true
        #expect(feed.advance(LogBatch(cursor: SyncCursor("4:4:"), entries: [other])).isEmpty)
    }

    @Test("the entries of several batches are collected in order, and a session gets each entry once")
    func collecting() {
        var feed = feed()
        for number in 2...4 {
            let batch = LogBatch(
                cursor: SyncCursor("\(number):\(number):"), entries: [entry(Int64(number), from: nil, to: 1)])
            #expect(feed.advance(batch) == [Self.ada])
        }
        #expect(ids(feed.take(Self.ada, after: SyncCursor("1:1:"))) == [.integer(2), .integer(3), .integer(4)])
        #expect(ids(feed.take(Self.ada, after: SyncCursor("4:4:"))) == [])
    }

    @Test("a session at another cursor gets no batch, and a removed session is not notified")
    func positions() {
        var feed = feed()
        #expect(feed.take(Self.ada, after: SyncCursor("0:0:")) == nil)
        #expect(feed.take(Self.eve, after: SyncCursor("1:1:")) == nil)
        feed.remove(Self.ada)
        #expect(feed.advance(LogBatch(cursor: SyncCursor("2:2:"), entries: [entry(1, from: 1, to: 2)])) == [Self.ben])
        #expect(feed.take(Self.ada, after: SyncCursor("1:1:")) == nil && feed.attachedCount == 1)
    }

    @Test("a client gets all entries of its uploads, including touches, and the number of the newest upload")
    func ownEntries() {
        var feed = feed()
        var touch = entry(7, from: 3, to: 3, by: 20)
        touch.isTouch = true
        let batch = LogBatch(
            cursor: SyncCursor("2:2:"), entries: [entry(6, from: 3, to: 4, by: 10), touch], uploads: [10: 5, 20: 6])
        #expect(feed.advance(batch) == [Self.ada, Self.ben])
        let own = feed.take(Self.ada, after: SyncCursor("1:1:"))
        #expect(ids(own) == [.integer(6)] && own?.storedUpload == 5)
        #expect(ids(feed.take(Self.ben, after: SyncCursor("1:1:"))) == [.integer(7)])
        // An upload that names no object has no entry, but its client is notified.
        #expect(feed.advance(LogBatch(cursor: SyncCursor("3:3:"), uploads: [10: 6])) == [Self.ada])
        #expect(feed.take(Self.ada, after: SyncCursor("2:2:"))?.storedUpload == 6)
    }

    @Test("a touch by another client notifies no session")
    func touches() {
        var feed = feed()
        var touch = entry(7, from: 1, to: 1, by: 30)
        touch.isTouch = true
        #expect(feed.advance(LogBatch(cursor: SyncCursor("2:2:"), entries: [touch])).isEmpty)
    }

    @Test("a session that takes no entries is detached, and is notified of every batch until it is attached again")
    func slowSession() {
        var feed = feed(maximumPending: 2)
        let entries = (1...3).map { entry($0, from: nil, to: 1) }
        #expect(feed.advance(LogBatch(cursor: SyncCursor("2:2:"), entries: entries)) == [Self.ada])
        #expect(feed.take(Self.ada, after: SyncCursor("1:1:")) == nil)
        let other = LogBatch(cursor: SyncCursor("3:3:"), entries: [entry(9, from: nil, to: 9)])
        #expect(feed.advance(other) == [Self.ada])
        feed.attach(Self.ada, client: 10, filter(1))
        #expect(feed.take(Self.ada, after: SyncCursor("3:3:"))?.entries.isEmpty == true)
        #expect(feed.advance(LogBatch(cursor: SyncCursor("4:4:"), entries: [entry(9, from: 9, to: nil)])).isEmpty)
    }

    @Test("after changes that are too large for the memory, all sessions read the log themselves")
    func tooLarge() {
        var feed = feed()
        var batch = LogBatch(cursor: SyncCursor("2:2:"))
        batch.isTooLarge = true
        #expect(feed.advance(batch) == [Self.ada, Self.ben] && feed.attachedCount == 0)
        #expect(feed.take(Self.ada, after: SyncCursor("1:1:")) == nil)
    }

    @Test("if all sessions together have too many pending entries, the session with the most entries is detached")
    func totalLimit() {
        var feed = feed(maximumTotal: 3)
        feed.attach(Self.eve, client: 30, filter(3))
        let entries = [entry(1, from: nil, to: 1), entry(2, from: nil, to: 1), entry(3, from: nil, to: 1)]
        _ = feed.advance(LogBatch(cursor: SyncCursor("2:2:"), entries: entries))
        #expect(feed.attachedCount == 3)
        _ = feed.advance(LogBatch(cursor: SyncCursor("3:3:"), entries: [entry(4, from: nil, to: 3)]))
        #expect(feed.attachedCount == 2)
        #expect(feed.take(Self.ada, after: SyncCursor("1:1:")) == nil)
        #expect(feed.take(Self.eve, after: SyncCursor("1:1:"))?.entries.count == 1)
    }

    @Test("a session that is attached with other queries gets only entries that match the new queries")
    func otherQueries() {
        var feed = feed()
        feed.attach(Self.ada, client: 10, filter(3))
        let batch = LogBatch(
            cursor: SyncCursor("2:2:"), entries: [entry(1, from: nil, to: 1), entry(2, from: nil, to: 3)])
        #expect(feed.advance(batch) == [Self.ada])
        #expect(ids(feed.take(Self.ada, after: SyncCursor("1:1:"))) == [.integer(2)])
    }
}
