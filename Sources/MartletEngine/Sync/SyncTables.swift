package import MartletSQLite
import MartletValues

/// The row of `martlet_sync`, which describes the client of a synchronized file.
package struct SyncRecord: Sendable, Equatable {
    /// The number of the client. Nil until the service has assigned a number.
    package var client: UInt64?
    package var secret: [UInt8] = []
    /// Identifies the history of the database to which `cursor` belongs.
    package var epoch: String?
    /// The position in this history that the objects of the file show. Nil until the first changes are shown.
    package var cursor: String?
    /// The number of the newest upload that the service has stored.
    package var acknowledged: UInt64 = 0
    /// The greatest time stamp of the uploads when the row was last written. The outbox may contain later time stamps.
    package var clock: UInt64 = 0
    /// The number of milliseconds to add to the clock of this machine to get the time of the service.
    package var clockOffset: Int64 = 0
    /// The number of the set of subscriptions whose objects the file contains.
    package var shownSet: UInt64 = 0
    /// The number of the newest set of subscriptions.
    package var wantedSet: UInt64 = 0
    /// The names of the types and properties, in the order of the numbers that the operations of the outbox contain.
    package var numbering = ""
    /// The user to whom the file belongs. Nil until the first user has opened the file.
    package var user: String?
    /// The number of the newest set of subscriptions that the service has refused. Zero if it has refused no set.
    package var refusedSet: UInt64 = 0
    /// Why the service has refused `refusedSet`.
    package var refusal = ""
    /// A process increments this number to request all changes that were committed in the database before the request.
    /// The process that is connected to the service sends the number in a message `mark`.
    package var wantedMark: UInt64 = 0
    /// The greatest `wantedMark` that the service has answered.
    package var answeredMark: UInt64 = 0

    package init() {}
}

/// One subscription of a set.
package struct StoredSubscription: Sendable, Equatable {
    /// The name of the type.
    package var type: String
    /// The canonical encoding of the condition.
    package var condition: [UInt8]
    package var name: String?
    /// When the subscription was added, in seconds since 2001.
    package var created: Double
    /// When the query was last replaced, in seconds since 2001.
    package var updated: Double

    package init(type: String, condition: [UInt8], name: String? = nil, created: Double = 0, updated: Double = 0) {
        self.type = type
        self.condition = condition
        self.name = name
        self.created = created
        self.updated = updated
    }
}

/// A row of `martlet_outbox`: the changes of one local transaction that the service has not acknowledged.
package struct OutboxEntry: Sendable, Equatable {
    package var number: UInt64
    /// The hybrid time stamp of the upload.
    package var time: UInt64
    /// The cursor of the file when the transaction was committed.
    package var base: String
    /// The encoded operations.
    package var operations: [UInt8]

    package init(number: UInt64, time: UInt64, base: String, operations: [UInt8]) {
        (self.number, self.time, self.base, self.operations) = (number, time, base, operations)
    }
}

/// A row of `martlet_outbox` without its operations.
package struct OutboxHeader: Sendable, Equatable {
    package var number: UInt64
    package var time: UInt64
    /// The size of the encoded operations, in bytes.
    package var bytes: Int
}

/// The state that a transaction needs to add an entry to the outbox.
package struct OutboxHead: Sendable, Equatable {
    /// The number of the newest upload.
    package var lastNumber: UInt64
    /// The greatest time stamp of all uploads.
    package var clock: UInt64
    package var clockOffset: Int64
    package var cursor: String?
    /// The number of the client. Nil until the service has assigned a number.
    package var client: UInt64?
    /// True if the numbering in the file is the numbering that was given to `outboxHead`. Another program may have
    /// changed it.
    package var hasNumbering: Bool
}

/// Reads and writes the tables of synchronization, except `martlet_unresolved`, on the connection of a snapshot or of a
/// transaction.
package struct SyncTables {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    // MARK: The client

    package func record() throws -> SyncRecord {
        let statement = try connection.statement(
            "SELECT client, secret, epoch, cursor, acknowledged, clock, clock_offset, shown_set, wanted_set, numbering, "
                + "user, refused_set, refusal, wanted_mark, answered_mark FROM martlet_sync WHERE id = 1")
        guard try statement.step() else {
            throw EngineError.damaged("the row of 'martlet_sync' is missing", path: connection.options.path)
        }
        defer { statement.reset() }
        func number(_ column: Int) -> UInt64 { UInt64(bitPattern: statement.integer(column)) }
        func text(_ column: Int) -> String? { statement.isNull(column) ? nil : statement.text(column) }
        var record = SyncRecord()
        record.client = statement.isNull(0) ? nil : number(0)
        record.secret = statement.isNull(1) ? [] : statement.blob(1)
        (record.epoch, record.cursor, record.user) = (text(2), text(3), text(10))
        (record.acknowledged, record.clock, record.clockOffset) = (number(4), number(5), statement.integer(6))
        (record.shownSet, record.wantedSet, record.numbering) = (number(7), number(8), statement.text(9))
        (record.refusedSet, record.refusal) = (number(11), statement.text(12))
        (record.wantedMark, record.answeredMark) = (number(13), number(14))
        return record
    }

    package func write(_ record: SyncRecord) throws {
        func integer(_ number: UInt64) -> SQLValue { .integer(Int64(bitPattern: number)) }
        func text(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }
        try connection.run(
            "UPDATE martlet_sync SET client = ?1, secret = ?2, epoch = ?3, cursor = ?4, acknowledged = ?5, clock = ?6, "
                + "clock_offset = ?7, shown_set = ?8, wanted_set = ?9, numbering = ?10, user = ?11, refused_set = ?12, "
                + "refusal = ?13, wanted_mark = ?14, answered_mark = ?15 WHERE id = 1",
            [
                record.client.map(integer) ?? .null, record.client == nil ? .null : .blob(record.secret),
                text(record.epoch), text(record.cursor), integer(record.acknowledged), integer(record.clock),
                .integer(record.clockOffset), integer(record.shownSet), integer(record.wantedSet),
                .text(record.numbering), text(record.user), integer(record.refusedSet), .text(record.refusal),
                integer(record.wantedMark), integer(record.answeredMark),
            ])
    }

    /// True if the file has objects of a type.
    package func hasObjects(ofType name: String) throws -> Bool {
        guard try Catalog.types(connection).contains(where: { $0.type.name == name }) else { return false }
        return try connection.integer("SELECT 1 FROM \(SQLText.identifier(name)) LIMIT 1") == 1
    }

    // MARK: The outbox

    /// The state that is needed to add an entry. One statement reads the whole state, because every local transaction
    /// needs it.
    package func outboxHead(numbering: String) throws -> OutboxHead {
        let statement = try connection.statement(
            "SELECT max(acknowledged, coalesce(number, 0)), max(clock, coalesce(time, 0)), clock_offset, cursor, "
                + "numbering = ?1, client FROM martlet_sync LEFT JOIN "
                + "(SELECT number, time FROM martlet_outbox ORDER BY number DESC LIMIT 1) WHERE id = 1")
        statement.bind(numbering, at: 1)
        guard try statement.step() else {
            throw EngineError.damaged("the row of 'martlet_sync' is missing", path: connection.options.path)
        }
        defer { statement.reset() }
        return OutboxHead(
            lastNumber: UInt64(bitPattern: statement.integer(0)), clock: UInt64(bitPattern: statement.integer(1)),
            clockOffset: statement.integer(2), cursor: statement.isNull(3) ? nil : statement.text(3),
            client: statement.isNull(5) ? nil : UInt64(bitPattern: statement.integer(5)),
            hasNumbering: statement.integer(4) == 1)
    }

    package func append(_ entry: OutboxEntry) throws {
        let statement = try connection.statement("INSERT INTO martlet_outbox VALUES (?1, ?2, ?3, ?4)")
        statement.bind(Int64(bitPattern: entry.number), at: 1)
        statement.bind(Int64(bitPattern: entry.time), at: 2)
        statement.bind(entry.base, at: 3)
        try entry.operations.withUnsafeBytes {
            statement.bind($0, at: 4)
            try statement.run()
        }
    }

    /// The first entry with a number greater than `number`. Nil if there is none. An outbox may be large after a long
    /// time without a connection, so its entries are read one by one.
    package func outboxEntry(after number: UInt64) throws -> OutboxEntry? {
        let statement = try connection.statement(
            "SELECT number, time, base, operations FROM martlet_outbox WHERE number > ?1 ORDER BY number LIMIT 1")
        statement.bind(Int64(bitPattern: number), at: 1)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return OutboxEntry(
            number: UInt64(bitPattern: statement.integer(0)), time: UInt64(bitPattern: statement.integer(1)),
            base: statement.text(2), operations: statement.blob(3))
    }

    /// The first `count` entries with numbers greater than `number`, in ascending order of their numbers. Does not read
    /// their operations.
    package func outboxHeaders(after number: UInt64, count: Int) throws -> [OutboxHeader] {
        let statement = try connection.statement(
            "SELECT number, time, length(operations) FROM martlet_outbox WHERE number > ?1 ORDER BY number LIMIT ?2")
        statement.bind(Int64(bitPattern: number), at: 1)
        statement.bind(Int64(count), at: 2)
        defer { statement.reset() }
        var headers: [OutboxHeader] = []
        while try statement.step() {
            headers.append(
                OutboxHeader(
                    number: UInt64(bitPattern: statement.integer(0)), time: UInt64(bitPattern: statement.integer(1)),
                    bytes: Int(statement.integer(2))))
        }
        return headers
    }

    /// The time stamp of the newest entry. Nil if the outbox is empty. Unlike the number of an entry, its time stamp
    /// never changes.
    package func newestOutboxTime() throws -> Int64? {
        try connection.integer("SELECT time FROM martlet_outbox ORDER BY number DESC LIMIT 1")
    }

    /// True if an entry has this time stamp or an earlier time stamp.
    package func hasOutboxEntry(through time: Int64) throws -> Bool {
        try connection.integer(
            "SELECT 1 FROM martlet_outbox WHERE time <= ?1 ORDER BY number LIMIT 1", [.integer(time)]) != nil
    }

    package func replaceOperations(of number: UInt64, by operations: [UInt8]) throws {
        try connection.run(
            "UPDATE martlet_outbox SET operations = ?2 WHERE number = ?1",
            [.integer(Int64(bitPattern: number)), .blob(operations)])
    }

    package func removeOutbox(through number: UInt64) throws {
        try connection.run("DELETE FROM martlet_outbox WHERE number <= ?1", [.integer(Int64(bitPattern: number))])
    }

    /// Removes the base cursors of all entries, because these cursors belong to a history of the database that has
    /// ended.
    ///
    /// - Parameters:
    ///   - acknowledged: the number of the newest acknowledged upload. The numbers of the entries follow this number.
    ///   - renumbers: true to number the entries again, from 1.
    package func restartOutbox(after acknowledged: UInt64, renumbers: Bool) throws {
        try connection.run("UPDATE martlet_outbox SET base = ''")
        guard renumbers, acknowledged > 0 else { return }
        // The numbers change in two steps, because another entry may still have the new number of an entry.
        try connection.run(
            "UPDATE martlet_outbox SET number = -(number - ?1)", [.integer(Int64(bitPattern: acknowledged))])
        try connection.run("UPDATE martlet_outbox SET number = -number")
    }

    // MARK: Subscriptions

    /// The subscriptions of a set, in the order in which they were added.
    package func subscriptions(of set: UInt64) throws -> [StoredSubscription] {
        let statement = try connection.statement(
            "SELECT type, condition, name, created, updated FROM martlet_subscriptions WHERE number = ?1 "
                + "ORDER BY position")
        statement.bind(Int64(bitPattern: set), at: 1)
        var found: [StoredSubscription] = []
        while try statement.step() {
            found.append(
                StoredSubscription(
                    type: statement.text(0), condition: statement.blob(1),
                    name: statement.isNull(2) ? nil : statement.text(2), created: statement.real(3),
                    updated: statement.real(4)))
        }
        return found
    }

    /// Replaces the subscriptions of a set.
    package func write(_ subscriptions: [StoredSubscription], of set: UInt64) throws {
        let number = SQLValue.integer(Int64(bitPattern: set))
        try connection.run("DELETE FROM martlet_subscriptions WHERE number = ?1", [number])
        for (position, subscription) in subscriptions.enumerated() {
            try connection.run(
                "INSERT INTO martlet_subscriptions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                [
                    number, .integer(Int64(position)), .text(subscription.type), .blob(subscription.condition),
                    subscription.name.map(SQLValue.text) ?? .null, .real(subscription.created),
                    .real(subscription.updated),
                ])
        }
    }

    /// Deletes all sets of subscriptions except the two given sets.
    package func removeSubscriptions(except first: UInt64, _ second: UInt64) throws {
        try connection.run(
            "DELETE FROM martlet_subscriptions WHERE number NOT IN (?1, ?2)",
            [.integer(Int64(bitPattern: first)), .integer(Int64(bitPattern: second))])
    }
}
