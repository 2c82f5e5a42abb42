import MartletEngine
import Synchronization

/// Hands something live to another thread, queue or actor, where a Realm of the same file resolves it.
///
/// ```swift
/// let reference = ThreadSafeReference(to: dog)
/// queue.async {
///     let realm = try? Realm(configuration: configuration, queue: queue)
///     guard let dog = realm?.resolve(reference) else { return }  // deleted meanwhile
/// }
/// ```
///
/// A reference keeps no version of the file. To read something without looking it up again, freeze it.
public struct ThreadSafeReference<Confined: ThreadConfined>: Sendable {
    private final class Once: Sendable {
        let isResolved = Atomic<Bool>(false)
    }

    private let locator: _Locator
    private let once = Once()

    /// A reference to something in a Realm, live or frozen. Traps on what is in no Realm, and on what has ended.
    public init(to confined: Confined) {
        guard let locator = confined._locator() else { Misuse.unmanagedTransfer("\(Confined.self)", "referred to") }
        self.locator = locator
    }

    /// True once it was resolved, and is of no more use.
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
    /// The live thing that a reference leads to; nil when it is gone. Each reference is resolved once.
    ///
    /// The Realm is refreshed first if it shows an older version than the reference was made in. Inside a write it is at the
    /// newest version anyway. Traps on a reference that was resolved before or leads to another file.
    public func resolve<Confined: ThreadConfined>(_ reference: ThreadSafeReference<Confined>) -> Confined? {
        context.confinement.require("a Realm")
        return reference.resolve(context)
    }
}

/// Something live that any thread, queue or actor may read and replace: each gets its own live thing, from its own Realm.
///
/// ```swift
/// @ThreadSafe var dog = realm.objects(Dog.self).first
/// queue.async { [dog = $dog] in print(dog.wrappedValue?.name ?? "deleted") }
/// ```
///
/// A property is read by its name anywhere; a variable of a function goes to other threads as `$dog`, because Swift 6 lets no
/// closure that runs there capture a variable.
///
/// Reading opens a Realm of the file where there is none yet. Nil once the thing was deleted, and where the file cannot be
/// opened any more.
@propertyWrapper
public final class ThreadSafe<Confined: ThreadConfined>: Sendable {
    private let place: SharedPlace

    /// Refers to something in a Realm, or to nothing. Traps on what is in no Realm.
    public init(wrappedValue: Confined?) {
        place = SharedPlace(Self.locator(of: wrappedValue))
    }

    /// The live thing, here. Setting it traps on what is in no Realm.
    public var wrappedValue: Confined? {
        get {
            guard let locator = place.locator, let context = try? locator.currentContext(nil) else { return nil }
            return context.resolve(locator) as? Confined
        }
        set { place.locator = Self.locator(of: newValue) }
    }

    /// What `$dog` stands for: the place itself, to be handed to other threads.
    public var projectedValue: ThreadSafe<Confined> { self }

    private static func locator(of value: Confined?) -> _Locator? {
        guard let value else { return nil }
        guard let locator = value._locator() else { Misuse.unmanagedTransfer("\(Confined.self)", "referred to") }
        return locator
    }
}

/// What to look for.
private final class SharedPlace: Sendable {
    private let guarded: Mutex<_Locator?>

    init(_ locator: _Locator?) { guarded = Mutex(locator) }

    var locator: _Locator? {
        get { guarded.withLock { $0 } }
        set { guarded.withLock { $0 = newValue } }
    }
}
