import MartletEngine

/// A list, set or map as an accessor of its core: any number of them may stand for one collection of a Realm.
protocol CoreCollection: PropertyCollection {
    init(core: CollectionCore)
    /// Nil for unmanaged ones.
    var core: CollectionCore? { get }
}

extension List: CoreCollection {}
extension MutableSet: CoreCollection {}
extension Map: CoreCollection {}
