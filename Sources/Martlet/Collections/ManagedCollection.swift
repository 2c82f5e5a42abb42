import MartletEngine

/// A list, set or map that accesses its stored elements through a `CollectionCore`. Several instances can share the
/// core of one stored collection.
protocol ManagedCollection: PropertyCollection {
    init(core: CollectionCore)
    /// Nil for an unmanaged collection.
    var core: CollectionCore? { get }
}

extension List: ManagedCollection {}
extension MutableSet: ManagedCollection {}
extension Map: ManagedCollection {}
