public import Foundation

/// The options of a key-value observation: which values the observer receives, and when it is called.
public struct KeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Changes contain the new value.
    public static let new = KeyValueObservingOptions(rawValue: 1)
    /// Changes contain the old value.
    public static let old = KeyValueObservingOptions(rawValue: 2)
    /// The observer is called once during the registration.
    public static let initial = KeyValueObservingOptions(rawValue: 4)
    /// The observer is also called before each change, while the old value is still readable.
    public static let prior = KeyValueObservingOptions(rawValue: 8)
}

/// The kind of a change of an observed value. The raw values are the same as in Foundation's `NSKeyValueChange`.
public enum KeyValueChangeKind: UInt, Sendable {
    /// The value was assigned, or changes of several kinds were made to a list. Every change of a set or map is of this
    /// kind.
    case setting = 1
    /// Elements were inserted into a list.
    case insertion = 2
    /// Elements were removed from a list.
    case removal = 3
    /// Elements of a list were replaced, or moved within a range.
    case replacement = 4
}

/// A change of an observed value.
public struct KeyValueObservedChange<Value> {
    /// The kind of the change.
    public let kind: KeyValueChangeKind
    /// The new value, if the option `new` is set. A collection is live.
    public let newValue: Value?
    /// The old value, if the option `old` is set. Nil for a collection, because a collection is live and would show the
    /// new state.
    public let oldValue: Value?
    /// Positions of inserted elements in the new list, or of removed or replaced elements in the old list. Nil if
    /// `kind` is `setting`.
    public let indexes: IndexSet?
    /// True for the call before the change, which the option `prior` requests.
    public let isPrior: Bool
}

/// A key of the dictionary that `KeyValueObserver.observeValue` receives.
public struct KeyValueChangeKey: Hashable, Sendable, RawRepresentable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The raw value of a `KeyValueChangeKind`, as a `UInt`.
    public static let kindKey = KeyValueChangeKey(rawValue: "kind")
    /// The new value, or `NSNull`. For an insertion or replacement in a list, an array of the new elements.
    public static let newKey = KeyValueChangeKey(rawValue: "new")
    /// The old value, or `NSNull`. For a removal or replacement in a list, an array of the old elements.
    public static let oldKey = KeyValueChangeKey(rawValue: "old")
    /// The positions of the elements, as an `IndexSet`. Absent if the kind is `setting`.
    public static let indexesKey = KeyValueChangeKey(rawValue: "indexes")
    /// True in the call before the change. Absent in all other calls.
    public static let notificationIsPriorKey = KeyValueChangeKey(rawValue: "notificationIsPrior")
}
