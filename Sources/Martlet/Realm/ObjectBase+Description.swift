import Foundation
import MartletEngine

extension ObjectBase: CustomStringConvertible {
    /// The class and the properties, including linked objects and the first elements of collections.
    ///
    /// The depth and the length are limited, and omitted parts are shown as `…`. For linking objects, only the type
    /// is shown.
    public final var description: String {
        var text = ObjectText()
        return text.text(of: self)
    }
}

/// Builds the description of an object, or of several objects whose total length is limited.
struct ObjectText {
    private static let depthLimit = 4
    private static let elementLimit = 10
    private static let valueLimit = 200

    /// The maximum number of objects that are shown with their properties.
    private let objectLimit: Int
    private var count = 0
    /// The objects on the current path of links. They are used to detect cycles.
    private var trail: [ObjectBase] = []

    init(objectLimit: Int = 50) { self.objectLimit = objectLimit }

    fileprivate mutating func text(of object: ObjectBase) -> String {
        let schema = object._model.schema
        if object.isInvalidated { return "\(schema.name) (invalidated)" }
        if trail.count >= Self.depthLimit || count >= objectLimit || trail.contains(where: { $0 === object }) {
            return "\(schema.name)(…)"
        }
        count += 1
        trail.append(object)
        defer { trail.removeLast() }
        let lines = schema.properties.map { "\($0.name) = \(text(of: $0, object))" }
        return "\(schema.name) { \(lines.joined(separator: "; ")) }"
    }

    private mutating func text(of property: PropertySchema, _ object: ObjectBase) -> String {
        switch property.kind {
        case .single: return value(object.keyedValue(property)) ?? "nil"
        case .linkingObjects: return property.typeDescription
        case .list, .set, .map:
            switch object.keyedValue(property) {
            case let list as any UntypedList:
                return elements(list.count) { $0.element(list.untypedElement(at: $1)) }
            case let set as any UntypedSet: return elements(set.count) { $0.element(set.untypedElement(at: $1)) }
            case let map as any UntypedMap:
                let keys = map.keys
                return elements(keys.count) { "\"\(keys[$1])\": \($0.element(map.untypedValue(of: keys[$1])))" }
            default: return property.typeDescription
            }
        }
    }

    private mutating func elements(_ count: Int, _ text: (inout ObjectText, Int) -> String) -> String {
        let shown = min(count, Self.elementLimit)
        var texts: [String] = []
        for position in 0..<shown { texts.append(text(&self, position)) }
        if count > shown { texts.append("… \(count - shown) more") }
        return "[\(texts.joined(separator: ", "))]"
    }

    /// The text of an element of a collection.
    mutating func element(_ value: Any?) -> String {
        if let text = value as? String { return "\"\(Self.shortened(text))\"" }
        return self.value(value) ?? "nil"
    }

    private mutating func value(_ value: Any?) -> String? {
        switch value {
        case nil: nil
        case let object as ObjectBase: text(of: object)
        case let value?: Self.shortened("\(ValueDescription(value))")
        }
    }

    private static func shortened(_ text: String) -> String {
        text.count > valueLimit ? text.prefix(valueLimit) + "…" : text
    }
}
