package import MartletSyncProtocol

/// The changes that one client has to make because of log entries: rows to write, and objects that leave its
/// subscriptions. All changes of one object are merged.
package struct ClientChanges: Sendable {
    package private(set) var rows: [SyncRow] = []
    package private(set) var leaving: [ObjectAddress] = []

    /// - Parameters:
    ///   - entries: the entries between the cursor of the client and a later one, in the order of the log.
    ///   - client: the number of the client.
    ///   - matches: returns whether the subscriptions of the client contain an object with these values.
    ///   - contents: the contents, at the later cursor, of the collections that `ClientChanges.collections` returns.
    package init(
        _ entries: [LogEntry], for client: UInt64,
        _ matches: (ObjectAddress, [ValuePath: SyncValue]) -> Bool,
        contents: [ObjectAddress: [ValuePath: SyncValue]] = [:]
    ) {
        for change in MergedChange.merged(entries, client) {
            let wasIn = change.old.map { matches(change.address, $0) } ?? false
            guard let new = change.new, matches(change.address, new) else {
                // The client may have an object that its own upload names, even if its subscriptions did not contain
                // the object before. So `leaving` always contains such an object.
                if wasIn || change.isOwn { leaving.append(change.address) }
                continue
            }
            // The client may not know the current values of an object that its own upload names. So the service sends
            // all values.
            let isKnown = wasIn && !change.isOwn
            let values = isKnown ? new.filter { change.old?[$0.key] != $0.value } : new
            // `contents` has all collections of the object or only its changed collections. Each contained collection
            // is whole.
            rows.append(
                SyncRow(address: change.address, values: values.merging(contents[change.address] ?? [:]) { $1 }))
        }
    }

    /// Returns the objects with collections that the client needs. The value is the set of the needed collection
    /// properties, or nil for all collections of the object. For an object that was inserted between the cursors, only
    /// the collections with log entries are needed, because the others are empty.
    package static func collections(
        _ entries: [LogEntry], for client: UInt64,
        _ matches: (ObjectAddress, [ValuePath: SyncValue]) -> Bool
    ) -> [ObjectAddress: Set<Int>?] {
        var needed: [ObjectAddress: Set<Int>?] = [:]
        for change in MergedChange.merged(entries, client) {
            guard let new = change.new, matches(change.address, new) else { continue }
            let wasIn = change.old.map { matches(change.address, $0) } ?? false
            if change.isOwn || change.wasDeleted || (!wasIn && !change.isInserted) {
                needed[change.address] = .some(nil)
            } else if !change.collections.isEmpty {
                needed[change.address] = change.collections
            }
        }
        return needed
    }
}

/// All changes of one row between two cursors.
private struct MergedChange {
    let address: ObjectAddress
    var old: [ValuePath: SyncValue]?
    var new: [ValuePath: SyncValue]?
    var isOwn: Bool
    /// True if all entries so far are touches.
    var isTouch: Bool
    var collections: Set<Int>
    /// True if the object was deleted, and perhaps created again.
    var wasDeleted: Bool

    /// True if the object did not exist at the earlier cursor.
    var isInserted: Bool { old == nil && !isTouch }

    private mutating func merge(_ entry: LogEntry, isOwn: Bool) {
        self.isOwn = self.isOwn || isOwn
        collections.formUnion(entry.collections)
        if entry.isTouch { return }
        if entry.new == nil { wasDeleted = true }
        if isTouch { old = entry.old }
        new = entry.new
        isTouch = false
    }

    // Returns one change for each row: the old values of its first entry, and the new values of its last entry. The
    // changes have the order of the first entries.
    static func merged(_ entries: [LogEntry], _ client: UInt64) -> [MergedChange] {
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
                        address: entry.address, old: entry.old, new: entry.new, isOwn: isOwn, isTouch: entry.isTouch,
                        collections: entry.collections, wasDeleted: entry.new == nil && !entry.isTouch))
            }
        }
        return changes
    }
}
