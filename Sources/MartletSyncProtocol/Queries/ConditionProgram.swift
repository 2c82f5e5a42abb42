package import MartletEngine
package import MartletValues

/// The operands of all conditions on one type. Each operand has a position in the arrays of `RowOperands`.
package struct OperandTable: Sendable {
    /// One of the two parts of the table: the operands of single values, or the operands of collections.
    fileprivate struct Part: Sendable {
        /// Nil at unused positions.
        private(set) var operands: [ConditionOperand?] = []
        private var positions: [ConditionOperand: Int] = [:]
        private var useCounts: [Int] = []
        private var unused: [Int] = []

        func position(of operand: ConditionOperand) -> Int? { positions[operand] }

        mutating func add(_ operand: ConditionOperand) -> Int {
            if let position = positions[operand] {
                useCounts[position] += 1
                return position
            }
            let position = unused.popLast() ?? operands.count
            if position == operands.count {
                operands.append(operand)
                useCounts.append(1)
            } else {
                operands[position] = operand
                useCounts[position] = 1
            }
            positions[operand] = position
            return position
        }

        mutating func remove(_ operand: ConditionOperand) {
            guard let position = positions[operand] else { return }
            useCounts[position] -= 1
            guard useCounts[position] == 0 else { return }
            positions[operand] = nil
            operands[position] = nil
            unused.append(position)
        }
    }

    fileprivate var values = Part()
    fileprivate var collections = Part()

    package init() {}

    /// The position of a single value that a program tests; nil if no program has added it.
    package func position(of operand: ConditionOperand) -> Int? { values.position(of: operand) }

    /// The position of a collection that a program tests; nil if no program has added it.
    package func position(ofCollection operand: ConditionOperand) -> Int? { collections.position(of: operand) }

    /// Removes one use of each operand of the condition. Call this method when a program of the condition is discarded.
    /// A position becomes free when no other program uses its operand.
    package mutating func remove(_ condition: SubscriptionCondition) {
        condition.forEachTest { test, _ in
            for operand in test.operands {
                if test.testsElements { collections.remove(operand) } else { values.remove(operand) }
            }
        }
    }
}

/// The values that the operands of an `OperandTable` have in one row, in the form in which they are compared.
package struct RowOperands: Sendable, Equatable {
    package let values: [SQLValue]
    package let collections: [[SQLValue]]

    package init(_ row: RowImage, _ table: OperandTable) {
        values = table.values.operands.map { operand in
            guard let operand else { return .null }
            if operand.kind == .object { return row.hasObject(at: operand.path) ? .integer(1) : .null }
            return row.value(at: operand.path)?.compared(as: operand.kind) ?? .null
        }
        collections = table.collections.operands.map { operand in
            guard let operand else { return [] }
            return row.collections[operand.path]?.map { $0.compared(as: operand.kind) } ?? []
        }
    }
}

/// The values with which one test of a condition compares its operand.
package enum ConditionParameter: Sendable {
    case none
    case value(SQLValue)
    /// A few values, which are compared one by one.
    case few([SQLValue])
    /// More values, which are looked up in a set.
    case many(Set<SQLValue>)
    case pattern(TextPattern)

    private static let greatestFewCount = 8

    fileprivate init(_ test: ConditionTest) {
        switch test {
        case .isNil, .containsNil, .compared: self = .none
        case .isIn(let operand, let values), .containsAny(let operand, let values):
            let compared = values.map { SyncValue.scalar($0).compared(as: operand.kind) }
            self = compared.count > Self.greatestFewCount ? .many(Set(compared)) : .few(compared)
        case .order(let operand, _, let value): self = .value(SyncValue.scalar(value).compared(as: operand.kind))
        case .text(_, let match, let pattern): self = .pattern(TextPattern(pattern, match.engineMatch, []))
        }
    }

    fileprivate func contains(_ value: SQLValue) -> Bool {
        switch self {
        case .few(let values): values.contains(value)
        case .many(let values): values.contains(value)
        case .none, .value, .pattern: false
        }
    }

    /// The parameters of a condition, in the order of its tests.
    package static func all(of condition: SubscriptionCondition) -> [ConditionParameter] {
        var parameters: [ConditionParameter] = []
        condition.forEachTest { test, _ in parameters.append(ConditionParameter(test)) }
        return parameters
    }
}

/// A condition without its comparison values, prepared for evaluation. Conditions that differ only in these values have
/// the same `SubscriptionCondition.shape`, and share one program.
package struct ConditionProgram: Sendable {
    private indirect enum Node: Sendable {
        case constant(Bool)
        case all([Node])
        case any([Node])
        /// A test, and the position of its parameter among the parameters of the condition.
        case test(Test, Int, isNegated: Bool)
    }

    /// A test. The integers are the positions of its operands in `RowOperands`.
    private enum Test: Sendable {
        case isNil(Int)
        case isIn(Int)
        /// A comparison of an `AnyRealmValue` property. Two `AnyRealmValue`s have an order only if both are of the same
        /// kind.
        case anyOrder(Int, ConditionComparison)
        case order(Int, ConditionComparison)
        case text(Int)
        case compared(Int, ConditionComparison, Int)
        case containsNil(Int)
        case containsAny(Int)
    }

    private let root: Node

    /// Adds the operands of the condition to `table`.
    package init(_ condition: SubscriptionCondition, _ table: inout OperandTable) {
        var count = 0
        root = Self.node(condition, &table, &count)
    }

    private static func node(
        _ condition: SubscriptionCondition, _ table: inout OperandTable, _ count: inout Int
    ) -> Node {
        switch condition {
        case .constant(let value): return .constant(value)
        case .all(let parts): return .all(parts.map { node($0, &table, &count) })
        case .any(let parts): return .any(parts.map { node($0, &table, &count) })
        case .test(let test, let isNegated):
            defer { count += 1 }
            return .test(self.test(test, &table), count, isNegated: isNegated)
        }
    }

    private static func test(_ test: ConditionTest, _ table: inout OperandTable) -> Test {
        switch test {
        case .isNil(let operand): .isNil(table.values.add(operand))
        case .isIn(let operand, _): .isIn(table.values.add(operand))
        case .order(let operand, let comparison, _):
            operand.kind == .any
                ? .anyOrder(table.values.add(operand), comparison)
                : .order(table.values.add(operand), comparison)
        case .text(let operand, _, _): .text(table.values.add(operand))
        case .compared(let left, let comparison, let right):
            .compared(table.values.add(left), comparison, table.values.add(right))
        case .containsNil(let operand): .containsNil(table.collections.add(operand))
        case .containsAny(let operand, _): .containsAny(table.collections.add(operand))
        }
    }

    // MARK: Evaluation

    /// Whether a row satisfies a condition of this shape.
    package func matches(_ row: RowOperands, _ parameters: [ConditionParameter]) -> Bool {
        Self.evaluate(root, row, parameters)
    }

    private static func evaluate(_ node: Node, _ row: RowOperands, _ parameters: [ConditionParameter]) -> Bool {
        switch node {
        case .constant(let value): return value
        case .all(let nodes):
            for node in nodes where !evaluate(node, row, parameters) { return false }
            return true
        case .any(let nodes):
            for node in nodes where evaluate(node, row, parameters) { return true }
            return false
        case .test(let test, let position, let isNegated):
            return evaluate(test, row, parameters[position]) != isNegated
        }
    }

    private static func evaluate(_ test: Test, _ row: RowOperands, _ parameter: ConditionParameter) -> Bool {
        switch test {
        case .isNil(let position): return row.values[position] == .null
        case .isIn(let position): return parameter.contains(row.values[position])
        case .order(let position, let comparison):
            guard case .value(let bound) = parameter else { return false }
            return comparison.holds(row.values[position], bound)
        case .anyOrder(let position, let comparison):
            // The first byte of a sort key is the kind of the value. Values of different kinds have no order.
            guard case .value(let bound) = parameter, case .blob(let key) = bound,
                case .blob(let value) = row.values[position], key.first == value.first
            else { return false }
            return comparison.holds(.blob(value), bound)
        case .text(let position):
            guard case .pattern(let pattern) = parameter else { return false }
            return pattern.matches(row.values[position]) ?? false
        case .compared(let left, let comparison, let right):
            let (left, right) = (row.values[left], row.values[right])
            return comparison.holds(left, right) || (comparison == .equal && left == .null && right == .null)
        case .containsNil(let position): return row.collections[position].contains(.null)
        case .containsAny(let position): return row.collections[position].contains(where: parameter.contains)
        }
    }
}

extension ConditionComparison {
    /// False if one of the values is nil or NaN.
    fileprivate func holds(_ left: SQLValue, _ right: SQLValue) -> Bool {
        guard left.hasOrder, right.hasOrder else { return false }
        let order = ValueOrder.compare(left, right)
        return switch self {
        case .equal: order == 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}

extension ConditionTextMatch {
    var engineMatch: Predicate.TextMatch {
        switch self {
        case .contains: .contains
        case .begins: .begins
        case .ends: .ends
        case .like: .like
        }
    }
}

extension SQLValue {
    /// False for nil and NaN.
    fileprivate var hasOrder: Bool {
        switch self {
        case .null: false
        case .real(let number): !number.isNaN
        case .integer, .text, .blob: true
        }
    }
}

extension SubscriptionCondition {
    /// Whether a row satisfies the condition. To evaluate a condition for many rows, prepare a `ConditionProgram`.
    package func matches(_ row: RowImage) -> Bool {
        var table = OperandTable()
        let program = ConditionProgram(self, &table)
        return program.matches(RowOperands(row, table), ConditionParameter.all(of: self))
    }

    package func matches(values: [ValuePath: SyncValue]) -> Bool { matches(RowImage(values)) }
}
