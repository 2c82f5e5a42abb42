import MartletEngine
import MartletValues

/// Computes aggregates of values in memory. SQL cannot be used if the collection is unmanaged, or if a list contains an
/// element several times.
struct ElementAggregates {
    /// The values, except absent values and NaN.
    private let values: [SQLValue]
    /// The key path of the values.
    private var path = "self"
    /// The Realm of the objects in `AnyRealmValue`s.
    private var context: RealmContext?
    /// True if the values are `AnyRealmValue`s.
    private var isAny = false

    /// Creates aggregates of values. `nan` is the stored form of a NaN that is not stored as a REAL.
    init(_ values: some Sequence<StoredValue>, isAny: Bool = false, nan: SQLValue? = Decimal128.nan._stored.raw) {
        self.values = Self.withoutAbsent(values.lazy.map { $0.raw }, isAny: isAny, nan: nan)
        self.isAny = isAny
    }

    /// Creates aggregates of the numbers of a collection, or of the values of a map.
    init<Number: NumericValue>(_ elements: some Sequence<Number>, of core: CollectionCore?) {
        let nan = Decimal128.nan._stored.raw
        guard let core else {
            values = Self.withoutAbsent(elements.lazy.map { $0._compared.raw }, isAny: false, nan: nan)
            return
        }
        // Reads the stored elements, because converting each of them to `Number` and back takes much longer.
        let all = core.count == 0 ? [] : core.all()
        let step = core.property.kind == .map ? 2 : 1
        let stored = stride(from: step - 1, to: all.count, by: step).lazy.map { all[$0] }
        let isFloating = core.property.element.isFloating
        values = Self.withoutAbsent(
            stored.map { isFloating ? FloatingSpecials.decodedElement($0) : $0 }, isAny: false, nan: nan)
    }

    // Removes NaN too, which has no order and makes every sum NaN.
    private static func withoutAbsent(_ values: some Sequence<SQLValue>, isAny: Bool, nan: SQLValue?) -> [SQLValue] {
        values.filter { value in
            switch value {
            case .integer: return true
            case .real(let number): return !number.isNaN
            default: return value != .null && (isAny ? !AnyValue.isNaN(sortKey: AnyValue.sortKey(value)) : value != nan)
            }
        }
    }

    /// Creates aggregates of the property of `objects` at `keyPath`, which may lead through to-one links. Traps if the
    /// aggregate is not defined for the property, even if there are no objects.
    ///
    /// - Parameter members: the objects as results; nil for an unmanaged or invalidated collection.
    init<Model: ObjectBase>(
        _ objects: some Sequence<Model>, _ keyPath: String, isArithmetic: Bool, _ members: ResultsStorage?
    ) {
        let first = members == nil ? objects.first { _ in true } : nil
        let context = members?.context ?? first?._context
        let type =
            members?.table.type ?? first?._model.schema
            ?? (Model.self is any ModelObject.Type ? ModelClass.of(Model.self).schema : nil)
        let names = PropertyPath(keyPath).names
        let end = type.flatMap { Self.end(of: names, keyPath, from: $0, context) }
        end?.requireAggregatable(keyPath, isArithmetic: isArithmetic)
        let nan = end?.element == .scalar(.decimal128) ? Decimal128.nan._stored.raw : nil
        let values: [StoredValue]
        if names.count == 1, let end {
            // All objects have the same type, so the property is looked up once.
            values = objects.map { ElementAggregates.value($0, end) }
        } else {
            values = objects.map { ElementAggregates.value($0, names[...]) }
        }
        self.init(values, isAny: end?.isAny == true, nan: nan)
        path = keyPath
        self.context = context
    }

    /// The property at the end of a path through to-one links; nil if the path leads through an unknown type. The known
    /// types are the types of the Realm. If `context` is nil, they are the types that the program registers.
    private static func end(
        of names: [String], _ keyPath: String, from start: ObjectTypeSchema, _ context: RealmContext?
    ) -> PropertySchema? {
        var type = start
        for (position, name) in names.enumerated() {
            guard let property = type[name] else {
                Misuse.unknownPath(keyPath, type: start.name, component: name, of: type.name)
            }
            if position == names.count - 1 { return property }
            guard property.kind == .single, let target = property.element.target else {
                Misuse.notAggregated(name, is: property.typeDescription, lacks: "order or sum")
            }
            let declared =
                context.map { $0.table(named: target)?.type }
                ?? ModelRegistry.classes.lazy.map { ModelClass.of($0).schema }.first { $0.name == target }
            guard let declared else { return nil }
            type = declared
        }
        Misuse.query("an aggregate needs a property")
    }

    /// The minimum or maximum of some values in the order that `sorted` uses. Absent values and NaN are skipped.
    static func extremum<V: OrderedValue>(_ values: some Sequence<V>, isGreatest: Bool) -> V._NonOptional? {
        var found: (value: V, key: SQLValue)?
        for value in values {
            let key = value._sortKey.raw
            guard rank(key, V.self) == 2 else { continue }
            if let best = found {
                let order = ValueOrder.compare(key, best.key)
                if isGreatest ? order <= 0 : order >= 0 { continue }
            }
            found = (value, key)
        }
        return found?.value as? V._NonOptional
    }

    static func value(_ object: ObjectBase, _ names: ArraySlice<String>) -> StoredValue {
        guard let name = names.first else { Misuse.query("an aggregate needs a property") }
        let property = object.property(named: name)
        guard property.kind == .single, property.isLink == (names.count > 1) else {
            Misuse.notAggregated(name, is: property.typeDescription, lacks: "order or sum")
        }
        if property.isLink {
            return (object.untypedValue(property) as? ObjectBase).map { value($0, names.dropFirst()) } ?? .null
        }
        return value(object, property)
    }

    private static func value(_ object: ObjectBase, _ property: PropertySchema) -> StoredValue {
        object._load(property.index)
        let stored = StoredValue(RowEncoder.value(of: object, property.index))
        return property.element.isFloating ? Double?._value(stored).map(\._compared) ?? .null : stored
    }

    /// True for a floating-point number or a date that is NaN, and for each NaN in an `AnyRealmValue`. False for every
    /// `Decimal128` outside of an `AnyRealmValue`, even for NaN.
    static func isNaN<V: OrderedValue>(_ value: SQLValue, _: V.Type) -> Bool {
        if case .real(let number) = value { return number.isNaN }
        return V._NonOptional.self == AnyRealmValue.self && AnyValue.isNaN(sortKey: AnyValue.sortKey(value))
    }

    /// The rank of a value in the sort order: 0 for an absent value, 1 for NaN, 2 for all other values.
    private static func rank<V: OrderedValue>(_ key: SQLValue, _: V.Type) -> Int {
        if key == .null { return 0 }
        if case .real(let number) = key { return number.isNaN ? 1 : 2 }
        if V._NonOptional.self == AnyRealmValue.self { return AnyValue.isNaN(sortKey: key) ? 1 : 2 }
        return V._NonOptional.self == Decimal128.self && key == Decimal128.nan._stored.raw ? 1 : 2
    }

    /// The values in ascending or descending order. The order is the same for all kinds of collections.
    static func sorted<V: OrderedValue>(_ values: [V], _ ascending: Bool) -> [V] {
        values.enumerated()
            .map { (position: $0.offset, key: $0.element._sortKey.raw, value: $0.element) }
            .sorted { left, right in
                let ranks = (rank(left.key, V.self), rank(right.key, V.self))
                let order = ranks.0 == ranks.1 ? ValueOrder.compare(left.key, right.key) : ranks.0 - ranks.1
                return order == 0 ? left.position < right.position : ascending ? order < 0 : order > 0
            }
            .map(\.value)
    }

    func minimum<V: OrderedValue>() -> V? {
        values.min { ValueOrder.compare(key($0), key($1)) < 0 }.map { V.aggregate($0, path, in: context) }
    }

    func maximum<V: OrderedValue>() -> V? {
        values.max { ValueOrder.compare(key($0), key($1)) < 0 }.map { V.aggregate($0, path, in: context) }
    }

    private func key(_ value: SQLValue) -> SQLValue { isAny ? AnyValue.sortKey(value) : value }

    func sum<V: NumericValue>() -> V {
        if let decimals { return V._nearest(Decimal128.total(decimals).sum._stored) }
        guard let sum = V._sum(StoredValue(total)) else { Misuse.sumTooLarge("\(V.self)") }
        return sum
    }

    func average<V: NumericValue>() -> V? {
        guard !values.isEmpty else { return nil }
        if let decimals { return Decimal128.total(decimals).mean.map { V._nearest($0._stored) } }
        return V._nearest(StoredValue(.real(Double._nearest(StoredValue(total)) / Double(values.count))))
    }

    // The values as decimals; nil if they are not stored as decimals.
    private var decimals: [Decimal128]? {
        guard case .blob = values.first else { return nil }
        return values.map { value in
            guard let decimal = Decimal128._value(StoredValue(value)) else {
                Misuse.query("values that are not numbers cannot be added")
            }
            return decimal
        }
    }

    // Integers are added exactly. The result is a floating-point number if any value is a floating-point number, or if
    // the sum exceeds 64 bits.
    private var total: SQLValue {
        var whole: Int128 = 0
        var real: Double?
        for value in values {
            switch value {
            case .integer(let number): whole += Int128(number)
            case .real(let number): real = (real ?? 0) + number
            default: Misuse.query("values that are not numbers cannot be added")
            }
        }
        if let real { return .real(real + Double(whole)) }
        return Int64(exactly: whole).map(SQLValue.integer) ?? .real(Double(whole))
    }
}

// Aggregates of values. They are also available for unmanaged collections.
extension RealmCollection where Element: OrderedValue {
    /// The minimum; nil if no value can be compared. Absent values and NaN are skipped.
    public func min() -> Element._NonOptional? { ElementAggregates.extremum(self, isGreatest: false) }

    /// The maximum; nil if no value can be compared. Absent values and NaN are skipped.
    public func max() -> Element._NonOptional? { ElementAggregates.extremum(self, isGreatest: true) }

    /// The current elements, sorted: absent values first, then NaN, then all other values, strings by code point.
    public func sorted(ascending: Bool = true) -> [Element] { ElementAggregates.sorted(Array(self), ascending) }
}

extension RealmCollection where Element: NumericValue {
    /// The sum of the elements. Absent values and NaN are skipped. Traps if the sum does not fit the type.
    public func sum() -> Element { aggregates.sum() }

    /// The average of the elements; nil if no element can be averaged. Absent values and NaN are skipped.
    public func average() -> Element._Average? { aggregates.average() }

    private var aggregates: ElementAggregates { ElementAggregates(self, of: (self as? any ManagedCollection)?.core) }
}

extension RealmCollection where Element: PersistableValue {
    /// The current elements without duplicates. The first of several equal elements is kept. Values are compared as in
    /// queries, except that all NaNs are equal. In `AnyRealmValue`s, numbers of different types are equal if their
    /// numeric values are equal.
    public func distinct() -> [Element] {
        var known: Set<StoredValue> = []
        return filter { known.insert($0._identity ?? $0._compared).inserted }
    }
}

extension OrderedValue {
    /// Creates a value from its stored form. Objects in `AnyRealmValue`s belong to the Realm of `context`.
    static func _value(_ stored: SQLValue, in context: RealmContext?) -> Self? {
        if Self.self == AnyRealmValue.self { return AnyRealmValue(stored, in: context) as? Self }
        return _value(StoredValue(stored))
    }

    /// Converts the stored minimum or maximum of the property at `keyPath`. Traps if the property is not of type
    /// `Self`.
    static func aggregate(_ stored: SQLValue, _ keyPath: String, in context: RealmContext?) -> Self {
        guard let value = _value(stored, in: context) else { Misuse.aggregateOfOtherType(keyPath, _typeName) }
        return value
    }
}

extension PropertySchema {
    /// Traps if an aggregate is not defined for this property, which is at the end of `path`. If `isArithmetic` is
    /// true, the aggregate is a sum or average, and needs numbers. A minimum or maximum needs ordered values.
    func requireAggregatable(_ path: String, isArithmetic: Bool) {
        let (isOrdered, isNumber): (Bool, Bool) =
            switch element {
            case .link, .embedded: (false, false)
            case .scalar(let scalar): (true, scalar.isInteger || [.float, .double, .decimal128].contains(scalar))
            case .intEnum, .stringEnum: (true, false)
            }
        if kind == .single && (isArithmetic ? isNumber : isOrdered) { return }
        Misuse.notAggregated(path, is: typeDescription, lacks: isArithmetic ? "sum or average" : "order")
    }
}

extension Map where Value: OrderedValue {
    /// The minimum; nil if no value can be compared. Absent values and NaN are skipped.
    public func min() -> Value._NonOptional? { ElementAggregates.extremum(values, isGreatest: false) }

    /// The maximum; nil if no value can be compared. Absent values and NaN are skipped.
    public func max() -> Value._NonOptional? { ElementAggregates.extremum(values, isGreatest: true) }

    /// The current values, sorted: absent values first, then NaN, then all other values.
    public func sorted(ascending: Bool = true) -> [Value] { ElementAggregates.sorted(values, ascending) }
}

extension Map where Value: NumericValue {
    /// The sum of the values. Absent values and NaN are skipped. Traps if the sum does not fit the type.
    public func sum() -> Value { ElementAggregates(core == nil ? values : [], of: core).sum() }

    /// The average of the values; nil if no value can be averaged. Absent values and NaN are skipped.
    public func average() -> Value._Average? { ElementAggregates(core == nil ? values : [], of: core).average() }
}

extension RealmCollection where Element: ObjectBase {
    /// The minimum of a property among the elements; nil if no element has a value. NaN is skipped.
    ///
    /// - Parameter keyPath: a property, or a key path through to-one links such as `"owner.age"`.
    public func min<V: OrderedValue>(ofProperty keyPath: String) -> V? { aggregates(keyPath).minimum() }

    /// The maximum of a property among the elements; nil if no element has a value. NaN is skipped.
    public func max<V: OrderedValue>(ofProperty keyPath: String) -> V? { aggregates(keyPath).maximum() }

    /// The sum of a property over the elements; zero if there are no elements. An element that occurs several times
    /// counts several times.
    public func sum<V: NumericValue>(ofProperty keyPath: String) -> V { aggregates(keyPath, isArithmetic: true).sum() }

    /// The average of a property over the elements that have a value; nil if no element has one.
    public func average<V: NumericValue>(ofProperty keyPath: String) -> V? {
        aggregates(keyPath, isArithmetic: true).average()
    }

    private func aggregates(_ keyPath: String, isArithmetic: Bool = false) -> ElementAggregates {
        ElementAggregates(
            self, keyPath, isArithmetic: isArithmetic,
            realm == nil || isInvalidated ? nil : _members()?.storage)
    }
}

// Aggregates of typed fields of the schema.
extension RealmCollection where Element: ModelObject {
    /// The minimum of a field among the elements; nil if no element has a value.
    @_disfavoredOverload
    public func min<F: ValueField<Element>>(of field: (Element.RootFields) -> F) -> F.Value._NonOptional?
    where F.Value: OrderedValue {
        min(ofProperty: field(Element.fields).keyPath)
    }

    /// The maximum of a field among the elements; nil if no element has a value.
    @_disfavoredOverload
    public func max<F: ValueField<Element>>(of field: (Element.RootFields) -> F) -> F.Value._NonOptional?
    where F.Value: OrderedValue {
        max(ofProperty: field(Element.fields).keyPath)
    }

    /// The sum of a field over the elements that have a value; zero if no element has one.
    @_disfavoredOverload
    public func sum<F: ValueField<Element>>(of field: (Element.RootFields) -> F) -> F.Value._NonOptional
    where F.Value: NumericValue, F.Value._NonOptional: NumericValue {
        sum(ofProperty: field(Element.fields).keyPath)
    }

    /// The average of a field over the elements that have a value; nil if no element has one.
    @_disfavoredOverload
    public func average<F: ValueField<Element>>(of field: (Element.RootFields) -> F) -> F.Value._Average?
    where F.Value: NumericValue {
        average(ofProperty: field(Element.fields).keyPath)
    }
}
