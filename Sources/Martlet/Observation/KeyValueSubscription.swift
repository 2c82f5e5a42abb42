import Foundation
import MartletEngine
import Synchronization

/// One notification of a key-value observer.
struct KeyValueEvent {
    var list: KeyValueListChange?
    var isPrior = false
    var isInitial = false
    var old: Any?
    var new: Any?

    var kind: KeyValueChangeKind { list?.kind ?? .setting }
}

/// The observation of a key path that starts at one object. The subscription registers with every object along the
/// path, and registers again when a link changes.
///
/// Thread safety: `state` is atomic. All other properties are used only on the executor of the object.
// Sendable as described above.
final class KeyValueSubscription: @unchecked Sendable {
    /// Reads values from the object at the end of the path.
    struct Reader {
        /// The value; nil if a link on the path is nil.
        let value: (_ root: ObjectBase, _ end: ObjectBase?) -> Any?
        /// The elements of the list at the end, for a change of elements.
        let elements: ((_ end: ObjectBase, _ indexes: IndexSet) -> Any?)?
        /// The old contents of a collection that is assigned. A reference to the collection would show the new
        /// elements.
        let oldCollection: (_ root: ObjectBase, _ end: ObjectBase?) -> Any?
        /// Whether changes of the collection at the end are reported with positions.
        let reportsPositions: Bool
    }

    private struct PathRegistration {
        /// Nil for the root, which the subscription does not retain.
        let object: ObjectBase?
        let id: UInt64
        /// The number of changes that have begun and not ended.
        var pending = 0
    }

    private weak var root: ObjectBase?
    @WeakContext private var context: RealmContext?
    let path: KeyValuePath
    private let options: KeyValueObservingOptions
    private let reader: Reader
    private let notify: (ObjectBase, KeyValueEvent) -> Void
    private var links: [PathRegistration] = []
    /// The current change.
    private var event: KeyValueEvent?
    private let state = SubscriptionState()

    init(
        _ root: ObjectBase, _ path: KeyValuePath, _ options: KeyValueObservingOptions, _ reader: Reader,
        _ notify: @escaping (ObjectBase, KeyValueEvent) -> Void
    ) {
        self.root = root
        context = root._context
        self.path = path
        self.options = options
        self.reader = reader
        self.notify = notify
    }

    deinit {
        guard context?.confinement.isCurrent ?? true else { return }
        for link in links { link.object?.removeRegistration(link.id) }
    }

    /// Registers, and makes the initial call if the options request it.
    func start() {
        attach()
        notifyInitially()
    }

    /// Begins the notifications, without the initial call.
    func attach() {
        if let root { attach(0, root) }
    }

    /// Makes the initial call, if the options request it.
    func notifyInitially() {
        if options.contains(.initial), let root { notify(root, KeyValueEvent(isInitial: true, new: newValue(nil))) }
    }

    /// Ends the notifications. Called on any thread. If the thread is not on the object's executor, the registrations
    /// are removed later.
    func end() {
        guard state.end(), context?.confinement.isCurrent ?? true else { return }
        detach(0)
    }

    // MARK: Objects along the path

    private func attach(_ level: Int, _ start: ObjectBase) {
        var object = start
        for level in level..<path.steps.count {
            if object._state == .invalidated { return }
            let (isRoot, step) = (level == 0, path.steps[level])
            // The root retains the subscription; the other objects do not.
            let id =
                isRoot
                ? object.addRegistration(step, willChange: { self.willChange(0, $0) }, didChange: { self.didChange(0) })
                : object.addRegistration(
                    step, willChange: { [weak self] in self?.willChange(level, $0) ?? false },
                    didChange: { [weak self] in self?.didChange(level) })
            links.append(PathRegistration(object: isRoot || object === root ? nil : object, id: id))
            guard level + 1 < path.steps.count else { return attachNotifier(of: object) }
            let property = object._model.schema.properties[step]
            guard let next = object.untypedValue(property) as? ObjectBase else { return }
            object = next
        }
    }

    private func attachNotifier(of object: ObjectBase) {
        guard object._state == .unmanaged, let property = path.end, property.isCollection else { return }
        let collection = RowEncoder.collection(of: object, property.index) as? any NotifyingCollection
        if collection?.notifier == nil { collection?.notifier = CollectionNotifier(object, property.index) }
    }

    private func detach(_ level: Int) {
        guard level < links.count else { return }
        let removed = links[level...]
        links.removeSubrange(level...)
        for link in removed { (link.object ?? root)?.removeRegistration(link.id) }
    }

    /// The object with the property at the end; nil if a link before it is nil.
    private var endObject: ObjectBase? {
        links.count == path.steps.count ? links.last.flatMap { $0.object ?? root } : nil
    }

    // MARK: Changes

    private func willChange(_ level: Int, _ edit: KeyValueEdit?) -> Bool {
        if state.isEnded {
            detach(0)
            return false
        }
        guard let root, level < links.count else { return false }
        if ignoresChangeOfDeletedRoot(root, level) { return false }
        var list: KeyValueListChange?
        if level == path.steps.count - 1, let edit, let endObject {
            guard let effect = effect(edit, endObject) else { return false }
            list = effect.list
        }
        links[level].pending += 1
        if let known = event {
            // Several changes in one notification are reported as one change of the kind `setting`.
            if known.list != nil { event = KeyValueEvent(old: options.contains(.old) ? oldValue(nil) : nil) }
            return true
        }
        var change = KeyValueEvent(list: list)
        if options.contains(.old) { change.old = oldValue(list) }
        event = change
        change.isPrior = true
        if options.contains(.prior) { notify(root, change) }
        return true
    }

    private func didChange(_ level: Int) {
        guard let root, level < links.count, links[level].pending > 0, !ignoresChangeOfDeletedRoot(root, level) else {
            return
        }
        links[level].pending -= 1
        #if MARTLET_SEEDED_BUGS
            let isLast = level + (SeededBug.isOn(.chainNotFollowed) ? 2 : 1) == path.steps.count
        #else
            let isLast = level + 1 == path.steps.count
        #endif
        if !isLast { reattach(level) }
        guard links.allSatisfy({ $0.pending == 0 }), var change = event else { return }
        event = nil
        if state.isEnded { return }
        // An observer that was called earlier may have deleted the object, or cancelled the write that added it.
        if path.end != nil, root._state == .invalidated || endObject?._state == .invalidated { return }
        change.new = newValue(change.list)
        notify(root, change)
    }

    // True if a change must be ignored because the root was deleted. The other objects along the path may still exist.
    private func ignoresChangeOfDeletedRoot(_ root: ObjectBase, _ level: Int) -> Bool {
        guard level > 0, root._state == .invalidated, !path.endsInInvalidationOfOwned, !isBeingRestored(root) else {
            return false
        }
        event = nil
        // The links are kept, because a rollback may restore the root.
        for index in links.indices { links[index].pending = 0 }
        return true
    }

    private func isBeingRestored(_ root: ObjectBase) -> Bool {
        root._context?.keyValue.restored.contains(ObjectIdentifier(root)) == true
    }

    /// Registers with the objects that follow a changed link on the path.
    private func reattach(_ level: Int) {
        detach(level + 1)
        guard let object = links[level].object ?? root, object._state != .invalidated else { return }
        let property = object._model.schema.properties[path.steps[level]]
        if let next = object.untypedValue(property) as? ObjectBase { attach(level + 1, next) }
    }

    private struct Effect {
        let list: KeyValueListChange?
    }

    /// The effect of an edit of the collection at the end; nil if the observer is not affected.
    private func effect(_ edit: KeyValueEdit, _ end: ObjectBase) -> Effect? {
        guard let property = path.end, property.isCollection else { return Effect(list: nil) }
        if path.isCount && edit.script.growth == 0 { return nil }
        let change = edit.change(count: end.elementCount(property))
        if change.isEmpty { return nil }
        let reportsPositions = reader.reportsPositions && property.kind == .list && !path.isCount
        return Effect(list: reportsPositions ? KeyValueListChange(change) : nil)
    }

    // MARK: Values

    private func oldValue(_ list: KeyValueListChange?) -> Any? {
        guard let root else { return nil }
        // An object that was deleted and is being restored has no old value.
        if path.end != nil, root._state == .invalidated || endObject?._state == .invalidated { return nil }
        guard let property = path.end, property.isCollection, !path.isCount else {
            return reader.value(root, endObject)
        }
        guard let list, let elements = reader.elements, let endObject else {
            return reader.oldCollection(root, endObject)
        }
        return list.kind == .insertion ? nil : elements(endObject, list.indexes)
    }

    private func newValue(_ list: KeyValueListChange?) -> Any? {
        guard options.contains(.new), let root else { return nil }
        guard let list, let elements = reader.elements, let endObject else { return reader.value(root, endObject) }
        return list.kind == .removal ? nil : elements(endObject, list.indexes)
    }
}

extension ObjectBase {
    /// The number of stored elements of a collection. The keys and the values of a map count separately.
    final func elementCount(_ property: PropertySchema) -> Int {
        if let context = _context, let table = _table { return context.core(table, property.index, _key).count }
        return (RowEncoder.collection(of: self, property.index) as? any KeyValueCollection)?.elementCount ?? 0
    }
}

/// Whether a subscription has ended. Used on any thread.
final class SubscriptionState: Sendable {
    private let ended = Atomic<Bool>(false)

    var isEnded: Bool { ended.load(ordering: .acquiring) }

    /// Ends the subscription. Returns true at the first call.
    func end() -> Bool {
        ended.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }
}
