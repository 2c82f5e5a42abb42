import MartletEngine
import MartletSQLite

/// Aggregates of values in memory: lists may hold an element several times, and need not be in a Realm.
struct ElementValues {
    /// Numbers as numbers; absent values and NaN left out.
    private let values: [SQLValue]

    init(_ values: some Sequence<StoredValue>) {
        self.values = values.map(\.raw).filter { value in
            if case .real(let number) = value { return !number.isNaN }
            return value != .null
        }
    }

    /// The values of a property of objects, or of one behind to-one links.
    init<Objects: Sequence>(_ objects: Objects, _ keyPath: String) where Objects.Element: ObjectBase {
        let names = PropertyPath(keyPath).names
        self.init(objects.map { ElementValues.value($0, names[...]) })
    }

    private static func value(_ object: ObjectBase, _ names: ArraySlice<String>) -> StoredValue {
        guard let name = names.first else { Misuse.query("an aggregate needs a property") }
        let property = object.property(named: name)
        guard property.kind == .single, property.isLink == (names.count > 1) else {
            Misuse.query("'\(name)' is '\(property.typeDescription)', which has no order and no sum")
        }
        if property.isLink {
            return (object.untypedValue(property) as? ObjectBase).map { value($0, names.dropFirst()) } ?? .null
        }
        object._load(property.index)
        let stored = StoredValue(RowEncoder.values(of: object)[property.index])
        return property.element.isFloating ? Double?._value(stored).map(\._compared) ?? .null : stored
    }

    func least<V: OrderedValue>() -> V? {
        values.min { ValueOrder.compare($0, $1) < 0 }.flatMap { V._value(StoredValue($0)) }
    }

    func greatest<V: OrderedValue>() -> V? {
        values.max { ValueOrder.compare($0, $1) < 0 }.flatMap { V._value(StoredValue($0)) }
    }

    func sum<V: NumericValue>() -> V {
        guard let total, let sum = V._sum(StoredValue(total)) else { Misuse.sumTooLarge("\(V.self)") }
        return sum
    }

    func average<V: NumericValue>() -> V? {
        guard !values.isEmpty else { return nil }
        let sum = values.reduce(0) { $0 + Double._number(StoredValue($1)) }
        return V._number(StoredValue(.real(sum / Double(values.count))))
    }

    // Nil for a sum of whole numbers beyond 64 bits.
    private var total: SQLValue? {
        var whole: (partialValue: Int64, overflow: Bool) = (0, false)
        var real: Double?
        for value in values {
            switch value {
            case .integer(let number):
                whole = whole.partialValue.addingReportingOverflow(number)
                if whole.overflow { return nil }
            case .real(let number): real = (real ?? 0) + number
            default: Misuse.query("values that are no numbers cannot be added")
            }
        }
        return real.map { .real($0 + Double(whole.partialValue)) } ?? .integer(whole.partialValue)
    }
}

extension List where Element: NumericValue {
    /// The sum of the elements; absent ones are skipped.
    public func sum() -> Element { ElementValues(map(\._compared)).sum() }

    /// The mean of the elements that are there; nil without any.
    public func average() -> Double? { ElementValues(map(\._compared)).average() }
}

extension MutableSet where Element: NumericValue {
    /// The sum of the elements; absent ones are skipped.
    public func sum() -> Element { ElementValues(map(\._compared)).sum() }

    /// The mean of the elements that are there; nil without any.
    public func average() -> Double? { ElementValues(map(\._compared)).average() }
}

extension Map where Value: NumericValue {
    /// The sum of the values; absent ones are skipped.
    public func sum() -> Value { ElementValues(values.map(\._compared)).sum() }

    /// The mean of the values that are there; nil without any.
    public func average() -> Double? { ElementValues(values.map(\._compared)).average() }
}

extension List where Element: ObjectBase {
    /// The least value of a property among the elements; nil when none has one.
    public func min<V: OrderedValue>(ofProperty keyPath: String) -> V? { ElementValues(self, keyPath).least() }

    /// The greatest value of a property among the elements; nil when none has one.
    public func max<V: OrderedValue>(ofProperty keyPath: String) -> V? { ElementValues(self, keyPath).greatest() }

    /// The sum of a property over the elements, each as often as it occurs; zero without elements.
    public func sum<V: NumericValue>(ofProperty keyPath: String) -> V { ElementValues(self, keyPath).sum() }

    /// The mean of a property over the elements that have it; nil when none has.
    public func average<V: NumericValue>(ofProperty keyPath: String) -> V? { ElementValues(self, keyPath).average() }

    /// Sets a property of all elements.
    public func setValue(_ value: Any?, forKey name: String) {
        for object in Array(self) { object.setValue(value, forKey: name) }
    }
}

extension MutableSet where Element: ObjectBase {
    /// The least value of a property among the elements; nil when none has one.
    public func min<V: OrderedValue>(ofProperty keyPath: String) -> V? { ElementValues(self, keyPath).least() }

    /// The greatest value of a property among the elements; nil when none has one.
    public func max<V: OrderedValue>(ofProperty keyPath: String) -> V? { ElementValues(self, keyPath).greatest() }

    /// The sum of a property over the elements; zero without elements.
    public func sum<V: NumericValue>(ofProperty keyPath: String) -> V { ElementValues(self, keyPath).sum() }

    /// The mean of a property over the elements that have it; nil when none has.
    public func average<V: NumericValue>(ofProperty keyPath: String) -> V? { ElementValues(self, keyPath).average() }

    /// Sets a property of all elements.
    public func setValue(_ value: Any?, forKey name: String) {
        for object in Array(self) { object.setValue(value, forKey: name) }
    }
}

extension Results where Element: ObjectBase {
    /// Sets a property of all members.
    public func setValue(_ value: Any?, forKey name: String) {
        for object in Array(self) { object.setValue(value, forKey: name) }
    }

    /// The values of a property of all members, in order.
    public func value(forKey name: String) -> [Any?] { map { $0.value(forKey: name) } }
}
