import MartletEngine

/// Elements of a collection from untyped values.
struct UntypedElements<Element: RealmCollectionValue> {
    private let context: RealmContext?
    /// What the elements are when their class does not tell it.
    private let model: ModelClass?
    private let name: String
    private let rules: UntypedAssignment

    init(_ core: CollectionCore?, _ name: String, _ rules: UntypedAssignment) {
        context = core?.context
        model = core?.target?.anyModel
        self.name = name
        self.rules = rules
    }

    /// The values of a sequence; none of nil.
    func values(_ value: Any?) -> [Any] {
        guard let value = UntypedValue.unwrapped(value) else { return [] }
        if let values = value as? [Any] { return values }
        guard !(value is String), !(value is [String: Any]), let sequence = value as? any Sequence else {
            Misuse.wrongValue(value, property: name, expected: "a sequence of '\(Element.self)'")
        }
        return sequence.map { $0 as Any }
    }

    /// The values of a dictionary; none of nil.
    func entries(_ value: Any?) -> [String: Any] {
        guard let value = UntypedValue.unwrapped(value) else { return [:] }
        if let map = value as? Map<Element> {
            return Dictionary(map.map { ($0.key, $0.value as Any) }, uniquingKeysWith: { first, _ in first })
        }
        guard let dictionary = value as? [String: Any] else {
            Misuse.wrongValue(value, property: name, expected: "a dictionary of '\(Element.self)' with string keys")
        }
        return dictionary
    }

    func element(_ value: Any) -> Element {
        if Element.self is AnyRealmValue.Type {
            let any = AnyRealmValue(untyped: value) { context?.object($0._model, for: $0, rules) ?? $0 }
            if let element = any as? Element { return element }
        } else if let type = objectType {
            if let value = UntypedValue.unwrapped(value) {
                let model = model ?? ModelClass.of(type)
                let object = context?.object(model, for: value, rules) ?? model.unmanaged(for: value)
                if let element = object as? Element { return element }
            } else if let element = Optional<Any>.none as? Element {
                return element
            }
        } else if let element = value as? Element ?? plain(UntypedValue.unwrapped(value)) {
            return element
        }
        Misuse.wrongValue(value, property: name, expected: "elements of type '\(Element.self)'")
    }

    // What JSON readers give stands for plain values, too.
    private func plain(_ value: Any?) -> Element? {
        guard let value else { return Optional<Any>.none as? Element }
        return value as? Element ?? converted(value)
    }

    private var objectType: ObjectBase.Type? {
        (Element.self as? ObjectBase.Type) ?? (Element.self as? any OptionalObject.Type)?.objectType
    }

    // Numbers become numbers of other types that can hold them, raw values become cases.
    private func converted(_ value: Any) -> Element? {
        guard let type = Element.self as? any PersistableValue.Type, let given = value as? any PersistableValue else {
            return nil
        }
        let isNumber = given is any NumericValue && Element.self is any NumericValue.Type
        guard isNumber || Element.self is any PersistableEnum.Type else { return nil }
        return type._value(given._stored) as? Element
    }
}

/// An optional object: what maps of objects hold.
private protocol OptionalObject {
    static var objectType: ObjectBase.Type? { get }
}

extension Optional: OptionalObject {
    static var objectType: ObjectBase.Type? { Wrapped.self as? ObjectBase.Type }
}
