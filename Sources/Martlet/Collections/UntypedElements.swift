import Foundation
import MartletEngine

/// Converts untyped values to elements of a collection.
struct UntypedElements<Element: RealmCollectionValue> {
    private let context: RealmContext?
    /// The model of the elements of a stored collection of objects; nil for other collections.
    private let model: ModelClass?
    private let name: String
    private let rules: UntypedAssignment

    init(_ core: CollectionCore?, _ name: String, _ rules: UntypedAssignment) {
        context = core?.context
        model = core?.target?.anyModel
        self.name = name
        self.rules = rules
    }

    /// The values of a sequence; empty if `value` is nil.
    func values(_ value: Any?) -> [Any] {
        guard let value = UntypedValue.unwrapped(value) else { return [] }
        if let values = value as? [Any] { return values }
        guard !(value is String), !(value is Data), !(value is [String: Any]),
            UntypedValue.instance(value, of: (any UntypedMap).self) == nil,
            let sequence = value as? any Sequence
        else {
            Misuse.wrongValue(value, property: name, expected: "a sequence of '\(typeName)'", at: rules.path?.text)
        }
        return sequence.map { $0 as Any }
    }

    /// The elements of a sequence; empty if `value` is nil.
    func elements(_ value: Any?) -> [Element] { values(value).enumerated().map { element($1, .position($0)) } }

    /// The entries of a dictionary or map; empty if `value` is nil. The result is an array, because a map, unlike a
    /// dictionary, may contain keys that differ only in their Unicode normalization.
    func entries(_ value: Any?) -> [(key: String, value: Any)] {
        guard let value = UntypedValue.unwrapped(value) else { return [] }
        if let map = UntypedValue.instance(value, of: (any UntypedMap).self) {
            return map.keys.map { ($0, map.untypedValue(of: $0) as Any) }
        }
        if let entries = value as? UntypedEntries { return entries.entries }
        guard let dictionary = value as? [String: Any] else {
            Misuse.wrongValue(
                value, property: name, expected: "a dictionary of '\(typeName)' with string keys", at: rules.path?.text)
        }
        return dictionary.map { ($0.key, $0.value) }
    }

    /// Converts a value to an element. Traps if the value has the wrong type.
    func element(_ value: Any?, _ place: ElementPlace?) -> Element {
        // The fast path excludes class instances: Realm objects may have to be copied, and JSON readers return numbers
        // as `NSNumber`.
        if objectType == nil, !(Element.self is AnyRealmValue.Type), let value,
            !(Swift.type(of: value) is AnyClass), let element = value as? Element
        {
            return element
        }
        if let value = UntypedValue.unwrapped(value) {
            if let element = converted(value, place) { return element }
        } else if let nothing = (Element.self as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) as? Element {
            return nothing
        } else if let nothing = AnyRealmValue.none as? Element {
            return nothing
        }
        refuse(UntypedValue.unwrapped(value), place)
    }

    private func converted(_ value: Any, _ place: ElementPlace?) -> Element? {
        if Element.self is AnyRealmValue.Type {
            let rules = rules.appending(place, of: name)
            let any = AnyRealmValue(untyped: value) { object in
                guard let context else { return object }
                return context.object(context.model(for: object), for: object, rules) {
                    Misuse.unknownType(object._typeName)
                }
            }
            return any as? Element
        }
        guard let objectType else { return value as? Element ?? UntypedValue.element(value, as: Element.self) }
        let model =
            model ?? (isUntyped ? UntypedValue.instance(value, of: ObjectBase.self)?._model : nil)
            ?? ModelClass.of(objectType)
        let rules = rules.appending(place, of: name)
        let object =
            context?.object(model, for: value, rules) { refuse(value, place) }
            ?? model.unmanaged(for: value, rules) { refuse(value, place) }
        return object as? Element
    }

    /// The values to assign to an existing embedded object.
    func input(_ value: Any, for target: ObjectBase, _ place: ElementPlace) -> (UntypedInput, UntypedAssignment) {
        let rules = rules.appending(place, of: name)
        if let object = UntypedValue.instance(value, of: ObjectBase.self), !target._model.isType(of: object) {
            refuse(value, place)
        }
        return (UntypedInput(value, target._model.schema, at: rules.path), rules)
    }

    private func refuse(_ value: Any?, _ place: ElementPlace?) -> Never {
        let expected =
            ((Element.self as? any UntypedOptional.Type)?.wrapped ?? Element.self) as? any PersistableEnum.Type
        let isOptional = Element.self is any UntypedOptional.Type
        Misuse.wrongValue(
            value, property: name,
            expected: "elements of type "
                + (expected.map { UntypedValue.described($0, isOptional: isOptional) } ?? "'\(typeName)'"),
            at: place == nil && rules.path == nil ? nil : rules.appending(place, of: name).path?.text)
    }

    // True if `Element` is `ObjectBase` instead of the class of the objects, as in a collection of a `StoredObject`.
    private var isUntyped: Bool { objectType == ObjectBase.self }

    /// The name of the element type, for messages.
    private var typeName: String {
        guard let objectType else {
            return (Element.self as? any PersistableValue.Type)?._typeName ?? "\(Element.self)"
        }
        let name = model?.schema.name ?? "\(objectType)"
        return Element.self is any UntypedOptional.Type ? "\(name)?" : name
    }

    private var objectType: ObjectBase.Type? {
        (Element.self as? ObjectBase.Type) ?? (Element.self as? any OptionalObject.Type)?.objectType
    }
}

/// An optional object: the value type of maps of objects.
private protocol OptionalObject {
    static var objectType: ObjectBase.Type? { get }
}

extension Optional: OptionalObject {
    static var objectType: ObjectBase.Type? { Wrapped.self as? ObjectBase.Type }
}

/// The entries of a map that is being assigned.
struct UntypedEntries {
    let entries: [(key: String, value: Any)]
}
