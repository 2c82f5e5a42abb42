import MartletEngine
import MartletSQLite

/// An element that left a collection, as it was before: at the observer's previous call, or later where what changed since
/// is nothing that the observer is told of.
public struct DeletedElement {
    /// Where it was in the old collection.
    public let position: Int
    /// The primary key of an object; nil for values, and for objects of a class without one.
    public let primaryKey: Any?
    /// The values that an object's properties had, by name; those of enums as they are stored. Nil values, links and
    /// collections are left out. Empty for values.
    public let lastValues: [String: Any]
    /// The value itself, in a collection of values; nil for objects, and for nil.
    public let value: Any?

    fileprivate init(_ past: PastElement, _ kind: Kind) {
        position = past.position
        guard let type = kind.type else {
            (primaryKey, lastValues, value) = (nil, [:], UntypedValue.swift(past.element, kind.element))
            return
        }
        var values: [String: Any] = [:]
        for property in type.properties where property.kind == .single && !property.isLink {
            guard let stored = past.row?.value(property.index) else { continue }
            values[property.name] = UntypedValue.swift(stored, property.element)
        }
        primaryKey = type.primaryKey.flatMap { values[type.properties[$0].name] }
        lastValues = values
        value = nil
    }

    /// What the elements of a collection are.
    struct Kind: Sendable {
        /// The class of objects; nil for values.
        let type: ObjectTypeSchema?
        let element: ElementType

        func read(_ past: PastElements) -> [DeletedElement] {
            // What cannot be read is not known: the change itself is.
            ((try? past.read()) ?? []).map { DeletedElement($0, self) }
        }
    }
}
