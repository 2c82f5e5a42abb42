import Foundation
import MartletEngine
import Synchronization

/// What an observer is told of one change.
struct KeyValueEvent {
    var list: KeyValueListChange?
    var isPrior = false
    var isInitial = false
    var old: Any?
    var new: Any?

    var kind: KeyValueChangeKind { list?.kind ?? .setting }
}

/// One key path observed from one object: registered with every object along it, and registered anew when a link changes.
///
/// Ledger: `state` is atomic; everything else is used where the object is.
// Sendable by the ledger above.
final class KeyValueSubscription: @unchecked Sendable {
    /// How values are taken from the object that the path ends at.
    struct Reader {
        /// The value; nil where the path is broken.
        let value: (_ root: ObjectBase, _ end: ObjectBase?) -> Any?
        /// The elements of the list at the end, where the change is one of elements.
        let elements: ((_ end: ObjectBase, _ indexes: IndexSet) -> Any?)?
        /// The value before an assignment to a collection, which cannot be told by keeping the collection itself.
        let oldCollection: (_ root: ObjectBase, _ end: ObjectBase?) -> Any?
        /// Changes of the collection at the end are told with positions.
        let tellsPositions: Bool
    }

    private struct Link {
        /// Nil for the root, which is not to be kept alive by its own observers.
        let object: ObjectBase?
        let id: UInt64
        /// Changes announced and not yet done.
        var pending = 0
    }

    private weak var root: ObjectBase?
    @Loose private var context: RealmContext?
    let path: KeyValuePath
    private let options: KeyValueObservingOptions
    private let reader: Reader
    private let tell: (ObjectBase, KeyValueEvent) -> Void
    private var links: [Link] = []
    /// The change under way.
    private var event: KeyValueEvent?
    private let state = SubscriptionState()

    init(
        _ root: ObjectBase, _ path: KeyValuePath, _ options: KeyValueObservingOptions, _ reader: Reader,
        _ tell: @escaping (ObjectBase, KeyValueEvent) -> Void
    ) {
        self.root = root
        context = root._context
        self.path = path
        self.options = options
        self.reader = reader
        self.tell = tell
    }

    deinit {
        guard context?.confinement.isCurrent ?? true else { return }
        for link in links { link.object?.removeRegistration(link.id) }
    }

    /// Registers, and makes the initial call if it is wanted.
    func start() {
        if let root { attach(0, root) }
        if options.contains(.initial), let root { tell(root, KeyValueEvent(isInitial: true, new: newValue(nil))) }
    }

    /// Nothing is told any more. From any thread; elsewhere than where the object is, its traces are removed later.
    func end() {
        guard state.end(), context?.confinement.isCurrent ?? true else { return }
        detach(0)
    }

    // MARK: The chain

    private func attach(_ level: Int, _ start: ObjectBase) {
        var object = start
        for level in level..<path.steps.count {
            if object._state == .invalidated { return }
            let (isRoot, step) = (level == 0, path.steps[level])
            // The root owns the subscription, the others do not.
            let id =
                isRoot
                ? object.addRegistration(step, will: { self.will(0, $0) }, did: { self.did(0) })
                : object.addRegistration(
                    step, will: { [weak self] in self?.will(level, $0) ?? false },
                    did: { [weak self] in self?.did(level) })
            links.append(Link(object: isRoot || object === root ? nil : object, id: id))
            guard level + 1 < path.steps.count else { return announceCollection(of: object) }
            let property = object._model.schema.properties[step]
            guard let next = object.untypedValue(property) as? ObjectBase else { return }
            object = next
        }
    }

    private func announceCollection(of object: ObjectBase) {
        guard object._state == .unmanaged, let property = path.end, property.isCollection else { return }
        let collection = RowEncoder.collection(of: object, property.index) as? any AnnouncingCollection
        if collection?.announcer == nil { collection?.announcer = CollectionAnnouncer(object, property.index) }
    }

    private func detach(_ level: Int) {
        guard level < links.count else { return }
        let removed = links[level...]
        links.removeSubrange(level...)
        for link in removed { (link.object ?? root)?.removeRegistration(link.id) }
    }

    /// The object that has the property at the end; nil when a link before it is nil.
    private var holder: ObjectBase? {
        links.count == path.steps.count ? links.last.flatMap { $0.object ?? root } : nil
    }

    // MARK: Changes

    private func will(_ level: Int, _ edit: KeyValueEdit?) -> Bool {
        if state.isEnded {
            detach(0)
            return false
        }
        guard let root, level < links.count else { return false }
        if hasLost(root, level) { return false }
        var list: KeyValueListChange?
        if level == path.steps.count - 1, let edit, let holder {
            guard let effect = effect(edit, holder) else { return false }
            list = effect.list
        }
        links[level].pending += 1
        if let known = event {
            // Two changes in one: an assignment.
            if known.list != nil { event = KeyValueEvent(old: options.contains(.old) ? oldValue(nil) : nil) }
            return true
        }
        var change = KeyValueEvent(list: list)
        if options.contains(.old) { change.old = oldValue(list) }
        event = change
        change.isPrior = true
        if options.contains(.prior) { tell(root, change) }
        return true
    }

    private func did(_ level: Int) {
        guard let root, level < links.count, links[level].pending > 0, !hasLost(root, level) else { return }
        links[level].pending -= 1
        #if MARTLET_SEEDED_BUGS
            let isLast = level + (SeededBug.isOn(.chainNotFollowed) ? 2 : 1) == path.steps.count
        #else
            let isLast = level + 1 == path.steps.count
        #endif
        if !isLast { follow(level) }
        guard links.allSatisfy({ $0.pending == 0 }), var change = event else { return }
        event = nil
        if state.isEnded { return }
        change.new = newValue(change.list)
        tell(root, change)
    }

    // What a path led to may live on when the object that it begins at is gone.
    private func hasLost(_ root: ObjectBase, _ level: Int) -> Bool {
        guard level > 0, root._state == .invalidated, !path.isOfOwned, !isReviving(root) else { return false }
        event = nil
        // The chain stays: a rollback may make the root live again.
        for index in links.indices { links[index].pending = 0 }
        return true
    }

    private func isReviving(_ root: ObjectBase) -> Bool {
        root._context?.reviving.contains(ObjectIdentifier(root)) == true
    }

    /// A link has changed: what follows it is another chain.
    private func follow(_ level: Int) {
        detach(level + 1)
        guard let object = links[level].object ?? root, object._state != .invalidated else { return }
        let property = object._model.schema.properties[path.steps[level]]
        if let next = object.untypedValue(property) as? ObjectBase { attach(level + 1, next) }
    }

    private struct Effect {
        let list: KeyValueListChange?
    }

    /// What an edit of the collection at the end is to the observer; nil when it is nothing.
    private func effect(_ edit: KeyValueEdit, _ end: ObjectBase) -> Effect? {
        guard let property = path.end, property.isCollection else { return Effect(list: nil) }
        if path.isCount && edit.script.growth == 0 { return nil }
        let change = edit.change(count: end.elementCount(property))
        if change.isEmpty { return nil }
        let tellsPositions = reader.tellsPositions && property.kind == .list && !path.isCount
        return Effect(list: tellsPositions ? KeyValueListChange(change) : nil)
    }

    // MARK: Values

    private func oldValue(_ list: KeyValueListChange?) -> Any? {
        guard let root else { return nil }
        // Deleted, and about to be live again: it had no values meanwhile.
        if path.end != nil, root._state == .invalidated || holder?._state == .invalidated { return nil }
        guard let property = path.end, property.isCollection, !path.isCount else { return reader.value(root, holder) }
        guard let list, let elements = reader.elements, let holder else { return reader.oldCollection(root, holder) }
        return list.kind == .insertion ? nil : elements(holder, list.indexes)
    }

    private func newValue(_ list: KeyValueListChange?) -> Any? {
        guard options.contains(.new), let root else { return nil }
        guard let list, let elements = reader.elements, let holder else { return reader.value(root, holder) }
        return list.kind == .removal ? nil : elements(holder, list.indexes)
    }
}

extension ObjectBase {
    /// The number of stored elements of a collection; a map's keys count too.
    final func elementCount(_ property: PropertySchema) -> Int {
        if let context = _context, let table = _table { return context.core(table, property.index, _key).count }
        return (RowEncoder.collection(of: self, property.index) as? any KeyValueCollection)?.elementCount ?? 0
    }
}

/// Whether a subscription has ended; from any thread.
final class SubscriptionState: Sendable {
    private let ended = Atomic<Bool>(false)

    var isEnded: Bool { ended.load(ordering: .acquiring) }

    /// True the first time.
    func end() -> Bool {
        ended.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }
}
