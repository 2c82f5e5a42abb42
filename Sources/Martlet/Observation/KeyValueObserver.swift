import Foundation
import MartletEngine

/// An observer that is registered with the name of a key path.
public protocol KeyValueObserver: AnyObject {
    /// Called for every change of a key path that the observer was added for.
    ///
    /// - Parameters:
    ///   - keyPath: the key path that the observer was added for.
    ///   - object: the object that the observer was added to.
    ///   - change: the values requested by the options of the registration, by `KeyValueChangeKey`.
    ///   - context: the context pointer that the observer was added with.
    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?)
}

extension ObjectBase {
    /// Notifies `observer` of changes of the value at `keyPath` until the observer is removed. The registration retains
    /// neither the observer nor this object.
    ///
    /// ```swift
    /// dog.addObserver(self, forKeyPath: "owner.firstName", options: [.new], context: nil)
    /// dog.addObserver(self, forKeyPath: "siblings.@count", options: [], context: nil)
    /// ```
    ///
    /// Changes contain the values that `value(forKey:)` returns, with enums as raw values. In all other respects, this
    /// method behaves like `observe(_:options:changeHandler:)`.
    public final func addObserver(
        _ observer: any KeyValueObserver, forKeyPath keyPath: String, options: KeyValueObservingOptions = [],
        context: UnsafeMutableRawPointer? = nil
    ) {
        requireKeyValueObservable()
        let names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let path = KeyValuePath(names, from: self)
        let subscription = KeyValueSubscription(self, path, options, .untyped(path)) { [weak observer] root, event in
            observer?.observeValue(
                forKeyPath: keyPath, of: root, change: event.dictionary(options), context: context)
        }
        subscription.attach()
        // The observer may remove itself in the initial call.
        _observers?.observerRegistrations.append(NamedObservation(observer, keyPath, context, subscription))
        subscription.notifyInitially()
    }

    /// Ends the newest registration of `observer` for `keyPath`, regardless of its context. Traps if there is no such
    /// registration.
    public final func removeObserver(_ observer: any KeyValueObserver, forKeyPath keyPath: String) {
        remove(keyPath) { $0.observer === observer }
    }

    /// Ends the newest registration of `observer` for `keyPath` with `context`. Traps if there is no such registration.
    public final func removeObserver(
        _ observer: any KeyValueObserver, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
    ) {
        remove(keyPath) { $0.observer === observer && $0.context == context }
    }

    private final func remove(_ keyPath: String, _ matches: (NamedObservation) -> Bool) {
        _context?.confinement.require(_described)
        let known = _observers?.observerRegistrations ?? []
        let found = known.lastIndex { entry in
            guard let entry = entry as? NamedObservation else { return false }
            return entry.keyPath == keyPath && matches(entry)
        }
        guard let found, let entry = known[found] as? NamedObservation else {
            Misuse.observerNotRegistered("\(_typeName).\(keyPath)")
        }
        _observers?.observerRegistrations.remove(at: found)
        entry.subscription.end()
    }
}

/// A registration made by `addObserver`. The reference to the observer is used only to find the registration in
/// `removeObserver`.
private final class NamedObservation {
    private(set) weak var observer: (any KeyValueObserver)?
    let keyPath: String
    let context: UnsafeMutableRawPointer?
    let subscription: KeyValueSubscription

    init(
        _ observer: any KeyValueObserver, _ keyPath: String, _ context: UnsafeMutableRawPointer?,
        _ subscription: KeyValueSubscription
    ) {
        self.observer = observer
        self.keyPath = keyPath
        self.context = context
        self.subscription = subscription
    }
}

extension KeyValueEvent {
    /// The dictionary that `observeValue(forKeyPath:of:change:context:)` receives.
    func dictionary(_ options: KeyValueObservingOptions) -> [KeyValueChangeKey: Any] {
        var change: [KeyValueChangeKey: Any] = [.kindKey: kind.rawValue]
        if options.contains(.old), !isInitial, kind != .insertion { change[.oldKey] = old ?? NSNull() }
        if options.contains(.new), !isPrior, kind != .removal { change[.newKey] = new ?? NSNull() }
        if let list { change[.indexesKey] = list.indexes }
        if isPrior { change[.notificationIsPriorKey] = true }
        return change
    }
}

extension KeyValueSubscription.Reader {
    /// Reads the values that `value(forKeyPath:)` returns, and the changed elements of lists as arrays.
    static func untyped(_ path: KeyValuePath) -> Self {
        let value: (ObjectBase, ObjectBase?) -> Any? = { _, end in
            guard let end else { return nil }
            guard let property = path.end else { return end.isInvalidated }
            return path.isCount
                ? end.untypedCollection(property)?.count : UntypedValue.contents(of: end.keyedValue(property))
        }
        return KeyValueSubscription.Reader(
            value: value,
            elements: { end, indexes in
                guard let property = path.end, let collection = end.untypedCollection(property) else { return nil }
                return indexes.map { collection.element(at: $0) ?? NSNull() }
            },
            oldCollection: { _, end in
                guard let property = path.end else { return nil }
                return end?.untypedCollection(property)?.contents
            }, reportsPositions: true)
    }
}
