import MartletEngine
import MartletValues

/// The base class of generated object types. A managed object is live: it represents a row of a Realm, with the values
/// of the version that the Realm shows.
///
/// An object created with `init()` is a plain Swift object until it is added to a Realm:
///
/// ```swift
/// let dog = Dog(name: "Rex")
/// try realm.write { realm.add(dog) }
/// ```
///
/// After that, the object is confined to the thread, queue or actor of its Realm, and can be changed in write
/// transactions only.
open class Object: ObjectBase {}

/// The base class of generated embedded types. An embedded object belongs to exactly one other object, its owner. When
/// the owner is deleted, the embedded object is deleted too.
open class EmbeddedObject: ObjectBase {}

extension ObjectBase: Hashable {
    /// True after the row was deleted or the Realm was invalidated. After that, reading or changing any other property
    /// traps.
    public final var isInvalidated: Bool {
        switch _state {
        case .unmanaged: return false
        case .live:
            recordExistenceRead()
            return false
        case .tracing: return KeyPathTracer.recordInvalidation()
        case .invalidated:
            // A rollback may restore the object.
            if _context?.isInWrite == true { recordExistenceRead() }
            return true
        case .stale:
            _context?.confinement.require(_described)
            recordExistenceRead()
            return !(_context?.existsOrInvalidate(self) ?? false)
        }
    }

    /// True for objects returned by `freeze()`, which never change.
    public final var isFrozen: Bool { _context?.isFrozen ?? false }

    /// The name of the object type.
    public static func className() -> String { ModelClass.of(self).schema.name }

    /// True if both objects represent the same row of the same Realm, or are the same unmanaged object.
    public final func isSameObject(as other: ObjectBase?) -> Bool {
        guard let other else { return false }
        if self === other { return true }
        guard let context = _context, let others = other._context, context.showsSame(as: others),
            _state != .invalidated, other._state != .invalidated
        else { return false }
        return _table?.id == other._table?.id && _key == other._key
    }

    /// Objects of types with a primary key, and frozen objects, are equal if they represent the same row of the same
    /// Realm. All other objects are equal if they are the same instance.
    public static func == (left: ObjectBase, right: ObjectBase) -> Bool {
        left === right || left.isComparedByRow && left.isSameObject(as: right)
    }

    private final var isComparedByRow: Bool {
        guard let table = _table else { return false }
        return table.type.primaryKey != nil || table.context.isFrozen
    }

    /// Hashes the type and the primary key, for managed and unmanaged objects. If the type has no primary key, hashes
    /// the row and the version of a frozen object, and the identity of any other object.
    ///
    /// An object in a `Set` can therefore be found after it was added to a Realm, changed or deleted. Changing the
    /// primary key of an unmanaged object changes its hash.
    public final func hash(into hasher: inout Hasher) {
        if _state == .tracing { return }
        let type = _table?.type ?? _model.schema
        if let key = type.primaryKey {
            hasher.combine(keyHash(type, key))
        } else if let context = _context, context.isFrozen {
            hasher.combine(type.name)
            hasher.combine(_key)
            hasher.combine(context.version)
        } else {
            hasher.combine(ObjectIdentifier(self))
        }
    }

    private final func keyHash(_ type: ObjectTypeSchema, _ property: PropertyIndex) -> UInt32 {
        if let table = _table, table.integerKey >= 0 { return Self.hash(type, .integer(_key)) }
        if isFrozen { return Self.hash(type, RowEncoder.value(of: self, property)) }
        if _state == .unmanaged {
            _hash = Self.hash(type, RowEncoder.value(of: self, property))
        } else if _hash == 0 {
            _hash = rowKeyHash(type, property)
        }
        return _hash
    }

    /// Called when an object is bound to a row. Stores the hash of the primary key if the hash was used before. From
    /// now on the key cannot change, but the row may be deleted before the hash is needed again.
    final func storeKeyHash(_ type: ObjectTypeSchema) {
        guard _hash != 0, let property = type.primaryKey else { return }
        _hash = Self.hash(type, RowEncoder.value(of: self, property))
    }

    // The hash of a row's primary key. If the row is deleted, the hash of the accessor's identity, because an accessor
    // of a deleted row equals only itself.
    private final func rowKeyHash(_ type: ObjectTypeSchema, _ property: PropertyIndex) -> UInt32 {
        if _state == .stale, let context = _context, let table = _table {
            context.confinement.require(_described)
            if !context.loadIfThere(self, table) { context.invalidate(self) }
        }
        if _state == .live { return Self.hash(type, RowEncoder.value(of: self, property)) }
        return Self.word(ObjectIdentifier(self).hashValue)
    }

    private static func hash(_ type: ObjectTypeSchema, _ key: SQLValue) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(type.name)
        hasher.combine(key)
        return word(hasher.finalize())
    }

    private static func word(_ hash: Int) -> UInt32 { UInt32(truncatingIfNeeded: hash ^ hash >> 32) | 1 }
}
