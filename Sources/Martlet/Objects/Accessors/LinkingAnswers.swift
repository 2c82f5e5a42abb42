import MartletEngine

/// A cache of the known members of linking objects. Each read of a property of kind linking objects creates a new
/// result. With the cached members, the new result does not repeat the query of the previous one.
///
/// An entry is valid only for one change count of the Realm. It does not retain the owner.
struct LinkingAnswers {
    struct ID: Equatable {
        let property: PropertyIndex
        let owner: ObjectKey
    }

    private struct Entry {
        let id: ID
        let changeCount: UInt64
        var members: KnownMembers
    }

    /// The owner's key determines the index of an entry. A new entry replaces the previous entry at its index.
    private var entries: [Entry?] = []
    private static let entryCount = 32
    /// Longer results are not cached, so that the entries use little memory.
    private static let maximumCount = 1_024

    private static func place(_ id: ID) -> Int { (Int(truncatingIfNeeded: id.owner) &+ id.property) & (entryCount - 1) }

    func members(_ id: ID, at changeCount: UInt64) -> KnownMembers? {
        guard !entries.isEmpty, let entry = entries[Self.place(id)], entry.id == id, entry.changeCount == changeCount
        else { return nil }
        return entry.members
    }

    mutating func insert(_ members: KnownMembers, _ id: ID, at changeCount: UInt64) {
        if entries.isEmpty { entries = Array(repeating: nil, count: Self.entryCount) }
        var members = members
        if let keys = members.allKeys, keys.count > Self.maximumCount { members.allKeys = nil }
        entries[Self.place(id)] = Entry(id: id, changeCount: changeCount, members: members)
    }
}
