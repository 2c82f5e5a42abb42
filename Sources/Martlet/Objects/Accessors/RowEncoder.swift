public import Foundation
import MartletEngine
import MartletValues

/// Visits the values of an object in schema order. The generated class calls one method for each property. The mode
/// determines the purpose, for example to bind the values to a statement, to collect the values, or to add linked
/// objects to a Realm.
@_spi(Generated) public struct RowEncoder {
    private enum Mode {
        case bind(RowBinder)
        /// Collects the values of all properties. Collections and linking objects get NULL.
        case collect
        /// Gets the value of one property. The value of a collection is NULL.
        case value(of: Int)
        case add(RealmContext, Realm.UpdatePolicy)
        /// Reads only the integer primary key.
        case key
        /// Checks whether one property can contain a value.
        case check(StoredValue, Int)
        /// Finds the case with the given raw value, for a property whose type is an enum.
        case findCase(StoredValue, Int)
        /// Finds the collection of one property, or creates it if there is none.
        case collection(of: Int, ObjectBase)
    }

    private let mode: Mode
    /// The properties to encode.
    private let mask: PropertyMask
    private var property = 0
    private var parameter = 1
    private var specials: [UInt8] = []
    /// The property index of the integer primary key; -1 if the type has none.
    private var keyProperty = -1
    private var key: ObjectKey = 0
    private var foundValue = SQLValue.null
    private let found: Found?

    /// The results of the modes that are rarely used. They are stored in an object, so that an encoder that binds
    /// values is created and destroyed without counting references.
    private final class Found {
        @exclusivity(unchecked) var image = RowImage()
        var collections: [(property: Int, collection: any PropertyCollection)] = []
        var isAccepted = true
        var enumCase: Any?
        /// The enum of the property to check.
        var enumeration: (any PersistableEnum.Type)?
    }

    /// Binds the properties in `mask` to the parameters of a statement, beginning with the first parameter. Returns the
    /// number of the next parameter, and the value of the integer primary key.
    static func bind(
        _ object: ObjectBase, _ binder: RowBinder, mask: PropertyMask, _ table: ObjectTable
    ) -> (parameter: Int, key: ObjectKey) {
        var encoder = RowEncoder(mode: .bind(binder), mask: mask)
        encoder.keyProperty = table.integerKey
        object._encode(&encoder)
        if table.layout.hasSpecials {
            if encoder.specials.isEmpty {
                binder.bindNull(at: encoder.parameter)
            } else {
                encoder.specials.withUnsafeBytes { binder.bind($0, at: encoder.parameter) }
            }
            encoder.parameter += 1
        }
        return (encoder.parameter, encoder.key)
    }

    /// The value of an integer primary key.
    static func integerKey(of object: ObjectBase, _ table: ObjectTable) -> ObjectKey {
        var encoder = RowEncoder(mode: .key, mask: .all)
        encoder.keyProperty = table.integerKey
        object._encode(&encoder)
        return encoder.key
    }

    /// The values of all properties.
    static func image(of object: ObjectBase) -> RowImage {
        var encoder = RowEncoder(mode: .collect, mask: .all)
        object._encode(&encoder)
        return encoder.found?.image ?? RowImage()
    }

    static func values(of object: ObjectBase) -> [SQLValue] { image(of: object).values }

    /// The value of one property.
    static func value(of object: ObjectBase, _ property: PropertyIndex) -> SQLValue {
        var encoder = RowEncoder(mode: .value(of: property), mask: .all)
        object._encode(&encoder)
        return encoder.foundValue
    }

    /// The values of the columns, in schema order.
    static func columnValues(of object: ObjectBase) -> [SQLValue] {
        let values = values(of: object)
        return object._model.schema.properties.filter(\.isColumn).map { values[$0.index] }
    }

    /// The collections of an object that were already created, with their properties. A collection is created on first
    /// use.
    static func collections(of object: ObjectBase) -> [(property: Int, collection: any PropertyCollection)] {
        var encoder = RowEncoder(mode: .collect, mask: .all)
        object._encode(&encoder)
        return encoder.found?.collections ?? []
    }

    /// The collection of one property. It is created if it does not exist yet.
    static func collection(of object: ObjectBase, _ property: Int) -> (any PropertyCollection)? {
        var encoder = RowEncoder(mode: .collection(of: property, object), mask: .all)
        object._encode(&encoder)
        return encoder.found?.collections.first?.collection
    }

    /// True if a value is valid for a property, or for an element of its collection. If the property is not a
    /// collection, only raw values of enums are checked.
    static func accepts(_ value: StoredValue, _ property: Int, of object: ObjectBase) -> Bool {
        var encoder = RowEncoder(mode: .check(value, property), mask: .all)
        object._encode(&encoder)
        return encoder.found?.isAccepted ?? true
    }

    /// The case with the given raw value, for a property whose type is an enum; nil if there is none.
    static func enumCase(_ value: StoredValue, _ property: Int, of object: ObjectBase) -> Any? {
        var encoder = RowEncoder(mode: .findCase(value, property), mask: .all)
        object._encode(&encoder)
        return encoder.found?.enumCase
    }

    /// The enum type of a property. Nil if the property has another type or is a collection, or if the program has no
    /// class for the object.
    static func enumeration(of object: ObjectBase, _ property: Int) -> (any PersistableEnum.Type)? {
        var encoder = RowEncoder(mode: .check(.null, property), mask: .all)
        object._encode(&encoder)
        return encoder.found?.enumeration
    }

    /// Adds the unmanaged objects to which `object` links, and replaces its links by keys.
    static func addLinks(of object: ObjectBase, _ context: RealmContext, _ policy: Realm.UpdatePolicy) {
        var encoder = RowEncoder(mode: .add(context, policy), mask: .all)
        object._encode(&encoder)
    }

    private init(mode: Mode, mask: PropertyMask) {
        self.mode = mode
        self.mask = mask
        found =
            switch mode {
            case .bind, .value, .key, .add: nil
            case .collect, .check, .findCase, .collection: Found()
            }
    }

    // MARK: Encoding one value

    /// Returns true if the current property must be encoded, and moves to the next property.
    @inline(__always)
    private mutating func advance() -> Bool {
        defer { property += 1 }
        return mask.contains(property)
    }

    /// Moves to the next property and returns true if the current value is not needed. Called before a value is
    /// converted to its stored form, if that takes time.
    @inline(__always)
    private mutating func skips() -> Bool {
        let isNeeded =
            switch mode {
            case .bind: mask.contains(property)
            case .value(let wanted): wanted == property
            case .collect, .add, .key, .check, .findCase, .collection: true
            }
        if !isNeeded { property += 1 }
        return !isNeeded
    }

    private mutating func put(_ value: Int64?) {
        if property == keyProperty, let value { key = value }
        let wanted = advance()
        switch mode {
        case .bind(let binder):
            guard wanted else { return }
            if let value { binder.bind(value, at: parameter) } else { binder.bindNull(at: parameter) }
            parameter += 1
        case .collect: found?.image.values.append(value.map(SQLValue.integer) ?? .null)
        case .value(property - 1): foundValue = value.map(SQLValue.integer) ?? .null
        case .value, .add, .collection, .key, .check, .findCase: break
        }
    }

    private mutating func put(_ value: Double?) {
        if let value, FloatingSpecials.needsBits(value) { FloatingSpecials.append(value, of: property, to: &specials) }
        let wanted = advance()
        switch mode {
        case .bind(let binder):
            guard wanted else { return }
            if let value, !value.isNaN {
                binder.bind(value, at: parameter)
            } else {
                binder.bindNull(at: parameter)
            }
            parameter += 1
        case .collect: found?.image.values.append(value._stored.raw)
        case .value(property - 1): foundValue = value._stored.raw
        case .value, .add, .collection, .key, .check, .findCase: break
        }
    }

    private mutating func put(_ value: String?) {
        let wanted = advance()
        switch mode {
        case .bind(let binder):
            guard wanted else { return }
            if let value { binder.bind(value, at: parameter) } else { binder.bindNull(at: parameter) }
            parameter += 1
        case .collect: found?.image.values.append(value.map(SQLValue.text) ?? .null)
        case .value(property - 1): foundValue = value.map(SQLValue.text) ?? .null
        case .value, .add, .collection, .key, .check, .findCase: break
        }
    }

    private mutating func put(_ value: StoredValue) {
        let wanted = advance()
        switch mode {
        case .bind(let binder):
            guard wanted else { return }
            binder.bind(value.raw, at: parameter)
            parameter += 1
        case .collect: found?.image.values.append(value.raw)
        case .value(property - 1): foundValue = value.raw
        case .value, .add, .collection, .key, .check, .findCase: break
        }
    }

    // MARK: Methods for generated code, one for each type

    public mutating func bool(_ value: Bool) { put(value ? 1 : 0 as Int64) }
    public mutating func optionalBool(_ value: Bool?) { put(value.map { $0 ? 1 : 0 as Int64 }) }
    public mutating func int(_ value: Int) { put(Int64(value)) }
    public mutating func optionalInt(_ value: Int?) { put(value.map { Int64($0) }) }
    public mutating func int8(_ value: Int8) { put(Int64(value)) }
    public mutating func optionalInt8(_ value: Int8?) { put(value.map { Int64($0) }) }
    public mutating func int16(_ value: Int16) { put(Int64(value)) }
    public mutating func optionalInt16(_ value: Int16?) { put(value.map { Int64($0) }) }
    public mutating func int32(_ value: Int32) { put(Int64(value)) }
    public mutating func optionalInt32(_ value: Int32?) { put(value.map { Int64($0) }) }
    public mutating func int64(_ value: Int64) { put(value) }
    public mutating func optionalInt64(_ value: Int64?) { put(value) }
    public mutating func float(_ value: Float) { put(Double(value)) }
    public mutating func optionalFloat(_ value: Float?) { put(value.map { Double($0) }) }
    public mutating func double(_ value: Double) { put(value) }
    public mutating func optionalDouble(_ value: Double?) { put(value) }
    public mutating func string(_ value: String) { put(value) }
    public mutating func optionalString(_ value: String?) { put(value) }
    public mutating func data(_ value: Data) { if !skips() { put(value._stored) } }
    public mutating func optionalData(_ value: Data?) { if !skips() { put(value._stored) } }
    public mutating func date(_ value: Date) { put(value.timeIntervalSinceReferenceDate) }
    public mutating func optionalDate(_ value: Date?) { put(value?.timeIntervalSinceReferenceDate) }
    public mutating func uuid(_ value: UUID) { if !skips() { put(value._stored) } }
    public mutating func optionalUuid(_ value: UUID?) { if !skips() { put(value._stored) } }
    public mutating func objectId(_ value: ObjectId) { if !skips() { put(value._stored) } }
    public mutating func optionalObjectId(_ value: ObjectId?) { if !skips() { put(value._stored) } }
    public mutating func decimal128(_ value: Decimal128) { if !skips() { put(value._stored) } }
    public mutating func optionalDecimal128(_ value: Decimal128?) { if !skips() { put(value._stored) } }
    public mutating func anyValue(_ storage: inout AnyStorage) {
        let unstored = storage.valueWithObjects
        switch mode {
        case .add(let context, let policy):
            if let unstored {
                storage = AnyStorage(stored: unstored.stored(ElementContext(context: context, policy: policy)))
            }
        case .collect: found?.image.anyValues[property] = unstored
        case .bind where unstored != nil: return put(StoredValue.null)
        default: break
        }
        put(StoredValue(storage.stored))
    }
    public mutating func enumeration<E: PersistableEnum>(_ value: E) {
        if skips() { return }
        check(E.self)
        put(value._stored)
    }
    public mutating func optionalEnumeration<E: PersistableEnum>(_ value: E?) {
        if skips() { return }
        check(E.self)
        put(value._stored)
    }

    private mutating func check<E: PersistableEnum>(_ type: E.Type) {
        switch mode {
        case .check(let value, property):
            found?.isAccepted = E._value(value) != nil
            found?.enumeration = E.self
        case .findCase(let value, property): found?.enumCase = E._value(value)
        default: break
        }
    }

    /// Encodes a value whose type is known only at run time. The value has the form in which `RowImage` contains it.
    mutating func value(_ value: SQLValue, _ element: ElementType) {
        if element.isFloating { return put(Double?._value(StoredValue(value)) ?? nil) }
        if case .integer(let number) = value { return put(number) }
        put(StoredValue(value))
    }

    public mutating func link<T: ObjectBase>(_ storage: inout LinkStorage<T>) {
        if let object = storage.object {
            if case .add(let context, let policy) = mode {
                storage = LinkStorage(key: context.addIfUnmanaged(object, policy))
            }
            if case .collect = mode { found?.image.objects[property] = object }
        }
        put(storage.key)
    }

    public mutating func embedded<T: ObjectBase>(_ storage: inout LinkStorage<T>) {
        if let object = storage.object {
            if case .add(let context, let policy) = mode {
                storage = LinkStorage(key: context.addEmbeddedIfUnmanaged(object, policy))
            }
            if case .collect = mode { found?.image.objects[property] = object }
        }
        put(storage.key)
    }

    /// Visits a collection. The elements are not encoded, because they are written after the row.
    public mutating func collection<C: PropertyCollection>(_ collection: inout C?) {
        switch mode {
        case .collect:
            found?.image.values.append(.null)
            if let collection { found?.collections.append((property, collection)) }
        case .collection(property, let owner):
            let known = collection ?? C(_owner: owner, property)
            collection = known
            found?.collections.append((property, known))
        case .check(let value, property): found?.isAccepted = C._isValid(value)
        default: break
        }
        property += 1
    }

    /// Skips linking objects, which have no column.
    public mutating func skip() {
        if case .collect = mode { found?.image.values.append(.null) }
        property += 1
    }
}
