/// The condition of a rule. The compiler has checked it against the schema.
///
/// A comparison with a claim is unknown if the user does not have the claim, or if the claim has a value of another
/// type. `AND`, `OR` and `NOT` treat unknown as SQL does, and a rule holds only if its condition is true. A comparison
/// of a claim with nil is never unknown, because it tests whether the user has the claim. A property that is nil equals
/// only nil. If it is compared with another value, `!=` is true and all other relations are false.
public indirect enum RuleCondition: Hashable, Sendable {
    case constant(Bool)
    case and([RuleCondition])
    case or([RuleCondition])
    case not(RuleCondition)
    /// The left side is a property or a claim. The right side has a type that fits the left side.
    case comparison(RuleOperand, RuleRelation, RuleOperand)
    /// Whether the operand equals one of the operands in the array: `size IN {'small', 'large'}`. If the array is empty,
    /// the result is false, or unknown if the operand is a claim that the user does not have.
    case oneOf(RuleOperand, [RuleOperand])
    /// Whether the claim is a list that contains the operand, which is a property or literal: `team IN $user.teams`.
    case contained(RuleOperand, RuleClaim)

    /// The paths of all properties in the condition, in the order in which they occur.
    public var paths: [RulePath] {
        switch self {
        case .constant: []
        case .and(let parts), .or(let parts): parts.flatMap(\.paths)
        case .not(let part): part.paths
        case .comparison(let left, _, let right): [left, right].compactMap(\.path)
        case .oneOf(let operand, let values): ([operand] + values).compactMap(\.path)
        case .contained(let operand, _): [operand.path].compactMap(\.self)
        }
    }
}

public enum RuleRelation: String, CaseIterable, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    /// False for `==` and `!=`.
    public var isOrder: Bool { self != .equal && self != .notEqual }

    /// The relation with both sides exchanged.
    public var exchanged: RuleRelation {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}

public enum RuleOperand: Hashable, Sendable {
    case property(RulePath)
    case claim(RuleClaim)
    case literal(RuleLiteral)

    public var path: RulePath? {
        if case .property(let path) = self { path } else { nil }
    }
}

/// A claim of the user's token, such as `$user.sub`. If the claim is a JSON object, this can also be a member of the
/// object, such as `$user.company.id`.
public struct RuleClaim: Hashable, Sendable {
    public let names: [String]

    public init(names: [String]) {
        self.names = names
    }
}

/// A value of the object to which a rule applies: a property, a member of an embedded object, or the primary key of a
/// linked object.
public struct RulePath: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case own
        /// A value in an embedded object. The names are the path inside the embedded object.
        case embedded([String])
        /// The property is a link. `key` is the name of the target's primary key; nil if the rule compares the link
        /// itself with nil.
        case link(key: String?)
    }

    /// The property of the object type with which the path begins.
    public let property: String
    public let kind: Kind
    /// The type of the compared value, which is never a link or an embedded object.
    public let value: ValueTypeModel
    public let isOptional: Bool

    public init(property: String, kind: Kind, value: ValueTypeModel, isOptional: Bool) {
        self.property = property
        self.kind = kind
        self.value = value
        self.isOptional = isOptional
    }

    /// The names in the order of the rule's text: `address` and `city` for `address.city`.
    public var names: [String] {
        switch kind {
        case .own: [property]
        case .embedded(let members): [property] + members
        case .link(let key): [property] + (key.map { [$0] } ?? [])
        }
    }
}

/// A literal. Its type fits the type of the value with which the rule compares it.
public enum RuleLiteral: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A decimal number that is not a 64-bit whole number, such as `-12.5` or `1E+40`.
    case number(String)
    case string(String)
    /// Sixteen bytes.
    case uuid([UInt8])
    /// Twelve bytes.
    case objectId([UInt8])
}
