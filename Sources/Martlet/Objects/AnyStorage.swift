import MartletEngine
import MartletSQLite

/// What a property of any type of a generated class stores: a value, or, once it may hold links, what its Realm keeps.
///
/// Objects in the value are looked up when it is read, so that two objects that lead to each other do not keep each other.
@_spi(Generated) public enum AnyStorage {
    case value(AnyRealmValue)
    /// The bytes of an object, list or map.
    case stored([UInt8])

    /// Nothing.
    public static var none: AnyStorage { .value(.none) }

    /// A value of an object that is not in a Realm.
    public init(_ value: AnyRealmValue) {
        value.requireNesting()
        self = .value(value)
    }

    /// What a row has; nil for what is no value. Lists and maps are looked through when they are read.
    init?(found stored: SQLValue) {
        switch (stored, stored.tag) {
        case (.blob(let bytes), .list), (.blob(let bytes), .map): self = .stored(bytes)
        default:
            guard AnyValue.isSound(stored) else { return nil }
            self.init(stored: stored)
        }
    }

    init(stored: SQLValue) {
        switch (stored, stored.tag) {
        case (.blob(let bytes), .object), (.blob(let bytes), .list), (.blob(let bytes), .map): self = .stored(bytes)
        default: self = .value(AnyRealmValue(stored, in: nil))
        }
    }

    var stored: SQLValue {
        switch self {
        case .value(let value): value._stored.raw
        case .stored(let bytes): .blob(bytes)
        }
    }

    /// The value when it has objects that are not yet added.
    var unmanaged: AnyRealmValue? {
        if case .value(let value) = self, !value.objects.isEmpty { value } else { nil }
    }
}

extension ObjectBase {
    /// The value of a property of any type.
    @_spi(Generated) public final func _any(_ storage: AnyStorage) -> AnyRealmValue {
        switch storage {
        case .value(let value): value
        case .stored(let bytes): storedAny(.blob(bytes))
        }
    }

    /// A value of any type of the object's row.
    final func storedAny(_ stored: SQLValue) -> AnyRealmValue {
        if let value = AnyRealmValue(found: stored, in: _table?.context) { return value }
        guard let table = _table else { return .none }
        table.context.refuseDamagedAny(_key, table)
    }

    @_spi(Generated) public final func _setAny(
        _ property: Int, _ storage: inout AnyStorage, _ value: AnyRealmValue
    ) {
        value.requireNesting()
        _willSet(property)
        if _state == .unmanaged {
            storage = .value(value)
        } else if let context = _table?.context {
            storage = AnyStorage(stored: value.stored(ElementSource(context: context)))
        }
        _didSet(property)
    }
}
