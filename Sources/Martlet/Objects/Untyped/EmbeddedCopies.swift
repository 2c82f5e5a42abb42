import MartletEngine

/// Unmanaged copies of embedded objects that a program assigns. The assignment reads the copies, because it may change
/// or delete the originals.
enum EmbeddedCopies {
    /// A copy of an embedded object that is stored in a Realm, or an array or dictionary with copies of such objects;
    /// nil for a value without such objects.
    static func copied(_ value: Any) -> Any? {
        guard let value = UntypedValue.unwrapped(value) else { return nil }
        if let object = UntypedValue.instance(value, of: ObjectBase.self) {
            return isStored(object) ? DetachedCopies.embedded(object) : nil
        }
        if let values = value as? [Any] { return values.contains(where: isStored) ? values.map(copiedOrSame) : nil }
        guard let values = value as? [String: Any], values.values.contains(where: isStored) else { return nil }
        return values.mapValues(copiedOrSame)
    }

    /// A copy of an embedded object that is stored in a Realm; any other value itself.
    static func copiedOrSame(_ value: Any) -> Any { isStored(value) ? copied(value) ?? value : value }

    private static func isStored(_ value: Any) -> Bool {
        UntypedValue.instance(value, of: ObjectBase.self).map(isStored) ?? false
    }

    private static func isStored(_ object: ObjectBase) -> Bool {
        object._state != .unmanaged && object._model.schema.isEmbedded
    }
}
