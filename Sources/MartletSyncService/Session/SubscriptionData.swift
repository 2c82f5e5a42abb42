package import MartletSyncProtocol

/// The difference between two sets of subscriptions at one snapshot: the objects that enter the subscriptions, with all
/// of their values, and the addresses of the objects that leave them. They are encoded as `chunk` messages, because the
/// objects of a subscription may need more memory than the service has.
package struct SubscriptionData: Sendable {
    private let messages: ByteSpool
    /// The number of messages. There is at least one.
    private let count: Int
    private var taken = 0
    /// The number of objects that enter the subscriptions.
    package let rowCount: Int

    fileprivate init(_ messages: ByteSpool, rowCount: Int) {
        (self.messages, self.rowCount) = (messages, rowCount)
        count = messages.count
    }

    /// The size of the messages that were not taken.
    package var remainingBytes: Int { messages.remainingBytes }

    /// Removes and returns the next encoded message; nil if there is none.
    ///
    /// - Throws: `ByteSpool.FileError`.
    package mutating func next() throws -> [UInt8]? {
        guard let message = try messages.next() else { return nil }
        taken += 1
        var progress = MessageWriter()
        progress.number(UInt64(1_000 * taken / count))
        return message + progress.bytes
    }

    /// Encodes the messages of a `SubscriptionData`.
    package struct Writer {
        private let messages: ByteSpool
        private let maximumBytes: Int
        private var rows = MessageWriter()
        private var rowCount = 0
        private var leaving = MessageWriter()
        private var leavingCount = 0
        private var totalRowCount = 0

        /// - Parameter maximumBytes: the size of a message. A larger row has a message of its own.
        package init(maximumBytes: Int = 256 << 10, spool: ByteSpool = ByteSpool()) {
            self.maximumBytes = maximumBytes
            messages = spool
        }

        /// Adds an object that enters the subscriptions.
        package mutating func add(_ row: SyncRow) throws {
            var writer = MessageWriter()
            writer.row(row)
            try makeSpace(writer)
            rows.append(writer)
            rowCount += 1
            totalRowCount += 1
        }

        /// Adds an object that leaves the subscriptions.
        package mutating func add(leaving address: ObjectAddress) throws {
            var writer = MessageWriter()
            writer.address(address)
            try makeSpace(writer)
            leaving.append(writer)
            leavingCount += 1
        }

        package mutating func finish() throws -> SubscriptionData {
            if rowCount + leavingCount > 0 || messages.count == 0 { try endMessage() }
            return SubscriptionData(messages, rowCount: totalRowCount)
        }

        private mutating func makeSpace(_ next: MessageWriter) throws {
            let size = rows.bytes.count + leaving.bytes.count
            if size > 0, size + next.bytes.count > maximumBytes { try endMessage() }
        }

        private mutating func endMessage() throws {
            var message = MessageWriter()
            message.chunk(rows, count: rowCount, leaving: leaving, leavingCount: leavingCount)
            try messages.append(message.bytes)
            (rows, rowCount, leaving, leavingCount) = (MessageWriter(), 0, MessageWriter(), 0)
        }
    }
}
