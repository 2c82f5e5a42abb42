import MartletEngine

/// A token of a key-value observation. The observation ends when the token is released, or with `invalidate()`.
///
/// The token also retains the observed object.
// Sendable: `observed` and `end` may be used and released on any thread.
public final class KeyValueObservation: @unchecked Sendable {
    private let observed: AnyObject
    private let end: () -> Void

    init(_ observed: AnyObject, _ end: @escaping () -> Void) {
        self.observed = observed
        self.end = end
    }

    deinit { end() }

    /// Ends the observation. Further calls have no effect. Can be called on any thread.
    public func invalidate() { end() }
}

extension KeyPathObservable {
    /// Calls `changeHandler` when the value at `keyPath` changes. If this Realm assigns the value, `changeHandler` is
    /// called immediately. If another Realm assigns the value, `changeHandler` is called when this Realm advances to
    /// the new version.
    ///
    /// ```swift
    /// let observation = dog.observe(\.name, options: [.old, .new]) { dog, change in
    ///     print(change.oldValue ?? "", "is now", change.newValue ?? "")
    /// }
    /// ```
    ///
    /// A key path may lead through links, as in `\.owner?.address?.city`. If such a link changes, its new target is
    /// observed. The path may end in a collection, or in `isInvalidated` of an object or a collection. Unmanaged
    /// objects can be observed too, but cannot be added to a Realm while they are observed. Several changes by other
    /// Realms cause one call, with the first old value and the last new value. Traps if the key path contains linking
    /// objects, or if the method is called outside of the object's executor.
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [],
        changeHandler: @escaping (Self, KeyValueObservedChange<Value>) -> Void
    ) -> KeyValueObservation {
        guard let names = KeyPathTracer.path(keyPath) else {
            Misuse.unknownKeyPath("\(keyPath)", component: "\(keyPath)", type: Self.className())
        }
        requireKeyValueObservable()
        let path = KeyValuePath(names, from: self)
        let subscription = KeyValueSubscription(self, path, options, .typed(keyPath, path)) { root, event in
            changeHandler(unsafeDowncast(root, to: Self.self), KeyValueObservedChange(event))
        }
        subscription.start()
        return KeyValueObservation(self) { subscription.end() }
    }
}

extension ObjectBase {
    /// Traps if the object cannot be observed on the current executor. Creates the hub, which listens for commits of
    /// other Realms.
    final func requireKeyValueObservable() {
        if _state == .invalidated { Misuse.invalidated(_typeName, _keyDescription) }
        guard let context = _context else { return }
        context.confinement.require(_described)
        if isInvalidated { Misuse.invalidated(_typeName, _keyDescription) }
        _ = context.hub
    }
}

extension KeyValueObservedChange {
    init(_ event: KeyValueEvent) {
        kind = event.kind
        newValue = event.new.flatMap { $0 as? Value }
        oldValue = event.old.flatMap { $0 as? Value }
        indexes = event.list?.indexes
        isPrior = event.isPrior
    }
}

extension KeyValueSubscription.Reader {
    /// Reads values with the type of the key path. Enum values are enum cases. If a link on the path is nil, the value
    /// is nil.
    static func typed<Root: ObjectBase, Value>(_ keyPath: KeyPath<Root, Value>, _ path: KeyValuePath) -> Self {
        let isCollection = Value.self is any PropertyCollection.Type
        let isInvalidation = path.end == nil
        let value: (ObjectBase, ObjectBase?) -> Any? = { root, end in
            guard let end else { return (Value.self as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) }
            // The root may be deleted at this time, so its key path cannot be read.
            if isInvalidation { return end.isInvalidated }
            return unsafeDowncast(root, to: Root.self)[keyPath: keyPath]
        }
        return KeyValueSubscription.Reader(
            value: value, elements: nil, oldCollection: isCollection ? { _, _ in nil } : value,
            reportsPositions: isCollection)
    }
}
