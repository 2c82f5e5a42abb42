import MartletEngine

/// A weak reference to the context of a Realm. Unlike `weak`, it does not add a side table to the context. A side table
/// would slow down every retain of the context.
@propertyWrapper
struct WeakContext {
    private var reference: WeakReference?

    init(wrappedValue: RealmContext?) { reference = wrappedValue?.reference }

    var wrappedValue: RealmContext? {
        get { (reference?.object).map { unsafeDowncast($0, to: RealmContext.self) } }
        set { reference = newValue?.reference }
    }
}
