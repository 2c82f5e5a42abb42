/// The binary form of a change set. A commit stores it in the same transaction as the data.
///
/// The bytes are, in order:
/// - a format byte
/// - the tables by ascending number, each with its inserted, deleted and modified keys
/// - the collections by table, property and ascending owner, each with its edits
/// - the target rows of changed collections (`ChangeSet.changedTargets`), by table and property
///
/// Key sets are encoded as differences between runs, so a run of any length takes a few bytes. Equal change sets have
/// equal bytes.
///
/// Earlier builds wrote format 1, which lacks the last part. A build rejects bytes of a format that it does not write.
/// The changes of such a commit are then unknown, and an observer compares the two states in full.
package enum ChangeSetCodec {
    private static let format: UInt8 = 2

    /// The greatest position and length in an edit. `decode` rejects greater numbers, so that sums of positions and
    /// lengths cannot overflow.
    private static let maximumPosition = Int(UInt32.max)

    /// The greatest number of keys in a key set, and in all modified groups of a table together. `decode` rejects
    /// greater numbers, so that sums of counts cannot overflow.
    private static let maximumCount = 1 << 56

    /// Encodes a change set.
    ///
    /// Complexity: O(n log n) in the size of the change set.
    package static func encode(_ changes: ChangeSet) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(format)
        writer.count(changes.tables.count)
        for (table, rows) in changes.tables.sorted(by: { $0.key < $1.key }) {
            writer.signed(Int64(table))
            encode(rows, to: &writer)
        }
        encode(changes.collections, to: &writer)
        writer.count(changes.changedTargets.count)
        for (link, targets) in changes.changedTargets.sorted(by: { $0.key < $1.key }) {
            writer.signed(Int64(link.table))
            writer.signed(Int64(link.property))
            encode(targets, to: &writer)
        }
        return writer.bytes
    }

    /// Decodes a change set. Returns nil if the bytes are malformed.
    ///
    /// Complexity: O(n log n) in the number of bytes.
    package static func decode(_ bytes: [UInt8]) -> ChangeSet? {
        try? decodeAll(bytes)
    }

    private static func decodeAll(_ bytes: [UInt8]) throws(MalformedBytes) -> ChangeSet {
        var reader = ByteReader(bytes)
        guard try reader.byte() == format else { throw MalformedBytes() }
        var changes = ChangeSet()
        var previous: Int?
        for _ in 0..<(try reader.count(upTo: reader.remaining)) {
            let table = Int(try reader.signed())
            if let previous, previous >= table { throw MalformedBytes() }
            previous = table
            changes.tables[table] = try decodeTable(from: &reader)
        }
        changes.collections = try decodeCollections(from: &reader)
        changes.changedTargets = try decodeLinks(from: &reader)
        guard reader.remaining == 0 else { throw MalformedBytes() }
        return changes
    }

    // MARK: Tables

    private static func encode(_ changes: TableChanges, to writer: inout ByteWriter) {
        encode(changes.inserted, to: &writer)
        encode(changes.deleted, to: &writer)
        writer.count(changes.modified.count)
        for group in changes.modified {
            let words = group.columns.words
            writer.count(words.count << 1 | (group.columns.isAll ? 1 : 0))
            for word in words { writer.varint(word) }
            encode(group.keys, to: &writer)
        }
    }

    private static func decodeTable(from reader: inout ByteReader) throws(MalformedBytes) -> TableChanges {
        let inserted = try decodeKeys(from: &reader)
        let deleted = try decodeKeys(from: &reader)
        var groups: [TableChanges.ModifiedGroup] = []
        for _ in 0..<(try reader.count(upTo: reader.remaining)) {
            let columns = try decodeColumns(from: &reader)
            let keys = try decodeKeys(from: &reader)
            if columns.isEmpty || keys.isEmpty { throw MalformedBytes() }
            if let last = groups.last, last.columns >= columns { throw MalformedBytes() }
            groups.append(TableChanges.ModifiedGroup(columns: columns, keys: keys))
        }
        let changes = TableChanges(canonicalInserted: inserted, deleted: deleted, modified: groups)
        try checkDisjoint(changes)
        return changes
    }

    /// Throws if a row is in two groups of modified rows, or is modified and also inserted or deleted.
    private static func checkDisjoint(_ changes: TableChanges) throws(MalformedBytes) {
        var total = 0
        for group in changes.modified {
            total += group.keys.count
            if total > maximumCount { throw MalformedBytes() }
        }
        let modified = changes.modifiedKeys
        let areDisjoint = total == modified.count && modified.isDisjoint(with: changes.inserted.union(changes.deleted))
        if !areDisjoint { throw MalformedBytes() }
    }

    private static func decodeColumns(from reader: inout ByteReader) throws(MalformedBytes) -> ColumnSet {
        let header = try reader.count(upTo: reader.remaining << 1 | 1)
        if header & 1 == 1 {
            if header > 1 { throw MalformedBytes() }
            return .all
        }
        var words: [UInt64] = []
        for _ in 0..<(header >> 1) { words.append(try reader.varint()) }
        guard let columns = ColumnSet(words: words) else { throw MalformedBytes() }
        return columns
    }

    // MARK: Keys

    private static func encode(_ keys: KeySet, to writer: inout ByteWriter) {
        writer.count(keys.ranges.count)
        var afterPrevious: ObjectKey?
        for run in keys.ranges {
            // At least one key lies between two runs. Therefore the number of keys in the gap is stored minus one.
            let gap = afterPrevious.map { UInt64(bitPattern: run.lowerBound &- $0 &- 1) }
            let isLong = run.lowerBound < run.upperBound
            writer.flagged(gap ?? zigzag(run.lowerBound), isLong)
            if isLong { writer.varint(UInt64(bitPattern: run.upperBound &- run.lowerBound &- 1)) }
            afterPrevious = run.upperBound &+ 1
        }
    }

    private static func decodeKeys(from reader: inout ByteReader) throws(MalformedBytes) -> KeySet {
        var keys = KeySet()
        for _ in 0..<(try reader.count(upTo: reader.remaining)) {
            let (gap, isLong) = try reader.flagged()
            var lower = Int64(bitPattern: (gap >> 1) ^ (0 &- (gap & 1)))
            if let last = keys.last {
                lower = try advance(last, by: gap, plus: 2)
            }
            let upper = isLong ? try advance(lower, by: try reader.varint(), plus: 1) : lower
            let width = UInt64(bitPattern: upper &- lower)
            if width >= UInt64(maximumCount - keys.count) { throw MalformedBytes() }
            keys.append(lower...upper)
        }
        return keys
    }

    private static func zigzag(_ value: Int64) -> UInt64 {
        UInt64(bitPattern: (value << 1) ^ (value >> 63))
    }

    /// The key that is `distance + extra` greater than `key`. Throws if it exceeds the greatest key.
    private static func advance(
        _ key: ObjectKey, by distance: UInt64, plus extra: UInt64
    ) throws(MalformedBytes) -> ObjectKey {
        let room = UInt64(bitPattern: ObjectKey.max &- key)
        guard room >= extra, distance <= room - extra else { throw MalformedBytes() }
        return key &+ Int64(bitPattern: distance &+ extra)
    }

    private static func decodeLinks(from reader: inout ByteReader) throws(MalformedBytes) -> [LinkID: KeySet] {
        var links: [LinkID: KeySet] = [:]
        var previous: LinkID?
        for _ in 0..<(try reader.count(upTo: reader.remaining)) {
            let table = Int(try reader.signed())
            let link = LinkID(table: table, property: Int(try reader.signed()))
            if let previous, previous >= link { throw MalformedBytes() }
            previous = link
            links[link] = try decodeKeys(from: &reader)
        }
        return links
    }

    // MARK: Collections

    private static func encode(_ collections: [CollectionID: ListEditScript], to writer: inout ByteWriter) {
        let sorted = collections.sorted { $0.key < $1.key }
        writer.count(sorted.count)
        var previous: CollectionID?
        for (collection, script) in sorted {
            let continues = previous?.table == collection.table && previous?.property == collection.property
            if continues, let previous {
                writer.flagged(UInt64(bitPattern: collection.owner &- previous.owner), true)
            } else {
                writer.flagged(zigzag(collection.owner), false)
                writer.signed(Int64(collection.table))
                writer.signed(Int64(collection.property))
            }
            previous = collection
            writer.count(script.edits.count)
            for edit in script.edits { encode(edit, to: &writer) }
        }
    }

    private static func decodeCollections(
        from reader: inout ByteReader
    ) throws(MalformedBytes) -> [CollectionID: ListEditScript] {
        var collections: [CollectionID: ListEditScript] = [:]
        var previous: CollectionID?
        for _ in 0..<(try reader.count(upTo: reader.remaining)) {
            let (owner, continues) = try reader.flagged()
            let collection: CollectionID
            if continues {
                guard let previous else { throw MalformedBytes() }
                let owner = try advance(previous.owner, by: owner, plus: 0)
                collection = CollectionID(table: previous.table, property: previous.property, owner: owner)
            } else {
                let table = Int(try reader.signed())
                let property = Int(try reader.signed())
                let owner = Int64(bitPattern: (owner >> 1) ^ (0 &- (owner & 1)))
                collection = CollectionID(table: table, property: property, owner: owner)
            }
            if let previous, previous >= collection { throw MalformedBytes() }
            previous = collection
            var script = ListEditScript()
            for _ in 0..<(try reader.count(upTo: reader.remaining)) { script.append(try decodeEdit(from: &reader)) }
            collections[collection] = script
        }
        return collections
    }

    /// The upper seven bits of the first byte are the kind of the edit. After the first byte, a move and a swap have
    /// two positions, and all other edits have one. If the lowest bit of the first byte is set, a count follows the
    /// position. Otherwise the count is one, or the kind has no count.
    private static func encode(_ edit: ListEdit, to writer: inout ByteWriter) {
        func counted(_ kind: UInt8, _ at: Int, _ count: Int) {
            writer.byte(kind << 1 | (count == 1 ? 0 : 1))
            writer.count(at)
            if count != 1 { writer.count(count) }
        }
        func pair(_ kind: UInt8, _ first: Int, _ second: Int) {
            writer.byte(kind << 1)
            writer.count(first)
            writer.count(second)
        }
        switch edit {
        case .insert(let at, let count): counted(0, at, count)
        case .remove(let at, let count): counted(1, at, count)
        case .replace(let at, let count): counted(2, at, count)
        case .move(let from, let to): pair(3, from, to)
        case .swap(let left, let right): pair(4, left, right)
        case .clear(let oldCount): counted(5, 0, oldCount)
        }
    }

    private static func decodeEdit(from reader: inout ByteReader) throws(MalformedBytes) -> ListEdit {
        let tag = try reader.byte()
        let first = try reader.count(upTo: maximumPosition)
        switch (tag >> 1, tag & 1) {
        case (3, 0): return .move(from: first, to: try reader.count(upTo: maximumPosition))
        case (4, 0): return .swap(first, try reader.count(upTo: maximumPosition))
        case (0...2, let isCounted), (5, let isCounted):
            let count = isCounted == 0 ? 1 : try reader.count(upTo: maximumPosition)
            switch tag >> 1 {
            case 0: return .insert(at: first, count: count)
            case 1: return .remove(at: first, count: count)
            case 2: return .replace(at: first, count: count)
            default: return .clear(oldCount: count)
            }
        default: throw MalformedBytes()
        }
    }
}
