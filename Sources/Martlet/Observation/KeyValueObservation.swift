import MartletEngine

/// Keeps a key-value observation alive: it ends with the token, or with `invalidate()`.
///
/// The token keeps the observed object alive, too.
// Sendable: both closures' targets may be used and released on any thread.
public final class KeyValueObservation: @unchecked Sendable {
    private let observed: AnyObject
    private let end: () -> Void

    init(_ observed: AnyObject, _ end: @escaping () -> Void) {
        self.observed = observed
        self.end = end
    }

    deinit { end() }

    /// Ends the observation; ending it twice does nothing. From any thread.
    public func invalidate() { end() }
}

extension KeyPathObservable {
    /// Calls `changeHandler` whenever the value at `keyPath` changes: at once when it is assigned here, and when the Realm
    /// moves to a version that somebody else wrote.
    ///
    /// ```swift
    /// let observation = dog.observe(\.name, options: [.old, .new]) { dog, change in
    ///     print(change.oldValue ?? "", "is now", change.newValue ?? "")
    /// }
    /// ```
    ///
    /// A path may lead through links, as `\.owner?.address?.city`, and is followed when a link on it changes. It may end
    /// in a collection, and in `isInvalidated` of an object or a collection. Works on unmanaged objects too, which cannot be added to a Realm while
    /// they are observed. Several changes made elsewhere are one call, from the first to the last value. Traps on linking
    /// objects, and when called elsewhere than where the object is.
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
    /// The checks before an object is observed by key and value; listens for other Realms' commits.
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
    /// Values of the type of a key path, enums as enums; what is behind a nil link is nil.
    static func typed<Root: ObjectBase, Value>(_ keyPath: KeyPath<Root, Value>, _ path: KeyValuePath) -> Self {
        let isCollection = Value.self is any PropertyCollection.Type
        let isInvalidation = path.end == nil
        let value: (ObjectBase, ObjectBase?) -> Any? = { root, end in
            guard let end else { return (Value.self as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) }
            // The root may be gone by then.
            if isInvalidation { return end.isInvalidated }
            return unsafeDowncast(root, to: Root.self)[keyPath: keyPath]
        }
        return KeyValueSubscription.Reader(
            value: value, elements: nil, oldCollection: isCollection ? { _, _ in nil } : value,
            tellsPositions: isCollection)
    }
}
