import MartletEngine

/// The key-value observers of one object or collection. The API that registers the observers is in the folder
/// `Sources/Martlet/Observation`.
final class KeyValueObservers {
    /// One observed key.
    struct Registration {
        let id: UInt64
        /// A property's index, or `invalidation`.
        let property: Int
        /// Called before the change, with the edit of a collection if it is known. Returns false if the edit has no
        /// effect.
        let willChange: (KeyValueEdit?) -> Bool
        /// Called after the change. After an assignment, this closure is always called. After any other change, it is
        /// called only if `willChange` returned true.
        let didChange: () -> Void
    }

    /// The value of `Registration.property` for observers of `isInvalidated`.
    static let invalidation = -1
    static let invalidationName = "isInvalidated"

    /// The registrations in ascending order of their ids.
    private var registrations: [Registration] = []
    private var lastID: UInt64 = 0
    /// The registrations made with `addObserver`. `removeObserver` finds them by observer, key path and context.
    var observerRegistrations: [AnyObject] = []
    /// The properties of an unmanaged object that were read inside `withObservationTracking`.
    var reads: UnmanagedReads?

    /// The properties that the writes of one transaction have changed. Their observers were notified. If the object is
    /// deleted later, the change set does not contain these changes. A rollback then notifies the observers of these
    /// properties.
    private var changedProperties = ColumnSet()
    private var lastChangingWrite: UInt32 = 0

    var isEmpty: Bool { registrations.isEmpty }

    func recordChange(of property: Int, in context: RealmContext) {
        if !lastChangingWrite.isSince(context.pending.firstNumber) { changedProperties = ColumnSet() }
        lastChangingWrite = context.pending.number
        changedProperties.insert(property)
    }

    /// The properties in `changedProperties`. Empty if the last change was made before the write with the number
    /// `first`.
    func changedProperties(since first: UInt32) -> ColumnSet {
        lastChangingWrite.isSince(first) ? changedProperties : ColumnSet()
    }

    func add(_ property: Int, willChange: @escaping (KeyValueEdit?) -> Bool, didChange: @escaping () -> Void) -> UInt64
    {
        lastID += 1
        registrations.append(Registration(id: lastID, property: property, willChange: willChange, didChange: didChange))
        return lastID
    }

    func remove(_ id: UInt64) { if let place = place(of: id) { registrations.remove(at: place) } }

    func isRegistered(_ id: UInt64) -> Bool { place(of: id) != nil }

    private func place(of id: UInt64) -> Int? {
        let place = registrations.indices.partitionPoint { registrations[$0].id >= id }
        return place < registrations.count && registrations[place].id == id ? place : nil
    }

    // MARK: An assignment

    func willChange(_ property: Int) {
        for registration in registrations where registration.property == property && isRegistered(registration.id) {
            _ = registration.willChange(nil)
        }
        reads?.willChange(property)
    }

    func didChange(_ property: Int) {
        for registration in registrations where registration.property == property && isRegistered(registration.id) {
            registration.didChange()
        }
        reads?.didChange()
    }

    // MARK: Other changes

    /// Notifies the observers of the properties for which `isChanged` returns true. Returns the registrations that must
    /// be notified after the change.
    func notifyWillChange(_ isChanged: (Int) -> Bool, _ edit: (Int) -> KeyValueEdit? = { _ in nil }) -> [Registration] {
        registrations.filter { registration in
            guard isChanged(registration.property), isRegistered(registration.id) else { return false }
            return registration.willChange(edit(registration.property))
        }
    }
}

/// The edits of a collection, for observers that receive the changed positions.
struct KeyValueEdit {
    let script: ListEditScript
    /// True if the edits are rolled back.
    var isInverted = false

    init(_ script: ListEditScript, isInverted: Bool = false) {
        self.script = script
        self.isInverted = isInverted
    }

    init(_ edit: ListEdit) { self.init(ListEditScript([edit])) }

    /// The change of a collection that currently has `count` elements.
    func change(count: Int) -> CollectionChange {
        #if MARTLET_SEEDED_BUGS
            let growth = SeededBug.isOn(.cancelledCountIgnored) ? 0 : script.growth
        #else
            let growth = script.growth
        #endif
        let oldCount = isInverted ? max(0, count - growth) : count
        let change = CollectionChangeBuilder.change(replaying: script, oldCount: oldCount)
        guard isInverted else { return change }
        return CollectionChange(
            deletions: change.insertions, insertions: change.deletions, modifications: change.modificationsNew,
            modificationsNew: change.modifications,
            moves: change.moves.map {
                CollectionChange.Move(from: $0.to, to: $0.from, isReplaced: $0.isReplaced)
            })
    }
}

extension ObjectBase {
    final func addRegistration(
        _ property: Int, willChange: @escaping (KeyValueEdit?) -> Bool, didChange: @escaping () -> Void
    ) -> UInt64 {
        if isFrozen { Misuse.observeFrozen(_described) }
        let observers = _observers ?? KeyValueObservers()
        _observers = observers
        _context?.keyValue.add(self)
        return observers.add(property, willChange: willChange, didChange: didChange)
    }

    final func removeRegistration(_ id: UInt64) {
        guard let observers = _observers else { return }
        observers.remove(id)
        guard observers.isEmpty else { return }
        if observers.reads == nil { _observers = nil }
        _context?.keyValue.remove(self)
    }
}

/// Notifies the key-value observers and tracked reads of an unmanaged object when the collection in one of its
/// properties changes. A notifier is created when the collection is first observed or tracked.
final class CollectionNotifier {
    private weak var owner: ObjectBase?
    private let property: Int
    /// True while observers are called before a change.
    private var isCallingBeforeChange = false

    init(_ owner: ObjectBase, _ property: Int) {
        self.owner = owner
        self.property = property
    }

    /// Performs a change of a collection and notifies observers before and after the change. If `edit` is not nil, the
    /// observers receive the changed positions.
    func change(_ edit: KeyValueEdit?, _ body: () -> Void) {
        guard let owner, let observers = owner._observers else { return body() }
        if isCallingBeforeChange {
            Misuse.changedByPriorObserver("'\(owner._typeName).\(owner._model.schema.properties[property].name)'")
        }
        isCallingBeforeChange = true
        let notified = observers.notifyWillChange({ $0 == property }, { _ in edit })
        observers.reads?.willChange(property)
        isCallingBeforeChange = false
        body()
        for registration in notified where observers.isRegistered(registration.id) { registration.didChange() }
        observers.reads?.didChange()
    }

    /// The difference between two states of a list, as an edit of one range; nil if the states are equal.
    static func edit<Element>(from old: [Element], to new: [Element]) -> KeyValueEdit? {
        let (old, new) = (old.map { $0 as? AnyHashable }, new.map { $0 as? AnyHashable })
        let common = min(old.count, new.count)
        let start = (0..<common).first { old[$0] != new[$0] } ?? common
        let end = (0..<(common - start)).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] } ?? common - start
        let (removed, inserted) = (old.count - start - end, new.count - start - end)
        if removed == 0 && inserted == 0 { return nil }
        if removed == inserted { return KeyValueEdit(.replace(at: start, count: removed)) }
        if inserted == 0 && start == 0 && end == 0 { return KeyValueEdit(.clear(oldCount: removed)) }
        return KeyValueEdit(
            ListEditScript([.remove(at: start, count: removed), .insert(at: start, count: inserted)]))
    }
}

/// A collection that notifies observers while its owner is unmanaged.
protocol NotifyingCollection: PropertyCollection {
    var notifier: CollectionNotifier? { get set }
}
