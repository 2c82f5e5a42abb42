import MartletEngine
import MartletSQLite

/// The list, set or map of one row and property in one Realm, untyped. All its typed handles share it.
final class CollectionCore {
    /// What refers to it without keeping it.
    let reference = LooseReference()
    let context: RealmContext
    let table: ObjectTable
    let property: PropertySchema
    let owner: ObjectKey
    let id: CollectionID
    let layout: TableLayout.Collection
    /// The table of the objects that are elements; nil for values.
    private(set) lazy var target = property.element.target.flatMap(context.table(named:))
    @exclusivity(unchecked) var elements: ChunkedElements?
    /// Links that are more, or fewer, than is written.
    @exclusivity(unchecked) var targetCounts = TargetCounts()
    /// The same for links in values of any type.
    var anyLinkChanges: [AnyLink: Int] = [:]
    /// Where each element of a set, or each key of a map, stands; nil until asked for and after a removal in the middle.
    @exclusivity(unchecked) private var positions: [SQLValue: Int]?
    /// Waits to be written.
    @exclusivity(unchecked) var isQueued = false
    @exclusivity(unchecked) private(set) var isOwnerGone = false
    /// The Realm was invalidated: then the owner may be there still.
    private var isRealmInvalidated = false
    @exclusivity(unchecked) private var checkedStamp: UInt64 = 0
    /// Those of `isInvalidated`; the observers of what is in the collection are its owner's.
    var observers: KeyValueObservers?
    /// Observers have been told of a change that the present edits are parts of.
    private var isAnnounced = false

    init(_ context: RealmContext, _ table: ObjectTable, _ property: PropertyIndex, _ owner: ObjectKey) {
        self.context = context
        self.table = table
        self.property = table.type.properties[property]
        self.owner = owner
        id = CollectionID(table: table.id, property: property, owner: owner)
        layout = table.layout.collection(of: property)
        reference.begin(self)
        // Other threads may only read it.
        if context.isFrozen { _ = target }
    }

    deinit { reference.end() }

    var name: String { "\(table.type.name).\(property.name)" }

    // MARK: State

    /// False once the owner is deleted.
    var isValid: Bool {
        if context.isFrozen { return true }
        context.noteRead(.property(table.id, owner, property.index))
        return isOwnerThere
    }

    private var isOwnerThere: Bool {
        if isOwnerGone { return false }
        guard checkedStamp != context.stamp else { return true }
        if let object = table.identity.object(owner), object._state == .live {
            checkedStamp = context.stamp
            return true
        }
        let exists = context.read {
            try $0.integer(
                "SELECT 1 FROM \(table.layout.table) WHERE \(table.layout.keyColumn) = ?1", [.integer(owner)]) == 1
        }
        if exists { checkedStamp = context.stamp } else { isOwnerGone = true }
        return exists
    }

    func requireValid() {
        context.confinement.require("the collection '\(name)'")
        if !isValid { Misuse.invalidated(table.type.name, "that owns '\(property.name)', with the key \(owner),") }
    }

    /// Gives up what is in memory: it is read again when needed.
    func forget() {
        elements = nil
        positions = nil
        targetCounts = TargetCounts()
        anyLinkChanges = [:]
        isQueued = false
        checkedStamp = 0
    }

    func ownerWasDeleted() {
        forget()
        isOwnerGone = true
    }

    func realmWasInvalidated() {
        ownerWasDeleted()
        isRealmInvalidated = true
    }

    /// The deletion of the owner was taken back.
    func ownerIsBack() {
        forget()
        isOwnerGone = false
    }

    // MARK: Reading

    private func load() {
        requireValid()
        guard elements == nil else { return }
        let limit = context.coordinator.environment.chunkLimit
        elements = context.read { try ChunkedElements(owner: owner, table: layout.chunks, $0, limit: limit) }
        if !context.reads.isOn {
            context.noticeTracking()
            context.noteRead(.property(table.id, owner, property.index))
        }
    }

    private func loadChunk(_ ordinal: Int64, _ count: Int) throws -> [SQLValue] {
        let elements = try context.handle.read {
            try ChunkedElements.load(owner: owner, ordinal: ordinal, count: count, table: layout.chunks, $0)
        }
        if let position = property.firstUnfit(elements) { throw damaged(elements[position], at: position, of: ordinal) }
        return elements
    }

    private func damaged(_ element: SQLValue, at position: Int, of ordinal: Int64) -> EngineError {
        let first = elements?.position(ofChunk: ordinal) ?? 0
        return DamagedValue(table.type.name, property, owner, holds: element, at: first + position)
            .error(path: context.coordinator.path)
    }

    // Zero once the owner was deleted: observers are handed the collection with its last change.
    var count: Int {
        context.confinement.require("the collection '\(name)'")
        if isRealmInvalidated { requireValid() }
        if !isValid { return 0 }
        return context.guarded {
            load()
            return elements?.count ?? 0
        }
    }

    func element(at position: Int) -> SQLValue {
        context.guarded {
            load()
            guard let count = elements?.count, position >= 0, position < count else {
                Misuse.indexOutOfRange(position, count: elements?.count ?? 0, "'\(name)'")
            }
            return attempt { try elements?.element(at: position, loadChunk) } ?? .null
        }
    }

    func all() -> [SQLValue] {
        context.guarded {
            load()
            return attempt { try elements?.all(loadChunk) } ?? []
        }
    }

    /// The keys of the objects at a range of positions, of which only the chunks that they are in are read.
    func keys(in range: Range<Int>) -> [ObjectKey] {
        if range.isEmpty { return [] }
        return context.guarded {
            load()
            return range.map { position in
                let element = attempt { try elements?.element(at: position, loadChunk) } ?? .null
                return if case .integer(let key) = element { key } else { 0 }
            }
        }
    }

    /// Begins a loop that needs not read the whole list beforehand; nil inside of a write, where any line may change it.
    func startWalk() -> StartedWalk? {
        guard count > 0, context.transaction == nil else { return nil }
        return context.guarded {
            let walk = StartedWalk { [self] in KeySequence(keys(in: 0..<count)) }
            context.register(walk)
            return walk
        }
    }

    /// Where a set holds an element, or a map a key. Complexity: O(1), but O(n) the first time and after a removal.
    func position(of value: SQLValue) -> Int? { context.guarded { findPosition(of: value) } }

    private func findPosition(of value: SQLValue) -> Int? {
        load()
        if positions == nil {
            let all = all()
            let step = property.kind == .map ? 2 : 1
            positions = Dictionary(
                stride(from: 0, to: all.count, by: step).map { (identity(of: all[$0]), $0) },
                uniquingKeysWith: { first, _ in first })
        }
        return positions?[identity(of: value)]
    }

    // Both zeros are one number, though they are kept apart, and so are equal numbers of several kinds.
    private func identity(of value: SQLValue) -> SQLValue {
        if property.kind == .set, property.isAny { return AnyValue.sortKey(value) }
        guard property.kind != .map, property.element.isFloating, case .blob = value else { return value }
        return Double._value(StoredValue(value))?._compared.raw ?? value
    }

    private func attempt<R>(_ body: () throws -> R) -> R {
        do {
            return try body()
        } catch {
            context.readFailed(error)
        }
    }

    // MARK: Changing

    private func willChange() -> WriteTransaction {
        load()
        let transaction = context.requireWrite("the collection '\(name)'")
        if !isQueued {
            isQueued = true
            context.dirtyCollections.append(self)
        }
        return transaction
    }

    private func notify(_ edit: @autoclosure () -> ListEditScript, _ body: () -> Void) {
        if isUnobserved { return body() }
        announce({ KeyValueEdit(edit()) }, body)
    }

    private var isUnobserved: Bool { isAnnounced || context.observedObjects.isEmpty && !context.isNoting }

    /// Carries out several edits that observers see as one assignment.
    func asOne(_ body: () -> Void) {
        if isUnobserved { return body() }
        announce({ nil }) {
            isAnnounced = true
            body()
            isAnnounced = false
        }
    }

    private func announce(_ edit: () -> KeyValueEdit?, _ body: () -> Void) {
        defer { context.reads.didChange() }
        var observers: [KeyValueObservers] = []
        table.forEachAccessor(owner) { if let known = $0._observers { observers.append(known) } }
        #if MARTLET_SEEDED_BUGS
            if SeededBug.isOn(.twinUnnoticed) {
                observers = [table.identity.object(owner)?._observers].compactMap { $0 }
            }
        #endif
        var announced: [KeyValueAnnouncement.Entry] = []
        for known in observers {
            known.noteChange(of: property.index, in: context)
            announced += known.announce({ $0 == property.index }, { _ in edit() }).map { (known, $0) }
        }
        context.reads.willChange(property.index, of: owner, in: table.id)
        body()
        for (known, registration) in announced where known.isRegistered(registration.id) { registration.did() }
    }

    // The program gives the collection other contents, whatever was deleted out of it.
    private func noteAssignment() {
        context.denials.propertyWasAssigned(property.index, of: RowDeletion.Row(table: table.id, key: owner))
    }

    private func record(_ edit: ListEdit) {
        context.transaction?.recorder.edit(id, edit)
        context.touch()
        checkedStamp = context.stamp
    }

    private func count(_ element: SQLValue, _ change: Int) {
        if property.isAny {
            let links = attempt { try AnyLink.counts(in: element) }
            for (link, number) in links { anyLinkChanges[link, default: 0] += change * number }
        }
        guard layout.targets != nil, case .integer(let target) = element else { return }
        if change > 0 { targetCounts.link(target) } else { targetCounts.unlink(target) }
    }

    func append(_ element: SQLValue) { insert(element, at: nil) }

    func insert(_ element: SQLValue, at position: Int) { insert(element, at: .some(position)) }

    // At the end where no position is given.
    private func insert(_ element: SQLValue, at given: Int?) {
        _ = willChange()
        let size = elements?.count ?? 0
        let position = given ?? size
        if position < 0 || position > size { Misuse.indexOutOfRange(position, count: size, "'\(name)'") }
        notify(ListEditScript([.insert(at: position, count: 1)])) {
            attempt { try elements?.insert(element, at: position, loadChunk) }
            if position < size {
                positions = nil
            } else if property.kind != .map || position.isMultiple(of: 2) {
                positions?[identity(of: element)] = position
            }
            count(element, 1)
            record(.insert(at: position, count: 1))
        }
    }

    /// Puts elements before a position, which to observers is one change.
    func insert(contentsOf new: [SQLValue], at position: Int) {
        _ = willChange()
        let size = elements?.count ?? 0
        if position < 0 || position > size { Misuse.indexOutOfRange(position, count: size, "'\(name)'") }
        if new.isEmpty { return }
        let edit = ListEdit.insert(at: position, count: new.count)
        notify(ListEditScript([edit])) {
            attempt { try elements?.insert(contentsOf: new, at: position, loadChunk) }
            positions = nil
            for element in new { count(element, 1) }
            record(edit)
        }
    }

    /// Takes a range of elements out, which to observers is one change.
    func remove(_ range: Range<Int>) {
        _ = willChange()
        let size = elements?.count ?? 0
        for end in [range.lowerBound, range.upperBound] where end < 0 || end > size {
            Misuse.indexOutOfRange(end, count: size, "'\(name)'")
        }
        if range.isEmpty { return }
        var old: [SQLValue] = []
        let edit = ListEdit.remove(at: range.lowerBound, count: range.count)
        notify(ListEditScript([edit])) {
            old = attempt { try elements?.remove(range, loadChunk) } ?? []
            positions = nil
            for element in old { count(element, -1) }
            record(edit)
        }
        if property.element.isEmbedded { for element in old { discard(element) } }
    }

    /// Puts the elements that are there into another order.
    func reorder(_ new: [SQLValue]) {
        _ = willChange()
        let old = all()
        precondition(old.count == new.count)
        asOne {
            for (position, pair) in zip(old, new).enumerated() where pair.0 != pair.1 {
                notify(ListEditScript([.replace(at: position)])) {
                    _ = attempt { try elements?.replace(at: position, with: pair.1, loadChunk) }
                    record(.replace(at: position))
                }
            }
        }
        positions = nil
    }

    func replace(at position: Int, with element: SQLValue, discardsOld: Bool = true) {
        requireElement(position)
        var old = SQLValue.null
        notify(ListEditScript([.replace(at: position)])) {
            old = attempt { try elements?.replace(at: position, with: element, loadChunk) } ?? .null
            if property.kind != .map || position.isMultiple(of: 2) { positions = nil }
            count(old, -1)
            count(element, 1)
            record(.replace(at: position))
        }
        if discardsOld { discard(old) }
    }

    func remove(at position: Int) {
        requireElement(position)
        var old = SQLValue.null
        notify(ListEditScript([.remove(at: position, count: 1)])) {
            old = attempt { try elements?.remove(at: position, loadChunk) } ?? .null
            #if MARTLET_SEEDED_BUGS
                if !SeededBug.isOn(.setPositionsStale) { positions = nil }
            #else
                positions = nil
            #endif
            count(old, -1)
            record(.remove(at: position, count: 1))
        }
        discard(old)
    }

    func move(from: Int, to: Int) {
        requireElement(from)
        requireElement(to)
        guard from != to else { return }
        notify(ListEditScript([.move(from: from, to: to)])) {
            let element = attempt { try elements?.remove(at: from, loadChunk) } ?? .null
            attempt { try elements?.insert(element, at: to, loadChunk) }
            record(.move(from: from, to: to))
        }
    }

    func swap(_ a: Int, _ b: Int) {
        requireElement(a)
        requireElement(b)
        guard a != b else { return }
        notify(ListEditScript([.swap(a, b)])) {
            let first = element(at: a)
            let second = attempt { try elements?.replace(at: b, with: first, loadChunk) } ?? .null
            attempt { _ = try elements?.replace(at: a, with: second, loadChunk) }
            record(.swap(a, b))
        }
    }

    func removeAll() {
        _ = willChange()
        noteAssignment()
        let old = all()
        guard !old.isEmpty else { return }
        notify(ListEditScript([.clear(oldCount: old.count)])) {
            elements?.removeAll()
            positions = nil
            for element in old { count(element, -1) }
            record(.clear(oldCount: old.count))
        }
        for element in old { discard(element) }
    }

    /// Takes elements out, which to observers is one change. Positions ascend.
    func remove(at places: [Int]) {
        for element in take(places) { discard(element) }
    }

    /// Lets go of targets that are being deleted: values of maps become nil, elements of lists and sets go.
    func release(_ targets: Set<SQLValue>) {
        let held = all().enumerated().filter { targets.contains($0.element) }
        change(held.map { ($0.offset, property.kind == .map ? .null : nil) })
    }

    /// The same for links in values of any type: sets lose such a value, elsewhere nothing takes the place of the link.
    func release(_ link: AnyLink) {
        let held = all().enumerated().map { position, element in
            (position, element, attempt { try link.removed(from: element) })
        }
        change(held.filter { $0.1 != $0.2 }.map { ($0.0, property.kind == .set ? nil : $0.2) })
    }

    /// Replaces elements, or takes them out, which to observers is one change. Positions ascend.
    private func change(_ changes: [(position: Int, new: SQLValue?)]) {
        _ = willChange()
        positions = nil
        let edits = changes.reversed().map { position, new -> ListEdit in
            new == nil ? .remove(at: position, count: 1) : .replace(at: position)
        }
        notify(ListEditScript(edits)) {
            for ((position, new), edit) in zip(changes.reversed(), edits) {
                let old = attempt {
                    guard let new else { return try elements?.remove(at: position, loadChunk) }
                    return try elements?.replace(at: position, with: new, loadChunk)
                }
                count(old ?? .null, -1)
                if let new { count(new, 1) }
                record(edit)
            }
        }
    }

    // From the end, so that what is to come stays where it is; neighbours at once.
    private func take(_ places: [Int]) -> [SQLValue] {
        _ = willChange()
        var ranges: [Range<Int>] = []
        for place in places.reversed() {
            if let last = ranges.last, last.lowerBound == place + 1 {
                ranges[ranges.count - 1] = place..<last.upperBound
            } else {
                ranges.append(place..<place + 1)
            }
        }
        var taken: [SQLValue] = []
        notify(ListEditScript(ranges.map { .remove(at: $0.lowerBound, count: $0.count) })) {
            positions = nil
            for range in ranges {
                let old = attempt { try takeElements(range) }
                for element in old { count(element, -1) }
                taken += old
                record(.remove(at: range.lowerBound, count: range.count))
            }
        }
        return taken
    }

    // One alone is found without a search.
    private func takeElements(_ range: Range<Int>) throws -> [SQLValue] {
        guard range.count == 1 else { return try elements?.remove(range, loadChunk) ?? [] }
        return [try elements?.remove(at: range.lowerBound, loadChunk) ?? .null]
    }

    /// Makes the elements these, touching only positions that differ.
    func assign(_ new: [SQLValue]) {
        noteAssignment()
        let old = all()
        if old == new { return }
        asOne {
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

    // An embedded object that leaves its list is deleted.
    private func discard(_ element: SQLValue) {
        guard property.element.isEmbedded, case .integer(let key) = element, let target else { return }
        context.deleteRow(key, target)
    }
}

extension RealmContext {
    /// The core of a collection, shared by its handles.
    func core(_ table: ObjectTable, _ property: PropertyIndex, _ owner: ObjectKey) -> CollectionCore {
        let id = CollectionID(table: table.id, property: property, owner: owner)
        return guarded {
            if let core = collections[id]?.core { return core }
            let core = CollectionCore(self, table, property, owner)
            collections[id] = WeakCore(core: core)
            return core
        }
    }
}
