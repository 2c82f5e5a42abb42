import MartletEngine

/// Refers to the state of a Realm without keeping it: nil once it has gone.
@propertyWrapper
struct Loose {
    private var reference: LooseReference?

    init(wrappedValue: RealmContext?) { reference = wrappedValue?.reference }

    var wrappedValue: RealmContext? {
        get { (reference?.object).map { unsafeDowncast($0, to: RealmContext.self) } }
        set { reference = newValue?.reference }
    }
}
