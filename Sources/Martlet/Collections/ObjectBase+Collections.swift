extension ObjectBase {
    @_spi(Generated) public final func _list<E>(_ property: Int, _ storage: inout List<E>?) -> List<E> {
        collection(property, &storage)
    }

    @_spi(Generated) public final func _mutableSet<E>(_ property: Int, _ storage: inout MutableSet<E>?) -> MutableSet<E>
    {
        collection(property, &storage)
    }

    @_spi(Generated) public final func _map<V>(_ property: Int, _ storage: inout Map<V>?) -> Map<V> {
        collection(property, &storage)
    }

    private func collection<C: PropertyCollection>(_ property: Int, _ storage: inout C?) -> C {
        guard let context = _context, context.isFrozen else {
            let made = makeCollection(property, &storage)
            if _observers?.reads != nil, let collection = made as? any NotifyingCollection {
                attachNotifier(collection, property)
            }
            return made
        }
        return context.withFrozenLock { makeCollection(property, &storage) }
    }

    // Makes an unmanaged collection report its changes, so that `withObservationTracking` is notified of them.
    private func attachNotifier(_ collection: any NotifyingCollection, _ property: Int) {
        if collection.notifier == nil { collection.notifier = CollectionNotifier(self, property) }
    }

    private func makeCollection<C: PropertyCollection>(_ property: Int, _ storage: inout C?) -> C {
        if let storage { return storage }
        let made = C(_owner: self, property)
        storage = made
        return made
    }
}
