import MartletEngine

/// The storage of a link property in a generated class. If the owner is managed, it contains the key of the target row.
/// If the owner is unmanaged, it contains the target object.
@_spi(Generated) public struct LinkStorage<T: ObjectBase> {
    @usableFromInline var key: Int64?
    @usableFromInline var object: T?

    /// A link without a target.
    public static var none: LinkStorage { LinkStorage(key: nil) }

    @inlinable init(key: Int64?) { self.key = key }

    /// A link of an unmanaged object.
    public init(_ object: T?) { self.object = object }
}

extension ObjectBase {
    /// The target of a link; nil if the link is empty.
    @_spi(Generated) public final func _link<T: ObjectBase>(_ storage: LinkStorage<T>) -> T? {
        if let object = storage.object { return object }
        if _state == .tracing { return KeyPathTracer.traced(T.self) }
        guard let key = storage.key, let context = _table?.context else { return nil }
        return context.table(T.self).linkTarget(key) as? T
    }

    @_spi(Generated) public final func _setLink<T: ObjectBase>(
        _ property: Int, _ storage: inout LinkStorage<T>, _ value: T?
    ) {
        _willSet(property)
        if _state == .unmanaged {
            storage = LinkStorage(value)
        } else if let context = _table?.context {
            storage = LinkStorage(key: value.map { context.addIfUnmanaged($0, .error) })
        }
        _didSet(property)
    }

    @_spi(Generated) public final func _setEmbedded<T: ObjectBase>(
        _ property: Int, _ storage: inout LinkStorage<T>, _ value: T?
    ) {
        if let value, value._state != .unmanaged {
            if _state != .unmanaged, storage.key == value._key, value._table?.context === _table?.context { return }
            Misuse.embeddedOwned(value._typeName)
        }
        _willSet(property)
        guard _state != .unmanaged, let context = _table?.context else {
            storage = LinkStorage(value)
            return _didSet(property)
        }
        let old = storage.key
        storage = LinkStorage(key: value.map { context.addEmbeddedIfUnmanaged($0) })
        guard let old else { return _didSet(property) }
        context.makingChange { _didSet(property) }
        // The old row is deleted last. This object then no longer links to the old row, so the deletion does not change
        // this object.
        context.deleteRow(old, context.table(T.self))
    }
}
