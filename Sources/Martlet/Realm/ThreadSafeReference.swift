import MartletEngine
import Synchronization

/// A reference that passes a live value to another thread, queue or actor. A Realm of the same file resolves the
/// reference there.
///
/// ```swift
/// let reference = ThreadSafeReference(to: dog)
/// queue.async {
///     let realm = try? Realm(configuration: configuration, queue: queue)
///     guard let dog = realm?.resolve(reference) else { return }  // deleted meanwhile
/// }
/// ```
///
/// A reference does not pin a version of the file. To read a value elsewhere without resolving a reference, freeze the
/// value instead.
public struct ThreadSafeReference<Confined: ThreadConfined>: Sendable {
    private final class Once: Sendable {
        let isResolved = Atomic<Bool>(false)
    }

    private let locator: _Locator
    private let once = Once()

    /// Creates a reference to a live or frozen value. Traps if the value is unmanaged or invalidated.
    public init(to confined: Confined) {
        locator = confined.transferLocator()
    }

    /// True after the reference was resolved. A reference cannot be resolved a second time.
    public var isResolved: Bool { once.isResolved.load(ordering: .acquiring) }

    fileprivate func resolve(_ context: RealmContext) -> Confined? {
        guard
            once.isResolved.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        else { Misuse.resolvedTwice("\(Confined.self)") }
        guard context.coordinator === locator.coordinator else {
            Misuse.resolvedElsewhere("\(Confined.self)", locator.coordinator.path)
        }
        return context.resolve(locator) as? Confined
    }
}

extension Realm {
    /// Returns the value of a reference as a live value of this Realm. Returns nil if the value was deleted, or if the
    /// write that added the value was rolled back or is not durable yet. A reference can be resolved once.
    ///
    /// If the Realm shows an older version than the reference, this method refreshes the Realm first. Inside a write,
    /// the Realm already shows the newest version. Inside an observer, the Realm is not refreshed. The result is then
    /// nil if the version of the Realm does not contain the value. Traps if the reference was resolved before or
    /// belongs to another file.
    public func resolve<Confined: ThreadConfined>(_ reference: ThreadSafeReference<Confined>) -> Confined? {
        context.confinement.require("a Realm")
        return reference.resolve(context)
    }
}

/// A live value that any thread, queue or actor can read and replace. Each thread, queue or actor reads the value
/// through its own Realm.
///
/// ```swift
/// @ThreadSafe var dog = realm.objects(Dog.self).first
/// queue.async { [dog = $dog] in print(dog.wrappedValue?.name ?? "deleted") }
/// ```
///
/// A property with this wrapper can be read by its name on any thread. A local variable is passed to other threads as
/// `$dog`, because Swift 6 does not allow a concurrent closure to capture a variable.
///
/// If no Realm of the file is open on the current thread, queue or actor, reading opens a Realm on the current thread.
/// The value is nil if the object, or the owner of the collection, was deleted. The value is also nil if the file
/// cannot be opened any more.
@propertyWrapper
public final class ThreadSafe<Confined: ThreadConfined>: Sendable {
    private let shared: SharedLocator

    /// Creates a wrapper for a managed value or nil. Traps if the value is unmanaged.
    public init(wrappedValue: Confined?) {
        shared = SharedLocator(Self.locator(of: wrappedValue))
    }

    /// The live value on the current thread, queue or actor. Setting an unmanaged value traps.
    public var wrappedValue: Confined? {
        get {
            guard let locator = shared.locator, let context = try? locator.currentContext(nil) else { return nil }
            return context.resolve(locator) as? Confined
        }
        set { shared.locator = Self.locator(of: newValue) }
    }

    /// The wrapper itself, to pass it to other threads.
    public var projectedValue: ThreadSafe<Confined> { self }

    private static func locator(of value: Confined?) -> _Locator? {
        value?.transferLocator()
    }
}

extension ThreadConfined {
    // Other threads can find a value only after the write that added the value is durable, so sealed writes are made
    // durable now.
    fileprivate func transferLocator() -> _Locator {
        guard let locator = _locator() else { Misuse.unmanagedTransfer("\(Self.self)", "referred to") }
        realm?.context.makeGroupDurable()
        return locator
    }
}

/// The locator of the current value, shared by threads.
private final class SharedLocator: Sendable {
    private let guarded: Mutex<_Locator?>

    init(_ locator: _Locator?) { guarded = Mutex(locator) }

    var locator: _Locator? {
        get { guarded.withLock { $0 } }
        set { guarded.withLock { $0 = newValue } }
    }
}
