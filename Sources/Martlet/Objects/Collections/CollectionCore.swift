import MartletEngine
import MartletValues

/// The untyped list, set or map of one property of one row in one Realm. All typed instances of the collection share
/// it.
final class CollectionCore {
    /// The weak reference to this object. It is used instead of `weak`, which would slow down every retain of the
    /// object.
    let reference = WeakReference()
    let context: RealmContext
    let table: ObjectTable
    let property: PropertySchema
    let owner: ObjectKey
    let id: CollectionID
    let layout: TableLayout.Collection
    /// The table of the element objects; nil if the elements are values.
    private(set) lazy var target = property.element.target.flatMap(context.table(named:))
    @exclusivity(unchecked) var elements: ChunkedElements?
    /// The targets of the links that were added or removed since the last write to the file.
    @exclusivity(unchecked) var targetCounts = TargetCounts()
    /// How many links to each target were added to (or removed from) `AnyRealmValue` values since the last write to the
    /// file.
    var anyLinkChanges: [AnyLink: Int] = [:]
    /// The positions of the elements, or of the keys of a map. Nil until several searches have run. An append adds a
    /// position, and most other changes set the property to nil.
    @exclusivity(unchecked) var positions: ElementPositions?
    /// The chunks of the elements of a large set, or of the keys of a large map. Nil until searches repeat. It is kept
    /// when elements are appended or removed.
    @exclusivity(unchecked) var index: ElementIndex?
    /// The number of searches that have used the elements since `positions` was last set to nil.
    @exclusivity(unchecked) var searchCount = 0
    /// The number of searches that have used the table of targets since `positions` was last set to nil.
    @exclusivity(unchecked) var targetSearchCount = 0
    /// True while there are changes that are not written to the file yet.
    @exclusivity(unchecked) var isQueued = false
    @exclusivity(unchecked) private(set) var isOwnerDeleted = false
    /// True if the Realm was invalidated. In this case the owner's row may still exist.
    private var isRealmInvalidated = false
    /// The change count of the context when the owner was last known to exist.
    @exclusivity(unchecked) private var checkedChangeCount: UInt64 = 0
    /// The number of edits since this object was created.
    @exclusivity(unchecked) private(set) var editCount: UInt64 = 0
    /// Incremented when an observer that is notified of an edit edits this collection again. `makingEdits` checks it.
    var observerEditCount: UInt64 = 0
    /// The key-value observers of `isInvalidated`. The observers of the elements are stored in the owner object.
    var observers: KeyValueObservers?
    /// True inside `asOneAssignment`. In this case observers are notified of one assignment, and not of each edit.
    var isInAssignment = false

    init(_ context: RealmContext, _ table: ObjectTable, _ property: PropertyIndex, _ owner: ObjectKey) {
        self.context = context
        self.table = table
        self.property = table.type.properties[property]
        self.owner = owner
        id = CollectionID(table: table.id, property: property, owner: owner)
        layout = table.layout.collection(of: property)
        reference.begin(self)
        // Threads share the cores of a frozen Realm, so the lazy property `target` is set before other threads can read
        // it.
        if context.isFrozen { _ = target }
    }

    deinit { reference.end() }

    var name: String { "\(table.type.name).\(property.name)" }

    struct WeakCore {
        private let reference: WeakReference

        init(_ core: CollectionCore) { reference = core.reference }

        var core: CollectionCore? { reference.object.map { unsafeDowncast($0, to: CollectionCore.self) } }
    }

    // MARK: State

    /// False once the owner is deleted.
    var isValid: Bool {
        if context.isFrozen { return true }
        context.recordRead(.property(table.id, owner, property.index))
        return ownerExists
    }

    private var ownerExists: Bool {
        if isOwnerDeleted { return false }
        guard checkedChangeCount != context.changeCount else { return true }
        if let object = table.identity.object(owner), object._state == .live {
            checkedChangeCount = context.changeCount
            return true
        }
        let exists = table.exists(owner)
        if exists { checkedChangeCount = context.changeCount } else { isOwnerDeleted = true }
        return exists
    }

    /// Checks now whether the owner was deleted. Later, another object may have the owner's key.
    func checkOwner() { _ = ownerExists }

    func requireValid() {
        context.confinement.require("the collection '\(name)'")
        if !isValid { Misuse.invalidated(table.type.name, "that owns '\(property.name)', with the key \(owner),") }
    }

    /// Discards the elements in memory. The next access reads them again.
    func discardElements() {
        elements = nil
        forgetPositions()
        targetCounts = TargetCounts()
        anyLinkChanges = [:]
        isQueued = false
        checkedChangeCount = 0
    }

    func ownerWasDeleted() {
        discardElements()
        isOwnerDeleted = true
        isRealmInvalidated = false
    }

    func realmWasInvalidated() {
        ownerWasDeleted()
        isRealmInvalidated = true
    }

    /// Called when the deletion of the owner was rolled back.
    func ownerWasRestored() {
        discardElements()
        isOwnerDeleted = false
    }

    // MARK: Reading

    func load() {
        requireValid()
        guard elements == nil else { return }
        let limit = context.coordinator.environment.chunkLimit
        elements = context.read { try ChunkedElements(owner: owner, table: layout.chunkTable, $0, limit: limit) }
        recordFirstRead()
    }

    /// Called after a read of elements that are not in memory.
    func recordFirstRead() {
        if context.reads.isOn { return }
        context.trackReadsIfObserved()
        context.recordRead(.property(table.id, owner, property.index))
    }

    func loadChunk(_ ordinal: Int64, _ count: Int) throws -> [SQLValue] {
        let elements = try context.handle.read {
            try ChunkedElements.load(owner: owner, ordinal: ordinal, count: count, table: layout.chunkTable, $0)
        }
        if let position = property.firstInvalidPosition(elements) {
            throw damaged(elements[position], at: position, of: ordinal)
        }
        return elements
    }

    private func damaged(_ element: SQLValue, at position: Int, of ordinal: Int64) -> EngineError {
        let first = elements?.position(ofChunk: ordinal) ?? 0
        return DamagedValue(table.type.name, property, owner, holds: element, at: first + position)
            .error(path: context.coordinator.path)
    }

    // After the owner was deleted, returns zero and does not trap, because observers still receive the collection with
    // its last change.
    var count: Int {
        context.confinement.require("the collection '\(name)'")
        if isRealmInvalidated { requireValid() }
        if !isValid { return 0 }
        return context.withFrozenLock {
            load()
            return elements?.count ?? 0
        }
    }

    func element(at position: Int) -> SQLValue {
        context.withFrozenLock {
            load()
            guard let count = elements?.count, position >= 0, position < count else {
                Misuse.indexOutOfRange(position, count: elements?.count ?? 0, "'\(name)'")
            }
            return attempt { try elements?.element(at: position, loadChunk) } ?? .null
        }
    }

    func all() -> [SQLValue] {
        context.withFrozenLock {
            load()
            return attempt { try elements?.all(loadChunk) } ?? []
        }
    }

    /// The keys of the objects at a range of positions. Reads only the chunks that contain these positions.
    func keys(in range: Range<Int>) -> [ObjectKey] {
        if range.isEmpty { return [] }
        return context.withFrozenLock {
            load()
            return range.map { position in
                let element = attempt { try elements?.element(at: position, loadChunk) } ?? .null
                return if case .integer(let key) = element { key } else { 0 }
            }
        }
    }

    /// A cursor for a loop that does not read the whole list first. Nil if the list is empty. Also nil inside a write,
    /// because the loop body may then change the list.
    func makeCursor() -> LazyCursor<KeySequence>? { makeCursor { [self] in KeySequence(keys(in: 0..<count)) } }

    /// Like `makeCursor`, but for a loop over values. Also returns nil if reading all elements costs as much as reading
    /// some.
    func makeValueCursor() -> LazyCursor<[SQLValue]>? {
        makeCursor(unlessShort: true) { [self] in all() }
    }

    private func makeCursor<Members>(
        unlessShort: Bool = false, _ findMembers: @escaping () -> Members
    ) -> LazyCursor<Members>? {
        guard count > 0, context.transaction == nil else { return nil }
        return context.withFrozenLock {
            if unlessShort, elements?.isShort != false { return nil }
            let cursor = LazyCursor(findMembers)
            context.register(cursor)
            return cursor
        }
    }

    /// The elements at a range of positions. Reads only the chunks that contain these positions.
    func elements(in range: Range<Int>) -> [SQLValue] {
        context.withFrozenLock {
            load()
            return range.map { position in attempt { try elements?.element(at: position, loadChunk) } ?? .null }
        }
    }

    func attempt<R>(_ body: () throws -> R) -> R {
        do {
            return try body()
        } catch {
            context.readFailed(error)
        }
    }

    // MARK: Changing

    func willChange() -> WriteTransaction {
        load()
        let transaction = context.requireWrite("the \(property.kind) '\(name)'")
        if !isQueued {
            isQueued = true
            context.pending.collections.append(self)
        }
        return transaction
    }

    private func record(_ edit: ListEdit) {
        context.transaction?.recorder.edit(id, edit)
        context.bumpChangeCount(of: table)
        checkedChangeCount = context.changeCount
        editCount &+= 1
    }

    private func countLinks(in element: SQLValue, by change: Int) {
        if property.isAny {
            let links = attempt { try AnyLink.counts(in: element) }
            for (link, number) in links {
                if change > 0 { context.requireTarget(link) }
                anyLinkChanges[link, default: 0] += change * number
            }
        }
        guard layout.targetTable != nil, case .integer(let target) = element else { return }
        guard change > 0 else { return targetCounts.unlink(target) }
        if let table = self.target { context.requireTarget(target, table) }
        targetCounts.link(target)
    }

    func append(_ element: SQLValue) { insert(element, at: nil) }

    func insert(_ element: SQLValue, at position: Int) { insert(element, at: .some(position)) }

    // Appends if no position is given.
    private func insert(_ element: SQLValue, at given: Int?) {
        _ = willChange()
        let size = elements?.count ?? 0
        let position = given ?? size
        if position < 0 || position > size { Misuse.indexOutOfRange(position, count: size, "'\(name)'") }
        performEdit(ListEditScript([.insert(at: position, count: 1)])) {
            attempt { try elements?.insert(element, at: position, loadChunk) }
            if position < size { forgetPositions() } else { addPosition(of: element, position) }
            countLinks(in: element, by: 1)
            record(.insert(at: position, count: 1))
        }
    }

    /// Inserts elements before a position. Observers are notified of one change.
    func insert(contentsOf new: [SQLValue], at position: Int) {
        _ = willChange()
        let size = elements?.count ?? 0
        if position < 0 || position > size { Misuse.indexOutOfRange(position, count: size, "'\(name)'") }
        if new.isEmpty { return }
        let edit = ListEdit.insert(at: position, count: new.count)
        performEdit(ListEditScript([edit])) {
            attempt { try elements?.insert(contentsOf: new, at: position, loadChunk) }
            forgetPositions()
            for element in new { countLinks(in: element, by: 1) }
            record(edit)
        }
    }

    /// Removes a range of elements. Observers are notified of one change.
    func remove(_ range: Range<Int>) {
        _ = willChange()
        let size = elements?.count ?? 0
        for end in [range.lowerBound, range.upperBound] where end < 0 || end > size {
            Misuse.indexOutOfRange(end, count: size, "'\(name)'")
        }
        if range.isEmpty { return recordIfEmptied() }
        var old: [SQLValue] = []
        let edit = ListEdit.remove(at: range.lowerBound, count: range.count)
        performEdit(ListEditScript([edit])) {
            old = attempt { try elements?.remove(range, loadChunk) } ?? []
            forgetPositions()
            for element in old { countLinks(in: element, by: -1) }
            record(edit)
        }
        recordIfEmptied()
        if property.element.isEmbedded { for element in old { deleteIfEmbedded(element) } }
    }

    /// Changes the order of the elements. `new` contains the same elements in the new order.
    func reorder(_ new: [SQLValue]) {
        _ = willChange()
        let old = all()
        precondition(old.count == new.count)
        asOneAssignment {
            for (position, pair) in zip(old, new).enumerated() where pair.0 != pair.1 {
                performEdit(ListEditScript([.replace(at: position)])) {
                    _ = attempt { try elements?.replace(at: position, with: pair.1, loadChunk) }
                    forgetPositions()
                    record(.replace(at: position))
                }
            }
        }
    }

    func replace(at position: Int, with element: SQLValue, deletesReplaced: Bool = true) {
        requireElement(position)
        var old = SQLValue.null
        performEdit(ListEditScript([.replace(at: position)])) {
            old = attempt { try elements?.replace(at: position, with: element, loadChunk) } ?? .null
            if property.kind != .map || position.isMultiple(of: 2) { forgetPositions() }
            countLinks(in: old, by: -1)
            countLinks(in: element, by: 1)
            record(.replace(at: position))
        }
        if deletesReplaced { deleteIfEmbedded(old) }
    }

    func remove(at position: Int) {
        requireElement(position)
        var old = SQLValue.null
        performEdit(ListEditScript([.remove(at: position, count: 1)])) {
            #if MARTLET_SEEDED_BUGS
                if !SeededBug.isOn(.setPositionsStale) { forgetPositions(of: position..<position + 1) }
            #else
                forgetPositions(of: position..<position + 1)
            #endif
            old = attempt { try elements?.remove(at: position, loadChunk) } ?? .null
            countLinks(in: old, by: -1)
            record(.remove(at: position, count: 1))
        }
        recordIfEmptied()
        deleteIfEmbedded(old)
    }

    func move(from: Int, to: Int) {
        requireElement(from)
        requireElement(to)
        guard from != to else { return }
        performEdit(ListEditScript([.move(from: from, to: to)])) {
            let element = attempt { try elements?.remove(at: from, loadChunk) } ?? .null
            attempt { try elements?.insert(element, at: to, loadChunk) }
            forgetPositions()
            record(.move(from: from, to: to))
        }
    }

    func swap(_ a: Int, _ b: Int) {
        requireElement(a)
        requireElement(b)
        guard a != b else { return }
        performEdit(ListEditScript([.swap(a, b)])) {
            let first = element(at: a)
            let second = attempt { try elements?.replace(at: b, with: first, loadChunk) } ?? .null
            attempt { _ = try elements?.replace(at: a, with: second, loadChunk) }
            forgetPositions()
            record(.swap(a, b))
        }
    }

    func removeAll() {
        _ = willChange()
        recordAssignment()
        let old = all()
        guard !old.isEmpty else { return }
        performEdit(ListEditScript([.clear(oldCount: old.count)])) {
            elements?.removeAll()
            forgetPositions()
            for element in old { countLinks(in: element, by: -1) }
            record(.clear(oldCount: old.count))
        }
        for element in old { deleteIfEmbedded(element) }
    }

    /// Removes the elements at ascending positions. Observers are notified of one change.
    func remove(at positions: [Int]) {
        _ = willChange()
        let removed = positions.isEmpty ? [] : take(positions)
        recordIfEmptied()
        for element in removed { deleteIfEmbedded(element) }
    }

    // Emptying a list or set counts as an assignment of the property. For a map, the removal of each key is recorded
    // instead.
    private func recordIfEmptied() {
        if property.kind != .map, !context.pending.denials.isEmpty, count == 0 { recordAssignment() }
    }

    /// Removes the links to rows that are being deleted. In a map the values become nil; lists and sets lose the
    /// elements.
    func removeLinks(to targets: Set<SQLValue>) {
        change(positions(of: targets).map { ($0, property.kind == .map ? .null : nil) })
    }

    /// Removes a link from the `AnyRealmValue` values. A set loses each value that contains the link. In a list or map,
    /// `none` replaces the link.
    func removeLinks(to link: AnyLink) {
        let held = all().enumerated().map { position, element in
            (position, element, attempt { try link.removed(from: element) })
        }
        change(held.filter { $0.1 != $0.2 }.map { ($0.0, property.kind == .set ? nil : $0.2) })
    }

    /// Replaces or removes the elements at ascending positions. Observers are notified of one change.
    private func change(_ changes: [(position: Int, new: SQLValue?)]) {
        _ = willChange()
        forgetPositions()
        let edits = changes.reversed().map { position, new -> ListEdit in
            new == nil ? .remove(at: position, count: 1) : .replace(at: position)
        }
        performEdit(ListEditScript(edits)) {
            for ((position, new), edit) in zip(changes.reversed(), edits) {
                let old = attempt {
                    guard let new else { return try elements?.remove(at: position, loadChunk) }
                    return try elements?.replace(at: position, with: new, loadChunk)
                }
                countLinks(in: old ?? .null, by: -1)
                if let new { countLinks(in: new, by: 1) }
                record(edit)
            }
        }
    }

    // Removes elements and returns them. Begins at the end, so that the remaining positions stay valid. Adjacent
    // elements are removed together.
    private func take(_ positions: [Int]) -> [SQLValue] {
        var ranges: [Range<Int>] = []
        for position in positions.reversed() {
            if let last = ranges.last, last.lowerBound == position + 1 {
                ranges[ranges.count - 1] = position..<last.upperBound
            } else {
                ranges.append(position..<position + 1)
            }
        }
        var taken: [SQLValue] = []
        performEdit(ListEditScript(ranges.map { .remove(at: $0.lowerBound, count: $0.count) })) {
            for range in ranges {
                forgetPositions(of: range)
                let old = attempt { try takeElements(range) }
                for element in old { countLinks(in: element, by: -1) }
                taken += old
                record(.remove(at: range.lowerBound, count: range.count))
            }
        }
        return taken
    }

    // Removes a single element directly, which is faster than the removal of a range.
    private func takeElements(_ range: Range<Int>) throws -> [SQLValue] {
        guard range.count == 1 else { return try elements?.remove(range, loadChunk) ?? [] }
        return [try elements?.remove(at: range.lowerBound, loadChunk) ?? .null]
    }

    /// Replaces the contents. Only positions with different elements are changed.
    func assign(_ new: [SQLValue]) {
        recordAssignment()
        let old = all()
        if old == new { return }
        asOneAssignment {
            for (position, pair) in zip(old, new).enumerated() where pair.0 != pair.1 {
                replace(at: position, with: pair.1)
            }
            let common = min(old.count, new.count)
            remove(common..<old.count)
            insert(contentsOf: Array(new[common...]), at: common)
        }
    }

    private func requireElement(_ position: Int) {
        _ = willChange()
        let size = elements?.count ?? 0
        if position < 0 || position >= size { Misuse.indexOutOfRange(position, count: size, "'\(name)'") }
    }

    // An embedded object that is removed from its collection is deleted.
    private func deleteIfEmbedded(_ element: SQLValue) {
        guard property.element.isEmbedded, case .integer(let key) = element, let target else { return }
        context.deleteRow(key, target)
    }
}

extension RealmContext {
    /// The core of a collection. A new core is created if none is alive.
    func core(_ table: ObjectTable, _ property: PropertyIndex, _ owner: ObjectKey) -> CollectionCore {
        let id = CollectionID(table: table.id, property: property, owner: owner)
        return withFrozenLock {
            // If the owner of the known core was deleted, the owner's key now belongs to another object, which needs a
            // new core.
            if let core = collections[id]?.core, !core.isOwnerDeleted { return core }
            let core = CollectionCore(self, table, property, owner)
            collections[id] = CollectionCore.WeakCore(core)
            return core
        }
    }
}
