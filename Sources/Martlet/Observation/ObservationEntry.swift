import MartletEngine

/// One observer of a collection or object: what it was last told, and what it is to be told next.
///
/// Ledger: everything but the token is guarded by the hub's lock.
class ObservationEntry {
    /// Held weakly: the token keeps the observation alive, not the other way round.
    weak var token: NotificationToken?
    /// The version whose state the observer knows.
    var delivered: Version
    /// The version that the pending result leads to; nil without one.
    fileprivate(set) var pending: Version?

    init(delivered: Version) { self.delivered = delivered }

    var isAlive: Bool { token.map { !$0.isInvalidated } ?? false }

    /// True while the first call has not been made.
    var isNew: Bool { false }

    typealias Changes = (changes: ChangeSet, oldRows: RowImages)?

    /// Works out what to tell at `handle`. May run in the background.
    func prepare(_ changes: Changes, _ handle: SnapshotHandle) {
        pending = handle.version
    }

    /// Counts what is pending as known without telling it.
    func skip() {
        guard let version = pending else { return }
        accept()
        delivered = version
        pending = nil
    }

    /// Takes the pending result over as the state the observer knows.
    func accept() {}

    /// Makes the call that tells what is pending; nil when there is nothing to tell.
    func call() -> (() -> Void)? { nil }

    /// The pending result becomes the known state, and its call is returned to be made.
    func take() -> (() -> Void)? {
        guard let version = pending else { return nil }
        let call = call()
        accept()
        delivered = version
        pending = nil
        return call
    }
}

/// Observes the result of a query.
final class ResultsEntry: ObservationEntry {
    private let tracker: ResultsTracker
    private let storage: ResultsStorage
    private let tell: (Outcome) -> Void
    private var known: KeySequence?
    private var next: (keys: KeySequence, change: CollectionChange)?
    private var failure: (any Error)?

    enum Outcome {
        case initial
        case update(CollectionChange)
        case failure(any Error)
    }

    init(_ tracker: ResultsTracker, _ storage: ResultsStorage, delivered: Version, _ tell: @escaping (Outcome) -> Void) {
        self.tracker = tracker
        self.storage = storage
        self.tell = tell
        super.init(delivered: delivered)
    }

    override var isNew: Bool { known == nil }

    override func prepare(_ changes: Changes, _ handle: SnapshotHandle) {
        super.prepare(changes, handle)
        do {
            if let known {
                next = try tracker.advance(known, changes, handle)
            } else {
                next = (try tracker.keys(handle), CollectionChange())
            }
        } catch {
            failure = error
        }
    }

    override func accept() {
        if let next { known = next.keys }
        next = nil
        failure = nil
    }

    override func call() -> (() -> Void)? {
        let (tell, storage) = (tell, storage)
        if let failure { return { tell(.failure(failure)) } }
        guard let next else { return nil }
        if known == nil {
            return {
                storage.install(next.keys)
                tell(.initial)
            }
        }
        if next.change.isEmpty { return nil }
        return {
            if !storage.context.isInWrite { storage.install(next.keys) }
            tell(.update(next.change))
        }
    }
}

/// Observes a list.
final class ListEntry: ObservationEntry {
    private let tracker: ListTracker
    private let tell: (ResultsEntry.Outcome) -> Void
    private var known: Int?
    private var next: (count: Int, change: CollectionChange)?
    private var failure: (any Error)?
    private var isOver = false

    init(_ tracker: ListTracker, delivered: Version, _ tell: @escaping (ResultsEntry.Outcome) -> Void) {
        self.tracker = tracker
        self.tell = tell
        super.init(delivered: delivered)
    }

    override var isNew: Bool { known == nil }

    override func prepare(_ changes: Changes, _ handle: SnapshotHandle) {
        super.prepare(changes, handle)
        guard !isOver else { return }
        do {
            guard let known else {
                next = (try tracker.count(handle) ?? 0, CollectionChange())
                return
            }
            let change = try tracker.change(oldCount: known, changes, handle)
            next = (known - change.deletions.count + change.insertions.count, change)
        } catch {
            failure = error
        }
    }

    override func accept() {
        if let next { known = next.count }
        next = nil
        failure = nil
    }

    override func call() -> (() -> Void)? {
        let tell = tell
        if let failure { return { tell(.failure(failure)) } }
        guard let next else { return nil }
        if known == nil { return { tell(.initial) } }
        return next.change.isEmpty ? nil : { tell(.update(next.change)) }
    }
}

/// Observes an object.
final class ObjectEntry: ObservationEntry {
    private let tracker: ObjectTracker
    private let object: ObjectBase
    private let tell: (Outcome) -> Void
    private var next = ObjectTracker.Change.none
    private var failure: (any Error)?
    private var isOver = false
    /// The values at the last call: what `oldValue` shows.
    private var values: [PropertyIndex: Any?]

    enum Outcome {
        case change([PropertyChange])
        case deleted
        case failure(any Error)
    }

    init(_ tracker: ObjectTracker, _ object: ObjectBase, delivered: Version, _ tell: @escaping (Outcome) -> Void) {
        self.tracker = tracker
        self.object = object
        self.tell = tell
        values = Self.values(object)
        super.init(delivered: delivered)
    }

    override func prepare(_ changes: Changes, _ handle: SnapshotHandle) {
        super.prepare(changes, handle)
        guard !isOver else { return }
        do {
            next = try tracker.change(changes, handle)
        } catch {
            failure = error
        }
    }

    override func accept() {
        if case .deleted = next { isOver = true }
        next = .none
        failure = nil
    }

    override func skip() {
        super.skip()
        if object._state != .invalidated { values = Self.values(object) }
    }

    override func call() -> (() -> Void)? {
        let tell = tell
        if let failure { return { tell(.failure(failure)) } }
        switch next {
        case .none: return nil
        case .deleted: return { tell(.deleted) }
        case .modified(let properties): return { [self] in tellChanges(properties) }
        }
    }

    private func tellChanges(_ properties: [PropertyIndex]) {
        guard !object.isInvalidated else { return }
        let old = values
        values = Self.values(object)
        let schema = object._model.schema
        tell(
            .change(
                properties.map { index in
                    let property = schema.properties[index]
                    return PropertyChange(
                        name: property.name, oldValue: old[index] ?? nil, newValue: values[index] ?? nil)
                }))
    }

    // Scalars and links; collections are reported by name only.
    private static func values(_ object: ObjectBase) -> [PropertyIndex: Any?] {
        var values: [PropertyIndex: Any?] = [:]
        for property in object._model.schema.properties where property.kind == .single {
            values[property.index] = object.untypedValue(property)
        }
        return values
    }
}
