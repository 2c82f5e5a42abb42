import MartletEngine

/// A list, set or map that accesses its elements through a core. Several instances can share the core of one stored
/// collection.
protocol CoreCollection: PropertyCollection {
    init(core: CollectionCore)
    /// Nil for an unmanaged collection.
    var core: CollectionCore? { get }
}

extension List: CoreCollection {}
extension MutableSet: CoreCollection {}
extension Map: CoreCollection {}
