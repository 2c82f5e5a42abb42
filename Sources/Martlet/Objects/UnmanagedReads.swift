import MartletEngine
import Synchronization

/// The tracked reads of an unmanaged object: the properties that were read inside `withObservationTracking`.
///
/// Not synchronized, like the object itself.
final class UnmanagedReads {
    private let registrar: ReadRegistrar
    private var marks = ColumnSet()
    private var changing: [PropertyIndex] = []

    private init(_ registrar: ReadRegistrar) { self.registrar = registrar }

    /// Records a read if Observation is tracking.
    static func note(_ property: PropertyIndex, of object: ObjectBase) {
        guard ReadTracking.isInUse.load(ordering: .relaxed) else { return }
        if let known = object._observers?.reads { return known.note(property) }
        guard ReadRegistrar.spare.isTracking else { return }
        let reads = UnmanagedReads(ReadRegistrar.takeSpare())
        let observers = object._observers ?? KeyValueObservers()
        observers.reads = reads
        object._observers = observers
        reads.note(property)
    }

    private func note(_ property: PropertyIndex) {
        guard registrar.isTracking else { return }
        registrar.access(place(property))
        marks.insert(property)
    }

    private func place(_ property: PropertyIndex) -> ReadPlace { .property(0, 0, property) }

    func willChange(_ property: PropertyIndex) {
        guard marks.contains(property) else { return }
        if !registrar.isTracking { marks.remove(property) }
        changing.append(property)
        registrar.willSet(place(property))
    }

    func didChange() {
        let properties = changing
        changing = []
        for property in properties { registrar.didSet(place(property)) }
    }

    /// Notifies Observation of all properties, because the object was added to a Realm, which tracks reads from then on.
    func end() {
        for property in Array(marks) { willChange(property) }
        didChange()
    }
}
