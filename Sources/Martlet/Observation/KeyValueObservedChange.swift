public import Foundation

/// What a key-value observer wants to be told, and when.
public struct KeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Changes carry the value afterwards.
    public static let new = KeyValueObservingOptions(rawValue: 1)
    /// Changes carry the value before.
    public static let old = KeyValueObservingOptions(rawValue: 2)
    /// One call is made at once, during the registration.
    public static let initial = KeyValueObservingOptions(rawValue: 4)
    /// One more call is made before each change, while the old value still shows.
    public static let prior = KeyValueObservingOptions(rawValue: 8)
}

/// What happened to an observed value; the raw values are those of Foundation's `NSKeyValueChange`.
public enum KeyValueChangeKind: UInt, Sendable {
    /// The value was assigned, or several things happened to a list at once. Sets and maps know nothing else.
    case setting = 1
    /// Elements came into a list.
    case insertion = 2
    /// Elements left a list.
    case removal = 3
    /// Elements of a list were replaced, or moved within a range.
    case replacement = 4
}

/// A change of an observed value.
public struct KeyValueObservedChange<Value> {
    /// What happened.
    public let kind: KeyValueChangeKind
    /// The value afterwards, with the option `new`. A collection is the live one.
    public let newValue: Value?
    /// The value before, with the option `old`. Nil for a collection, which is live and so shows the state afterwards.
    public let oldValue: Value?
    /// Where elements were inserted, as positions in the list afterwards, or removed or replaced, as positions before.
    /// Nil for a setting.
    public let indexes: IndexSet?
    /// True for the call before the change that the option `prior` asks for.
    public let isPrior: Bool
}

/// The keys of the dictionary that `KeyValueObserver.observeValue` is given.
public struct KeyValueChangeKey: Hashable, Sendable, RawRepresentable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The raw value of a `KeyValueChangeKind`, as a `UInt`.
    public static let kindKey = KeyValueChangeKey(rawValue: "kind")
    /// The new value, or `NSNull`; of a list's insertion or replacement an array of the new elements.
    public static let newKey = KeyValueChangeKey(rawValue: "new")
    /// The old value, or `NSNull`; of a list's removal or replacement an array of the old elements.
    public static let oldKey = KeyValueChangeKey(rawValue: "old")
    /// An `IndexSet`, unless the change is a setting.
    public static let indexesKey = KeyValueChangeKey(rawValue: "indexes")
    /// True in the call before the change.
    public static let notificationIsPriorKey = KeyValueChangeKey(rawValue: "notificationIsPrior")
}
