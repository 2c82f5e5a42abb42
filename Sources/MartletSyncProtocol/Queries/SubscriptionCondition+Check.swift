import MartletEngine

extension SubscriptionCondition {
    /// Checks a condition that a client has sent. Throws if the condition tests a property that the type does not have,
    /// tests a property as a value of another kind, or compares properties of different kinds.
    package func check(type: Int, in schema: AgreedSchema) throws(MalformedMessage) {
        guard let start = schema.type(type), !start.isEmbedded else {
            throw MalformedMessage("a subscription has the unknown type \(type)")
        }
        var problem: MalformedMessage?
        forEachTest { test, _ in
            for operand in test.operands where problem == nil {
                if !operand.exists(in: start, schema, isCollection: test.testsElements) {
                    problem = MalformedMessage(
                        "a condition compares the property \(operand.path.properties) of '\(start.name)' as "
                            + "'\(operand.kind)', which it is not")
                }
            }
            if !test.isWellFormed { problem = MalformedMessage("a condition compares properties of different types") }
        }
        if let problem { throw problem }
    }
}

extension ConditionOperand {
    /// True if the path leads to a property of this kind.
    fileprivate func exists(in start: ObjectTypeSchema, _ schema: AgreedSchema, isCollection: Bool) -> Bool {
        var type = start
        for (position, number) in path.properties.enumerated() {
            guard type.properties.indices.contains(number) else { return false }
            let property = type.properties[number]
            if position == path.count - 1 {
                // The service does not read the elements of a collection inside an embedded object.
                let hasKind = isCollection ? property.isCollection && position == 0 : property.kind == .single
                return hasKind && ConditionKind(property.element, in: schema) == kind
            }
            guard property.kind == .single, case .embedded(let name) = property.element,
                let next = schema.type(named: name)
            else { return false }
            type = next
        }
        return false
    }
}

extension ConditionTest {
    /// False for tests that `ConditionBuilder` never creates.
    fileprivate var isWellFormed: Bool {
        switch self {
        case .compared(let left, _, let right):
            left.kind == right.kind && left.kind != .any && left.kind != .object
                || Set([left.kind, right.kind]) == [.integer, .floating]
        case .isNil, .order, .text: true
        case .isIn(let operand, _), .containsAny(let operand, _), .containsNil(let operand): operand.kind != .object
        }
    }
}
