import MartletEngine
import Synchronization

/// The tracked reads of an unmanaged object: the properties that were read inside `withObservationTracking`.
///
/// Like the object, this class does not support concurrent access by several threads.
final class UnmanagedReads {
    private let registrar: ReadRegistrar
    private var tracked = ColumnSet()
    private var changing: [PropertyIndex] = []

    private init(_ registrar: ReadRegistrar) { self.registrar = registrar }

    /// Records a read if the Observation framework is tracking reads on this thread.
    static func record(_ property: PropertyIndex, of object: ObjectBase) {
        guard ReadTracking.isInUse.load(ordering: .relaxed) else { return }
        if let known = object._observers?.reads { return known.record(property) }
        guard ReadRegistrar.spare.isTracking else { return }
        let reads = UnmanagedReads(ReadRegistrar.takeSpare())
        let observers = object._observers ?? KeyValueObservers()
        observers.reads = reads
        object._observers = observers
        reads.record(property)
    }

    private func record(_ property: PropertyIndex) {
        guard registrar.isTracking else { return }
        registrar.access(dependency(property))
        tracked.insert(property)
    }

    private func dependency(_ property: PropertyIndex) -> ReadDependency { .property(0, 0, property) }

    func willChange(_ property: PropertyIndex) {
        guard tracked.contains(property) else { return }
        if !registrar.isTracking { tracked.remove(property) }
        changing.append(property)
        registrar.willSet(dependency(property))
    }

    func didChange() {
        let properties = changing
        changing = []
        for property in properties { registrar.didSet(dependency(property)) }
    }

    /// Notifies Observation of all properties, because the object was added to a Realm. From then on the Realm tracks
    /// the reads of the object.
    func end() {
        for property in Array(tracked) { willChange(property) }
        didChange()
    }
}
