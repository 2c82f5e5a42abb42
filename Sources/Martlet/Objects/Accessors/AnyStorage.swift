import MartletEngine
import MartletValues

/// The storage of an `AnyRealmValue` property in a generated class. It contains a value, or the stored bytes of a value
/// that may contain links.
///
/// The storage of a managed object does not retain the objects to which the value links. They are looked up when the
/// property is read. If the storage retained them, objects that link to each other would form a reference cycle.
@_spi(Generated) public enum AnyStorage {
    case value(AnyRealmValue)
    /// The bytes of an object, list or map.
    case stored([UInt8])

    /// No value.
    public static var none: AnyStorage { .value(.none) }

    /// A value of an unmanaged object.
    public init(_ value: AnyRealmValue) {
        value.requireAllowedDepth()
        self = .value(value)
    }

    /// Creates the storage for a value of a row; nil if the value is damaged. Lists and maps are checked later, when
    /// the property is read.
    init?(validating stored: SQLValue) {
        switch (stored, stored.tag) {
        case (.blob(let bytes), .list), (.blob(let bytes), .map): self = .stored(bytes)
        default:
            guard AnyValue.isWellFormed(stored) else { return nil }
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

    /// The value if it contains objects and is not stored in the file yet; otherwise nil.
    var valueWithObjects: AnyRealmValue? {
        if case .value(let value) = self, !value.objects.isEmpty { value } else { nil }
    }
}

extension ObjectBase {
    /// The value of an `AnyRealmValue` property.
    @_spi(Generated) public final func _any(_ storage: AnyStorage) -> AnyRealmValue {
        switch storage {
        case .value(let value): value
        case .stored(let bytes): storedAny(.blob(bytes))
        }
    }

    /// Reads an `AnyRealmValue` from its stored form. Stops the program if the value is damaged.
    final func storedAny(_ stored: SQLValue) -> AnyRealmValue {
        if let value = AnyRealmValue(validating: stored, in: _table?.context) { return value }
        guard let table = _table else { return .none }
        table.context.refuseDamagedAny(_key, table)
    }

    @_spi(Generated) public final func _setAny(
        _ property: Int, _ storage: inout AnyStorage, _ value: AnyRealmValue
    ) {
        value.requireAllowedDepth()
        _willSet(property)
        if _state == .unmanaged {
            storage = .value(value)
        } else if let context = _table?.context {
            storage = AnyStorage(stored: value.stored(ElementContext(context: context)))
        }
        _didSet(property)
    }
}
