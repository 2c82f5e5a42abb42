package import MartletSyncProtocol

/// One change of one row, as the change log of the database contains it.
package struct LogEntry: Sendable, Equatable {
    /// Identifies the upload of a client that made the change.
    package struct Origin: Sendable, Hashable {
        package var client: UInt64
        package var upload: UInt64

        package init(client: UInt64, upload: UInt64) {
            self.client = client
            self.upload = upload
        }
    }

    package var address: ObjectAddress
    /// The values before the change; nil if the row did not exist.
    package var old: [ValuePath: SyncValue]?
    /// The values after the change; nil if the row was deleted.
    package var new: [ValuePath: SyncValue]?
    /// Nil if the change was not made by an upload but by another application.
    package var origin: Origin?
    /// True for an entry that changes nothing: it says that an upload names the object. Its values are those that the
    /// transaction of the upload has seen. A change that another transaction has made at the same time may have any place
    /// in the log relative to a touch, so the values of a touch count only if nothing else has changed the object.
    package var isTouch: Bool

    package init(
        address: ObjectAddress, old: [ValuePath: SyncValue]?, new: [ValuePath: SyncValue]?, origin: Origin?,
        isTouch: Bool = false
    ) {
        self.isTouch = isTouch
        self.address = address
        self.old = old
        self.new = new
        self.origin = origin
    }
}

/// The rows and deletions that log entries require on one client, merged for each object.
package struct ClientChanges: Sendable {
    package private(set) var rows: [SyncRow] = []
    package private(set) var leaving: [ObjectAddress] = []

    /// - Parameters:
    ///   - entries: the entries between the cursor of the client and a later one, in the order of the log.
    ///   - client: the number of the client.
    ///   - matches: whether the subscriptions of the client contain a row with these values.
    package init(
        _ entries: [LogEntry], for client: UInt64,
        _ matches: (ObjectAddress, [ValuePath: SyncValue]) -> Bool
    ) {
        for change in Self.merged(entries, client) {
            let wasIn = change.old.map { matches(change.address, $0) } ?? false
            guard let new = change.new, matches(change.address, new) else {
                // The client may show an object that its own upload has touched in any state. So the service names the
                // object in `leaving` even if the subscriptions did not contain it before.
                if wasIn || change.isOwn { leaving.append(change.address) }
                continue
            }
            // The client may not know the current values of an object that its own upload has touched, so all values of
            // such an object are sent.
            let isKnown = wasIn && !change.isOwn
            let values = isKnown ? new.filter { change.old?[$0.key] != $0.value } : new
            rows.append(SyncRow(address: change.address, values: values))
        }
    }

    private struct MergedChange {
        let address: ObjectAddress
        var old: [ValuePath: SyncValue]?
        var new: [ValuePath: SyncValue]?
        var isOwn: Bool
        /// True if all entries so far are touches.
        var isTouch: Bool

        mutating func merge(_ entry: LogEntry, isOwn: Bool) {
            self.isOwn = self.isOwn || isOwn
            if entry.isTouch { return }
            if isTouch { old = entry.old }
            new = entry.new
            isTouch = false
        }
    }

    // One change for each row, with its first old and its last new values, in the order of the first change.
    private static func merged(_ entries: [LogEntry], _ client: UInt64) -> [MergedChange] {
        var changes: [MergedChange] = []
        var positions: [ObjectAddress: Int] = [:]
        for entry in entries {
            let isOwn = entry.origin?.client == client
            if let position = positions[entry.address] {
                changes[position].merge(entry, isOwn: isOwn)
            } else {
                positions[entry.address] = changes.count
                changes.append(
                    MergedChange(
                        address: entry.address, old: entry.old, new: entry.new, isOwn: isOwn, isTouch: entry.isTouch))
            }
        }
        return changes
    }
}
