import MartletValues

/// A condition that can be evaluated on columns in memory.
///
/// The result for a row is true or false. In SQL, the result can also be NULL. A query does not return a row for which
/// its condition is NULL, and `QueryCompiler` writes negations that treat NULL as false.
indirect enum ColumnCondition {
    case constant(Bool)
    case and([ColumnCondition])
    case or([ColumnCondition])
    case not(ColumnCondition)
    /// The row has an integer in a range.
    case integers(PropertyIndex, ClosedRange<Int64>)
    /// The row has a floating-point number in a range.
    case reals(PropertyIndex, ClosedRange<Double>)
    /// The row has a text that satisfies a condition.
    case texts(PropertyIndex, TextCondition)
    /// The row has neither a value nor NaN.
    case absent(PropertyIndex)

    /// Converts a condition. Returns nil if the condition reads more than the columns of the row itself, or values that
    /// columns in memory cannot contain.
    init?(_ predicate: Predicate, _ type: ObjectTypeSchema) {
        switch predicate {
        case .constant(let value): self = .constant(value)
        case .and(let parts):
            guard let conditions = Self.all(parts, type) else { return nil }
            self = .and(conditions)
        case .or(let parts):
            guard let conditions = Self.all(parts, type) else { return nil }
            self = .or(conditions)
        // The two negations differ only for collections, which are not supported here.
        case .not(let part), .someNot(let part):
            guard let condition = ColumnCondition(part, type) else { return nil }
            self = .not(condition)
        case .comparison(let left, let comparison, let right):
            guard let condition = Self.comparison(left, comparison, right, type) else { return nil }
            self = condition
        case .range(let operand, let lower, let upper, let includesUpper):
            guard let low = Self.comparison(operand, .greaterOrEqual, lower, type),
                let high = Self.comparison(operand, includesUpper ? .lessOrEqual : .less, upper, type)
            else { return nil }
            self = .and([low, high])
        case .contained(let operand, let values, let options):
            guard options.isEmpty, values.count <= Self.greatestSet else { return nil }
            var conditions: [ColumnCondition] = []
            for value in values {
                guard let condition = Self.comparison(operand, .equal, .value(value), type) else { return nil }
                conditions.append(condition)
            }
            self = .or(conditions)
        case .text(.path(let path), let match, .value(.text(let pattern)), let options):
            guard let property = path.column(of: type), ColumnKind(property) == .text else { return nil }
            self = .texts(property.index, TextCondition(match, pattern, options))
        case .text, .isRow, .element, .exists, .fullText: return nil
        }
    }

    /// The greatest number of values that are compared one by one. SQLite searches a longer list with a temporary
    /// index, which is faster.
    private static let greatestSet = 16

    private static func all(_ parts: [Predicate], _ type: ObjectTypeSchema) -> [ColumnCondition]? {
        var conditions: [ColumnCondition] = []
        for part in parts {
            guard let condition = ColumnCondition(part, type) else { return nil }
            conditions.append(condition)
        }
        return conditions
    }

    private static func comparison(
        _ left: Predicate.Operand, _ comparison: Predicate.Comparison, _ right: Predicate.Operand,
        _ type: ObjectTypeSchema
    ) -> ColumnCondition? {
        switch (left, right) {
        case (.value, .path): return Self.comparison(right, comparison.flipped, left, type)
        case (.path(let path), .value(let value)):
            guard let property = path.column(of: type), let kind = ColumnKind(property) else { return nil }
            return Self.comparison(property.index, kind, comparison, value)
        default: return nil
        }
    }

    private static func comparison(
        _ property: PropertyIndex, _ kind: ColumnKind, _ comparison: Predicate.Comparison, _ value: SQLValue
    ) -> ColumnCondition? {
        switch value {
        case .null:
            switch comparison {
            case .equal: return .absent(property)
            case .notEqual: return .not(.absent(property))
            default: return .constant(false)
            }
        case .real(let number) where number.isNaN: return .constant(comparison == .notEqual)
        case .integer, .real:
            if kind == .text { return nil }
        case .text: if kind != .text { return nil }
        case .blob: return nil
        }
        if comparison == .notEqual {
            return Self.comparison(property, kind, .equal, value).map(ColumnCondition.not)
        }
        switch kind {
        case .text:
            guard case .text(let text) = value else { return nil }
            return .texts(property, .compared(comparison, Array(text.utf8)))
        case .integer: return integers(value, comparison).map { .integers(property, $0) } ?? .constant(false)
        case .real:
            switch value {
            // SQLite compares an integer and a floating-point number exactly. A conversion to Double is exact for
            // integers up to 2^53.
            case .integer(let number):
                guard number.magnitude <= 1 << 53 else { return nil }
                return reals(Double(number), comparison).map { .reals(property, $0) } ?? .constant(false)
            case .real(let number):
                return reals(number, comparison).map { .reals(property, $0) } ?? .constant(false)
            case .null, .text, .blob: return nil
            }
        }
    }

    /// The integers for which a comparison with a number is true. Nil if there are none.
    private static func integers(_ value: SQLValue, _ comparison: Predicate.Comparison) -> ClosedRange<Int64>? {
        let (floor, ceiling): (Int64, Int64)
        switch value {
        case .integer(let number): (floor, ceiling) = (number, number)
        case .real(let number):
            // A number of 2^63 or more is greater than all integers, and a number below -2^63 is less than all
            // integers.
            if number >= 0x1p63 {
                return comparison == .less || comparison == .lessOrEqual ? Int64.min...Int64.max : nil
            }
            if number < -0x1p63 {
                return comparison == .greater || comparison == .greaterOrEqual ? Int64.min...Int64.max : nil
            }
            (floor, ceiling) = (Int64(number.rounded(.down)), Int64(number.rounded(.up)))
            if floor != ceiling {
                switch comparison {
                case .equal, .notEqual: return nil
                case .less, .lessOrEqual: return Int64.min...floor
                case .greater, .greaterOrEqual: return ceiling...Int64.max
                }
            }
        case .null, .text, .blob: return nil
        }
        switch comparison {
        case .equal, .notEqual: return floor...ceiling
        case .lessOrEqual: return Int64.min...floor
        case .greaterOrEqual: return ceiling...Int64.max
        case .less: return floor == .min ? nil : Int64.min...(floor - 1)
        case .greater: return ceiling == .max ? nil : (ceiling + 1)...Int64.max
        }
    }

    /// The floating-point numbers for which a comparison with a number is true. Nil if there are none.
    private static func reals(_ value: Double, _ comparison: Predicate.Comparison) -> ClosedRange<Double>? {
        switch comparison {
        case .equal, .notEqual: value...value
        case .lessOrEqual: -Double.infinity...value
        case .greaterOrEqual: value...Double.infinity
        case .less: value == -.infinity ? nil : -Double.infinity...value.nextDown
        case .greater: value == .infinity ? nil : value.nextUp...Double.infinity
        }
    }

    /// The properties whose columns the condition reads.
    var properties: ColumnSet {
        switch self {
        case .constant: []
        case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion($1.properties) }
        case .not(let part): part.properties
        case .integers(let property, _), .reals(let property, _), .texts(let property, _), .absent(let property):
            [property]
        }
    }

    /// True if SQLite can use an index to find the rows for which this condition may be true. SQLite then usually reads
    /// fewer rows than a scan of the columns.
    func usesIndex(_ isIndexed: (PropertyIndex) -> Bool) -> Bool {
        switch self {
        case .integers(let property, _), .reals(let property, _), .texts(let property, _), .absent(let property):
            isIndexed(property)
        case .and(let parts): parts.contains { $0.usesIndex(isIndexed) }
        case .or(let parts): !parts.isEmpty && parts.allSatisfy { $0.usesIndex(isIndexed) }
        case .constant, .not: false
        }
    }
}

extension PropertyPath {
    /// The property of a path with one component. Nil for longer paths and for map keys and entries.
    func column(of type: ObjectTypeSchema) -> PropertySchema? {
        guard components.count == 1, case .property(let name) = components[0] else { return nil }
        return type[name]
    }
}
