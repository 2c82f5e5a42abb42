import MartletEngine

/// A live object: a row of a Realm that always shows the newest state its Realm has reached.
///
/// Generated classes inherit from it. An object made with `init()` is a plain Swift object until it is added:
///
/// ```swift
/// let dog = Dog(name: "Rex")
/// try realm.write { realm.add(dog) }
/// ```
///
/// After that it belongs to the thread or queue of its Realm and is changed inside write transactions only.
open class Object: ObjectBase {}

/// A live object that belongs to exactly one other object and is deleted with it.
open class EmbeddedObject: ObjectBase {}

extension ObjectBase: Hashable {
    /// True once the row was deleted or the Realm invalidated. Anything but this property traps then.
    public final var isInvalidated: Bool {
        switch _state {
        case .unmanaged: return false
        case .live:
            noteExistence()
            return false
        case .tracing: return KeyPathTracer.recordInvalidation()
        case .invalidated:
            // A rollback may make it live again.
            if _context?.isInWrite == true { noteExistence() }
            return true
        case .stale:
            _context?.confinement.require(_described)
            noteExistence()
            return !(_context?.exists(self) ?? false)
        }
    }

    /// True for objects that never change: what `freeze()` gives.
    public final var isFrozen: Bool { _context?.isFrozen ?? false }

    /// The class's name.
    public static func className() -> String { ModelClass.of(self).schema.name }

    /// True when both stand for the same row of the same Realm, or are the same unmanaged object.
    public final func isSameObject(as other: ObjectBase?) -> Bool {
        guard let other else { return false }
        if self === other { return true }
        guard let context = _context, let others = other._context, context.showsSame(as: others),
            _state != .invalidated, other._state != .invalidated
        else { return false }
        return _table?.id == other._table?.id && _key == other._key
    }

    /// The same row of the same Realm, or the same unmanaged object.
    public static func == (left: ObjectBase, right: ObjectBase) -> Bool { left.isSameObject(as: right) }

    /// By row for managed objects, by identity for unmanaged ones.
    public final func hash(into hasher: inout Hasher) {
        if _context == nil {
            hasher.combine(ObjectIdentifier(self))
        } else {
            hasher.combine(_key)
        }
    }
}
