package import MartletSyncProtocol

/// The set of transactions that a state of the database contains, in the form of `pg_current_snapshot()`.
///
/// The text has the form `xmin:xmax:xip,xip…`. The snapshot contains all transactions below `xmin`, and the
/// transactions below `xmax` that are not in the list `xip`. `xmax` is one more than the newest transaction that had
/// ended. A colon and the checksum can follow.
package struct SnapshotCursor: Sendable, Hashable {
    /// All transactions with lower numbers had ended when the snapshot was taken.
    package let xmin: UInt64
    /// All transactions with this number or a greater number had not ended.
    package let xmax: UInt64
    /// The transactions below `xmax` that had not ended, in increasing order.
    package let open: [UInt64]
    /// The sum of the random numbers (`martlet.log.nonce`) of all log entries that the snapshot contains. After a
    /// restore, the database gets other entries, so the sums of the two histories differ. Nil if the sum is not known.
    package let checksum: Int64?

    /// The maximum number of open transactions in a valid cursor. Even a server with many connections has fewer open
    /// transactions. The limit is needed because clients send cursors and are not trusted.
    package static let maximumOpen = 10_000

    /// Returns nil for a text that PostgreSQL does not write.
    package init?(_ cursor: SyncCursor) {
        guard cursor.text.utf8.count <= 21 * (Self.maximumOpen + 3) else { return nil }
        let parts = cursor.text.split(separator: ":", omittingEmptySubsequences: false)
        let checksum = parts.count == 4 ? Int64(parts[3]) : nil
        guard parts.count == 3 || checksum.map(String.init) == parts.last.map(String.init),
            let xmin = Self.number(parts[0]), let xmax = Self.number(parts[1])
        else { return nil }
        let texts = parts[2].isEmpty ? [] : parts[2].split(separator: ",", omittingEmptySubsequences: false)
        let open = texts.compactMap(Self.number)
        guard open.count == texts.count, open.count <= Self.maximumOpen, xmin > 0, xmin <= xmax,
            zip(open, open.dropFirst()).allSatisfy({ $0 < $1 }), open.allSatisfy({ (xmin..<xmax).contains($0) })
        else { return nil }
        (self.xmin, self.xmax, self.open, self.checksum) = (xmin, xmax, open, checksum)
    }

    /// Reads the base cursor of an upload. If the client had no position when it made the upload, the text is empty,
    /// and the result is the snapshot of an empty database. Returns nil for a text that no correct client sends.
    package init?(base: SyncCursor) {
        if base.text.isEmpty { self.init(xmin: 1, xmax: 1, open: [], checksum: nil) } else { self.init(base) }
    }

    // Accepts only digits. The initializer of UInt64 would also accept a sign.
    private static func number(_ text: Substring) -> UInt64? {
        text.utf8.allSatisfy { (48...57).contains($0) }
            ? UInt64(text).flatMap { $0 <= UInt64(Int64.max) ? $0 : nil } : nil
    }

    private init(xmin: UInt64, xmax: UInt64, open: [UInt64], checksum: Int64?) {
        (self.xmin, self.xmax, self.open, self.checksum) = (xmin, xmax, open, checksum)
    }

    package var cursor: SyncCursor { SyncCursor(snapshot + (checksum.map { ":\($0)" } ?? "")) }

    /// The text of a `pg_snapshot`.
    package var snapshot: String { "\(xmin):\(xmax):\(open.map(String.init).joined(separator: ","))" }

    /// The same snapshot with another checksum.
    package func with(checksum: Int64?) -> SnapshotCursor {
        SnapshotCursor(xmin: xmin, xmax: xmax, open: open, checksum: checksum)
    }

    /// The snapshot without the transactions from `limit` on.
    ///
    /// A snapshot also contains transactions that were rolled back, and transactions with commits that were not yet
    /// durable. After a crash, PostgreSQL may assign the numbers of these transactions again. The snapshot would then
    /// seem to contain the new transactions. PostgreSQL never assigns a number below the number of a durable
    /// transaction again. So a snapshot that ends with a durable transaction is safe.
    package func restricted(below limit: UInt64) -> SnapshotCursor {
        if limit >= xmax { return self }
        return SnapshotCursor(
            xmin: min(xmin, limit), xmax: limit, open: open.filter { $0 < limit }, checksum: checksum)
    }

    /// True if the transaction had ended. If it was committed, the snapshot contains it.
    package func contains(_ transaction: UInt64) -> Bool {
        if transaction < xmin { return true }
        return transaction < xmax && !open.contains(transaction)
    }

    /// True if the snapshot contains the transaction and all older ones.
    package func containsAll(through transaction: UInt64) -> Bool {
        transaction < xmax && open.allSatisfy { $0 > transaction }
    }

    /// True if the other snapshot contains all transactions of this one.
    package func isContained(in other: SnapshotCursor) -> Bool {
        xmax <= other.xmax && other.open.allSatisfy { !contains($0) }
    }
}
