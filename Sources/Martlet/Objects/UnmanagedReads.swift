import MartletEngine
import Synchronization

/// What was read of an object that is in no Realm, inside of `withObservationTracking`.
///
/// Used where the object is used.
final class UnmanagedReads {
    private let registrar: ReadRegistrar
    private var marks = ColumnSet()
    private var announced: [PropertyIndex] = []

    private init(_ registrar: ReadRegistrar) { self.registrar = registrar }

    /// Takes note of what is read, if somebody tracks.
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
        announced.append(property)
        registrar.willSet(place(property))
    }

    func didChange() {
        let properties = announced
        announced = []
        for property in properties { registrar.didSet(place(property)) }
    }

    /// The object is being added to a Realm, which notes what is read from then on: whoever has read it reads it again.
    func end() {
        for property in Array(marks) { willChange(property) }
        didChange()
    }
}
