import MartletEngine
import MartletValues

/// An element that was removed from a collection, as it was at the observer's previous call. The element can also
/// contain later changes of which the observer was not notified, for example changes of a write with
/// `withoutNotifying:`.
public struct DeletedElement {
    /// The position in the old collection.
    public let position: Int
    /// The primary key of an object. Nil for values, and for objects of a class without a primary key.
    public let primaryKey: Any?
    /// The last values of an object's properties, by name. Enums are raw values. Nil values, links and collections are
    /// omitted. Empty for values.
    public let lastValues: [String: Any]
    /// The value, if the collection contains values; nil for objects and for nil elements.
    public let value: Any?

    fileprivate init(_ removed: RemovedElement, _ schema: ElementSchema) {
        position = removed.position
        guard let type = schema.type else {
            (primaryKey, lastValues, value) = (nil, [:], UntypedValue.swift(removed.element, schema.element))
            return
        }
        var values: [String: Any] = [:]
        for property in type.properties where property.kind == .single && !property.isLink {
            guard let stored = removed.row?.value(property.index) else { continue }
            values[property.name] = UntypedValue.swift(stored, property.element)
        }
        primaryKey = type.primaryKey.flatMap { values[type.properties[$0].name] }
        lastValues = values
        value = nil
    }

    /// The type of the elements of a collection.
    struct ElementSchema: Sendable {
        /// The class of objects; nil for values.
        let type: ObjectTypeSchema?
        let element: ElementType

        func read(_ reader: RemovedElementsReader) -> [DeletedElement] {
            // If the previous version cannot be read, the change is reported without its deleted elements.
            ((try? reader.read()) ?? []).map { DeletedElement($0, self) }
        }
    }
}
