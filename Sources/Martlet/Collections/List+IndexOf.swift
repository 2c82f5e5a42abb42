import MartletEngine
import MartletValues

extension List {
    /// The position of an element; nil if the list does not contain it. Elements are compared by their stored values.
    /// Positive and negative zero are equal, and all NaNs are equal. Complexity: O(n).
    public func index(of element: Element) -> Int? {
        guard let core else {
            if let object = element._object {
                return unmanaged.firstIndex { $0._object?.isSameObject(as: object) ?? false }
            }
            return unmanaged.firstIndex { $0._comparedElement == element._comparedElement }
        }
        if let object = element._object {
            guard object._context === core.context, object._state != .invalidated else { return nil }
            return core.position(of: .integer(object._key))
        }
        return element._searchElement(ElementContext(context: core.context)).flatMap { core.position(of: $0.raw) }
    }
}

extension List where Element: ObjectBase {
    /// True if the list contains an object. Complexity: O(log n) for a managed list, otherwise O(n).
    public func contains(_ object: Element) -> Bool {
        guard let core, object._context === core.context else { return contains { $0 == object } }
        return object._state != .invalidated && core.contains(.integer(object._key))
    }
}
