import MartletEngine

extension List {
    /// Calls `changeHandler` when the list becomes invalidated: its owner was deleted, or the Realm was invalidated.
    ///
    /// `\.isInvalidated` is the only key path that can be observed on the list itself. To observe the elements, observe
    /// the property of the owner.
    public func observe(
        _ keyPath: KeyPath<List, Bool>, options: KeyValueObservingOptions = [],
        changeHandler: @escaping (List, KeyValueObservedChange<Bool>) -> Void
    ) -> KeyValueObservation {
        CollectionSubscription.start(self, keyPath, keyPath == \.isInvalidated, core, options, changeHandler)
    }
}

extension MutableSet {
    /// Calls `changeHandler` when the set becomes invalidated, like `List.observe(_:options:changeHandler:)`.
    public func observe(
        _ keyPath: KeyPath<MutableSet, Bool>, options: KeyValueObservingOptions = [],
        changeHandler: @escaping (MutableSet, KeyValueObservedChange<Bool>) -> Void
    ) -> KeyValueObservation {
        CollectionSubscription.start(self, keyPath, keyPath == \.isInvalidated, core, options, changeHandler)
    }
}

extension Map {
    /// Calls `changeHandler` when the map becomes invalidated, like `List.observe(_:options:changeHandler:)`.
    public func observe(
        _ keyPath: KeyPath<Map, Bool>, options: KeyValueObservingOptions = [],
        changeHandler: @escaping (Map, KeyValueObservedChange<Bool>) -> Void
    ) -> KeyValueObservation {
        CollectionSubscription.start(self, keyPath, keyPath == \.isInvalidated, core, options, changeHandler)
    }
}

/// Observes `isInvalidated` of a collection.
private enum CollectionSubscription {
    static func start<C: PropertyCollection>(
        _ collection: C, _ keyPath: KeyPath<C, Bool>, _ isInvalidation: Bool, _ core: CollectionCore?,
        _ options: KeyValueObservingOptions, _ notify: @escaping (C, KeyValueObservedChange<Bool>) -> Void
    ) -> KeyValueObservation {
        guard isInvalidation else {
            Misuse.unknownKeyPath("\(keyPath)", component: "\(keyPath)", type: "\(C.self)")
        }
        core?.requireValid()
        _ = core?.context.hub
        let (hasOld, hasNew) = (options.contains(.old), options.contains(.new))
        let state = SubscriptionState()
        // The old value of `isInvalidated`. It is true if a rollback makes the collection valid again.
        var wasDeleted = false
        let id = core?.addRegistration { [weak collection, weak core] in
            guard let collection, let core, !state.isEnded else { return false }
            wasDeleted = core.isOwnerDeleted
            if options.contains(.prior) {
                notify(collection, KeyValueObservedChange(KeyValueEvent(isPrior: true, old: hasOld ? wasDeleted : nil)))
            }
            return true
        } didChange: { [weak collection, weak core] in
            guard let collection, let core, !state.isEnded else { return }
            let isDeleted = !core.isValid
            notify(
                collection,
                KeyValueObservedChange(KeyValueEvent(old: hasOld ? wasDeleted : nil, new: hasNew ? isDeleted : nil)))
        }
        if options.contains(.initial) {
            notify(collection, KeyValueObservedChange(KeyValueEvent(new: hasNew ? false : nil)))
        }
        return KeyValueObservation(collection) { [weak core] in
            guard state.end(), let id, let core, core.context.confinement.isCurrent else { return }
            core.removeRegistration(id)
        }
    }
}

extension CollectionCore {
    fileprivate func addRegistration(willChange: @escaping () -> Bool, didChange: @escaping () -> Void) -> UInt64 {
        let observers = observers ?? KeyValueObservers()
        self.observers = observers
        context.keyValue.add(self)
        return observers.add(KeyValueObservers.invalidation, willChange: { _ in willChange() }, didChange: didChange)
    }

    fileprivate func removeRegistration(_ registration: UInt64) {
        observers?.remove(registration)
        guard observers?.isEmpty == true else { return }
        observers = nil
        context.keyValue.remove(self)
    }
}
