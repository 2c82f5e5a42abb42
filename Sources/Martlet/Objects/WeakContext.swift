import MartletEngine

/// A weak reference to the context of a Realm. It does not give the context a side table, as `weak` would.
@propertyWrapper
struct WeakContext {
    private var reference: WeakReference?

    init(wrappedValue: RealmContext?) { reference = wrappedValue?.reference }

    var wrappedValue: RealmContext? {
        get { (reference?.object).map { unsafeDowncast($0, to: RealmContext.self) } }
        set { reference = newValue?.reference }
    }
}
