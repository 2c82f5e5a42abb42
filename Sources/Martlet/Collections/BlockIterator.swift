import MartletEngine
import MartletValues

/// Iterates over the members that a collection has when the iteration starts, regardless of later changes.
///
/// The iterator copies rows in blocks, and creates the object of a row only when it returns the object. If the program
/// has released the object when the loop continues, the iterator reuses the object for the next row. The iterator
/// discards the copied rows when the Realm moves to another state.
///
/// The objects of the first block record which properties the body of the loop reads. For the next blocks, the iterator
/// reads only the columns of these properties. If the program keeps many of the objects, the iterator reads all
/// columns.
@usableFromInline struct BlockIterator {
    private let table: ObjectTable
    private let context: RealmContext
    /// The cursor of an iteration that does not read all keys first; nil if `keys` contains all keys.
    private var cursor: LazyCursor<KeySequence>?
    /// The list that the cursor iterates over; nil if the cursor iterates over a table, or if `isWindow` is true.
    private var list: CollectionCore?
    /// True if `keys` contains only the first members. The cursor then reads the other members.
    private var isWindow = false
    /// The keys of all members if there is no cursor, or of the first members.
    private var keys = KeySequence()
    /// The position of the first member after `block`.
    private var position = 0
    /// The key of the last member that was returned.
    private var last: ObjectKey?

    /// The keys of the members to return next. Empty if the cursor iterates over a table.
    private var block: [ObjectKey] = []
    private var blockPosition = 0
    private var blockSize = 8
    private static let largestBlock = 256
    /// Copied rows of the members to return next, in the order of the members. Some members may have no copied row.
    private var rows: RowBlock
    private var rowPosition = 0
    /// The change count of the Realm when the rows were copied.
    private var changeCount: UInt64 = 0
    /// The guard word of the accessors that are filled from the copied rows.
    private var guardWord: UInt = 0
    /// The objects of the block in reverse order, if `readBlock` created them in advance. `readBlock` does this inside
    /// a write transaction, because every change would make copied rows outdated. It also does this if it copied no
    /// row, for example because all members have accessors with current values.
    private var preparedObjects: [ObjectBase] = []
    /// The object that was returned last, if the iterator created it. Reading a pointer does not retain the object.
    private var lastCreated: ObjectBase?
    private var lastCreatedPointer: UnsafeRawPointer?
    /// The number of objects that the program kept since the iterator read the block.
    private var keptCount = 0
    private var hasReadBlock = false
    /// The properties that the body of the loop has read. Nil if the iterator reads all columns.
    private var usedProperties: LoadedProperties?
    /// The link targets that the body of the loop has read. Nil if the objects have no links.
    private let linkTargets: LinkTargets?

    private init(_ table: ObjectTable, _ context: RealmContext) {
        self.table = table
        self.context = context
        rows = RowBlock(table.rows.wholeRow, rowCapacity: 16)
        usedProperties = table.readsSelections ? LoadedProperties.none : nil
        linkTargets = table.keepsLinkTargets ? LinkTargets(context) : nil
    }

    init(_ storage: ResultsStorage) {
        self.init(storage.table, storage.context)
        cursor = storage.makeCursor()
        if cursor == nil {
            if let window = storage.makeWindow() {
                keys = KeySequence(window.first)
                cursor = window.cursor
                isWindow = window.cursor != nil
            } else {
                keys = storage.keys
            }
        }
    }

    /// Iterates over the given members of a result.
    init(_ storage: ResultsStorage, _ members: KeySequence) {
        self.init(storage.table, storage.context)
        keys = members
    }

    /// Iterates over the objects with some keys.
    init(_ keys: [ObjectKey], _ table: ObjectTable) {
        self.init(table, table.context)
        self.keys = KeySequence(keys)
    }

    /// Iterates over the objects of a list.
    init(_ list: CollectionCore, _ table: ObjectTable) {
        self.init(table, list.context)
        cursor = list.makeCursor()
        if cursor == nil { keys = KeySequence(list.keys(in: 0..<list.count)) } else { self.list = list }
    }

    @usableFromInline mutating func next() -> ObjectBase? {
        linkTargets?.begin()
        while true {
            if rowPosition < rows.count, isCurrent { return takeRow() }
            if let object = preparedObjects.popLast() { return object }
            if !readBlock() { return nil }
        }
    }

    private mutating func takeRow() -> ObjectBase {
        let values = rows.row(rowPosition)
        let key = values.integer(rows.selection.keyPosition) ?? 0
        if cursor == nil || list != nil || isWindow {
            defer { blockPosition += 1 }
            // If the member has no copied row, it has a living accessor, or its row was deleted.
            guard block[blockPosition] == key else { return table.object(block[blockPosition]) }
        }
        rowPosition += 1
        last = key
        return object(key, values)
    }

    // True while the copied rows are valid. Before the Realm moves to another state, every cursor reads its keys. If
    // the cursor has not read its keys, the state is therefore unchanged.
    private var isCurrent: Bool {
        if let cursor { return cursor.members == nil }
        return changeCount == context.changeCount && context.transaction == nil
    }

    /// The accessor of a copied row.
    private mutating func object(_ key: ObjectKey, _ values: RowColumns) -> ObjectBase {
        if context.isFrozen { return frozenObject(key, values) }
        if let known = table.identity.objectIfAny(key) {
            if rows.selection.isWhole { fill(known, values) }
            return known
        }
        if let pointer = lastCreatedPointer {
            if !IdentityMap.isReferencedOnce(pointer) {
                keptCount += 1
            } else if table.reusesAccessors, table.identity.reuse(pointer, for: key), let last = lastCreated {
                fill(last, values, isNew: true, isReused: true)
                return last
            }
        }
        let object = table.makeAccessor(key)
        table.identity.insertLoopAccessor(object, key)
        lastCreated = object
        lastCreatedPointer = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        fill(object, values, isNew: true)
        return object
    }

    // A frozen accessor is filled before it is registered, because other threads can find it after the registration.
    private func frozenObject(_ key: ObjectKey, _ values: RowColumns) -> ObjectBase {
        if let known = table.identity.object(key) { return known }
        let made = table.makeAccessor(key)
        fill(made, values)
        return table.identity.insertIfAbsent(made, key)
    }

    /// Decodes a copied row into a stale accessor. While the iterator records which properties are read, or has not
    /// read all columns, the accessor stays stale, so that each read calls `_prepare`.
    private func fill(_ object: ObjectBase, _ values: RowColumns, isNew: Bool = false, isReused: Bool = false) {
        guard object._state == .stale else { return }
        var decoder = RowDecoder(values, rows.selection)
        decoder.discardsCollections = isReused
        object._decode(&decoder)
        if decoder.damagedProperty >= 0 { refuseDamaged(object, decoder) }
        if isNew && usedProperties != nil {
            object._loaded = rows.selection.properties
        } else {
            object._loaded = .none
            object._state = .live
            object._guard = context.reads.isOn ? 0 : guardWord
        }
    }

    // Reads the whole row of a damaged object again, because the error names the column.
    @inline(never)
    private func refuseDamaged(_ object: ObjectBase, _ row: RowDecoder) {
        if rows.selection.isWhole { context.refuseDamaged(row, object._key, table) }
        object._loaded = .none
        if !context.loadIfThere(object, table) { context.refuseMissing(object) }
    }

    // MARK: Blocks

    /// Reads the block that follows the last returned member. Returns false if no member follows.
    private mutating func readBlock() -> Bool {
        // If some copied rows were not used, the body of the loop has changed the Realm. These rows are discarded, and
        // the next block has only as many rows as were used.
        blockSize = rowPosition < rows.count ? max(1, rowPosition) : min(blockSize * 2, Self.largestBlock)
        prepareRows()
        rowPosition = 0
        changeCount = context.changeCount
        guardWord = context.guardWord
        if let cursor {
            if isWindow, blockPosition == block.count, position == keys.count { cursor.loadMembers() }
            if let keys = cursor.members {
                // The Realm has moved to another state, or the loop has returned the first members in `keys`. The
                // iteration continues with the keys of the cursor.
                self.keys = keys
                self.cursor = nil
                if list == nil, !isWindow, let last { position = keys.position { $0 > last } }
                list = nil
                isWindow = false
            } else if list == nil, !isWindow {
                return readNextRows()
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
            preparedObjects = table.objects(Array(waiting)).reversed()
            blockPosition += waiting.count
        }
        return true
    }

    /// Removes the copied rows, and chooses the columns of the next rows.
    private mutating func prepareRows() {
        if let used = usedProperties, hasReadBlock {
            usedProperties = used.union(table.readProperties)
            if keptCount * 4 > rowPosition { usedProperties = nil }
            let selection = usedProperties.map(table.rows.selection) ?? table.rows.wholeRow
            if selection.isWhole { usedProperties = nil }
            if rows.selection.properties != selection.properties {
                rows = RowBlock(selection, rowCapacity: blockSize)
            }
        }
        table.readProperties = .none
        keptCount = 0
        hasReadBlock = true
        rows.removeAll(rowCapacity: blockSize)
    }

    /// Copies the next rows of the table. Returns false if no row follows.
    private mutating func readNextRows() -> Bool {
        if last == .max { return false }
        let first = last.map { $0 + 1 } ?? .min
        context.read { try table.rows.readRows(in: first...ObjectKey.max, limit: blockSize, into: &rows, $0) }
        return rows.count > 0
    }

    /// Copies the rows of some members. If their keys are ascending and dense, one statement reads all of them.
    /// Otherwise the function reads only the rows of members whose accessors have no current values.
    private mutating func readRows(of members: ArraySlice<ObjectKey>) {
        context.read { connection in
            if table.canReadRange(of: members) {
                return try table.rows.readRange(of: members, into: &rows, connection)
            }
            let keys = Array(members)
            let living = table.identity.living(keys)
            let unread = keys.indices.filter { living[$0].map { $0._state == .stale } ?? true }.map { keys[$0] }
            try table.rows.readRows(unread, into: &rows, connection)
        }
    }
}

extension ObjectTable {
    /// True if reading the whole range from `first` to `last` costs less than reading `count` rows separately. The
    /// difference between the two keys can exceed 64 bits, so the subtraction is checked for overflow.
    private static func isDense(_ count: Int, _ first: ObjectKey, _ last: ObjectKey) -> Bool {
        let (span, isBeyond) = last.subtractingReportingOverflow(first)
        return count > 8 && !isBeyond && span < 4 * Int64(count)
    }

    /// True if keys are ascending and dense, so that one statement should read their rows.
    func canReadRange(of keys: ArraySlice<ObjectKey>) -> Bool {
        guard let first = keys.first, let last = keys.last, first < last else { return false }
        return zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 } && Self.isDense(keys.count, first, last)
    }

    /// The accessors of rows. If the keys are dense, one statement fills all new accessors.
    func objects(_ keys: [ObjectKey]) -> [ObjectBase] {
        guard !context.isFrozen, let first = keys.first, let last = keys.last, first < last,
            Self.isDense(keys.count, first, last)
        else { return keys.map(object) }
        let found = accessors(keys)
        // Values that were assigned to a further accessor of a row may not have been written to the file yet.
        if hasFurtherAccessors { context.flushForQuery() }
        context.fill(found, self, first, last)
        return found
    }
}

extension RealmContext {
    /// Reads the rows of the objects that have no current values, with one statement. Objects that are not in ascending
    /// order of keys may be skipped. A skipped object reads its row when the program uses it.
    fileprivate func fill(_ objects: [ObjectBase], _ table: ObjectTable, _ first: ObjectKey, _ last: ObjectKey) {
        guard objects.contains(where: { $0._state == .stale }) else { return }
        read { connection in
            var position = 0
            try table.rows.forEachRow(in: first...last, connection) { key, row in
                while position < objects.count && objects[position]._key < key { position += 1 }
                guard position < objects.count else { return false }
                let object = objects[position]
                if object._key == key, object._state == .stale { fill(object, row, table) }
                return true
            }
        }
    }
}
