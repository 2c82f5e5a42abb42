import MartletEngine
import MartletSQLite

/// Hands out the members that a collection had at the start, whatever happens to them meanwhile.
///
/// Rows are copied in blocks, and each becomes an object when its turn comes: what the loop lets go of is gone before the
/// next is made. Rows that were copied count while the Realm shows what it showed then.
@usableFromInline struct BlockIterator {
    private let table: ObjectTable
    private let context: RealmContext
    /// What goes on along the table or the list, without keys; nil once there are keys.
    private var walk: StartedWalk?
    /// The list that a walk goes along.
    private var list: CollectionCore?
    private var keys = KeySequence()
    private var position = 0
    /// The last member that was handed out.
    private var last: ObjectKey?

    /// The members whose turn is next, where there are keys.
    private var block: [ObjectKey] = []
    private var blockPosition = 0
    private var blockSize = 8
    private static let largestBlock = 256
    /// Rows of members whose turn is next, in that order. Members may lack theirs.
    private var rows: RowBuffer
    private var row = 0
    /// The state of the Realm that the rows were copied in.
    private var stamp: UInt64 = 0
    private var guardWord: UInt = 0
    /// Objects that were made ahead, in reverse order: in a write rows change without the state of the Realm.
    private var made: [ObjectBase] = []
    /// True when the last object was there before.
    private var findsLiving = false

    init(_ storage: ResultsStorage) {
        table = storage.table
        context = storage.context
        walk = storage.startWalk()
        if walk == nil { keys = storage.keys }
        rows = RowBuffer(columnCount: table.keyPosition + 1, rowCapacity: 16)
    }

    /// Walks some members.
    init(_ storage: ResultsStorage, _ members: [ObjectKey]) {
        table = storage.table
        context = storage.context
        keys = KeySequence(members)
        rows = RowBuffer(columnCount: table.keyPosition + 1, rowCapacity: 16)
    }

    /// Walks the objects of a list.
    init(_ list: CollectionCore, _ table: ObjectTable) {
        self.table = table
        context = list.context
        walk = list.startWalk()
        if walk == nil { keys = KeySequence(list.keys(in: 0..<list.count)) } else { self.list = list }
        rows = RowBuffer(columnCount: table.keyPosition + 1, rowCapacity: 16)
    }

    @usableFromInline mutating func next() -> ObjectBase? {
        while true {
            if row < rows.count, isCurrent { return takeRow() }
            if let object = made.popLast() { return object }
            if !readBlock() { return nil }
        }
    }

    private mutating func takeRow() -> ObjectBase {
        let values = rows.row(row)
        let key = values.integer(table.keyPosition) ?? 0
        if walk == nil || list != nil {
            defer { blockPosition += 1 }
            // A member without a row has a living accessor, or is gone.
            guard block[blockPosition] == key else { return table.object(block[blockPosition]) }
        }
        row += 1
        last = key
        return object(key, values)
    }

    // Before the Realm shows something else, walks are settled.
    private var isCurrent: Bool {
        if let walk { return walk.keys == nil }
        return stamp == context.stamp && context.transaction == nil
    }

    /// The accessor of a row that was copied.
    private mutating func object(_ key: ObjectKey, _ values: BufferedRow) -> ObjectBase {
        if findsLiving, let known = table.identity.object(key) {
            fill(known, values)
            return known
        }
        let made = table.makeAccessor(key)
        // Other threads may find a frozen one as soon as it is known.
        if context.isFrozen { fill(made, values) }
        let object = table.identity.settle(made, key)
        findsLiving = object !== made
        fill(object, values)
        return object
    }

    private func fill(_ object: ObjectBase, _ values: BufferedRow) {
        guard object._state == .stale else { return }
        var decoder = RowDecoder(values, specialsAt: table.specialsPosition)
        object._decode(&decoder)
        if decoder.damaged >= 0 { context.refuseDamaged(decoder, object._key, table) }
        object._state = .live
        object._guard = context.reads.isOn ? 0 : guardWord
    }

    // MARK: Blocks

    /// Goes on behind what was handed out last; false at the end.
    private mutating func readBlock() -> Bool {
        // Rows that were copied for nothing, because the loop's body changes the Realm, are not to be many.
        blockSize = row < rows.count ? max(1, row) : min(blockSize * 2, Self.largestBlock)
        if !isKnownUniquelyReferenced(&rows) {
            rows = RowBuffer(columnCount: table.keyPosition + 1, rowCapacity: blockSize)
        }
        rows.removeAll()
        row = 0
        stamp = context.stamp
        guardWord = context.guardWord
        if let walk {
            if let keys = walk.keys {
                // The Realm has moved on: from here the walk goes by its keys.
                self.keys = keys
                self.walk = nil
                if list == nil, let last { position = keys.position { $0 > last } }
                list = nil
            } else if list == nil {
                return readOn()
            }
        }
        if blockPosition == block.count {
            let count = list?.count ?? keys.count
            guard position < count else { return false }
            let end = min(position + blockSize, count)
            block = list?.keys(in: position..<end) ?? keys.keys(in: position..<end)
            blockPosition = 0
            position = end
        }
        let waiting = block[blockPosition...].prefix(blockSize)
        if context.transaction == nil { readRows(of: waiting) }
        if rows.count == 0 {
            made = table.objects(Array(waiting)).reversed()
            blockPosition += waiting.count
        }
        return true
    }

    /// Copies the rows that come next in the table.
    private mutating func readOn() -> Bool {
        if last == .max { return false }
        let first = last.map { $0 + 1 } ?? .min
        context.read { connection in
            let statement = try connection.statement(table.layout.selectRange)
            statement.bind(first, at: 1)
            statement.bind(ObjectKey.max, at: 2)
            while try statement.step() {
                rows.append(statement)
                if rows.count == blockSize || rows.isLarge { return statement.reset() }
            }
        }
        return rows.count > 0
    }

    /// Copies the rows of some members, in one statement where their keys ascend and lie close together.
    private mutating func readRows(of members: ArraySlice<ObjectKey>) {
        guard let first = members.first, let last = members.last else { return }
        let isAscending = first < last && zip(members, members.dropFirst()).allSatisfy { $0 < $1 }
        if isAscending, ObjectTable.isDense(members.count, first, last) {
            readRange(of: members, first, last)
        } else {
            readOneByOne(members)
        }
    }

    private mutating func readRange(of members: ArraySlice<ObjectKey>, _ first: ObjectKey, _ last: ObjectKey) {
        var expected = members.startIndex
        context.read { connection in
            let statement = try connection.statement(table.layout.selectRange)
            statement.bind(first, at: 1)
            statement.bind(last, at: 2)
            while try statement.step() {
                let key = statement.integer(table.keyPosition)
                while expected < members.endIndex, members[expected] < key { expected += 1 }
                guard expected < members.endIndex, members[expected] == key else { continue }
                rows.append(statement)
                if rows.isLarge { return statement.reset() }
            }
        }
    }

    private mutating func readOneByOne(_ members: ArraySlice<ObjectKey>) {
        let living = table.identity.living(Array(members))
        context.read { connection in
            let statement = try table.selectStatement(connection)
            for (key, object) in zip(members, living) where object == nil || object?._state == .stale {
                statement.bind(key, at: 1)
                if try statement.step() {
                    rows.append(statement)
                    statement.reset()
                }
                if rows.isLarge { return }
            }
        }
    }
}

extension ObjectTable {
    /// Whether keys lie so close together that to read what is between them costs less than to look for each. They may be
    /// as far apart as numbers of 64 bits can be.
    fileprivate static func isDense(_ count: Int, _ first: ObjectKey, _ last: ObjectKey) -> Bool {
        let (span, isBeyond) = last.subtractingReportingOverflow(first)
        return count > 8 && !isBeyond && span < 4 * Int64(count)
    }

    /// The accessors of rows, those that are new read in one statement where the keys lie close together.
    func objects(_ keys: [ObjectKey]) -> [ObjectBase] {
        guard !context.isFrozen, let first = keys.first, let last = keys.last, first < last,
            Self.isDense(keys.count, first, last)
        else { return keys.map(object) }
        let found = accessors(keys)
        // What another accessor of a row was given may not be in the row yet.
        if hasTwins { context.flushForQuery() }
        context.fill(found, self, first, last)
        return found
    }
}

extension RealmContext {
    /// Decodes those of `objects`, in ascending order of keys, that have no values yet.
    fileprivate func fill(_ objects: [ObjectBase], _ table: ObjectTable, _ first: ObjectKey, _ last: ObjectKey) {
        guard objects.contains(where: { $0._state == .stale }) else { return }
        read { connection in
            let statement = try connection.statement(table.layout.selectRange)
            statement.bind(first, at: 1)
            statement.bind(last, at: 2)
            let keyColumn = table.keyPosition
            var position = 0
            while try statement.step() {
                let key = statement.integer(keyColumn)
                while position < objects.count && objects[position]._key < key { position += 1 }
                guard position < objects.count else { break }
                let object = objects[position]
                guard object._key == key, object._state == .stale else { continue }
                var decoder = RowDecoder(statement, specialsAt: table.specialsPosition)
                object._decode(&decoder)
                if decoder.damaged >= 0 { refuseDamaged(decoder, object._key, table) }
                object._state = .live
                object._guard = guardWord
            }
            statement.reset()
        }
    }
}
