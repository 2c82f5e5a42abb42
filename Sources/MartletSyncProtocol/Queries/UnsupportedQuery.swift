/// The error for a query that cannot be subscribed to. The description names the part of the query that is not
/// supported, and suggests an alternative.
package struct UnsupportedQuery: Error, CustomStringConvertible, Equatable {
    package let description: String

    package init(_ description: String) { self.description = description }

    static func tooLarge(_ limits: ConditionLimits) -> UnsupportedQuery {
        UnsupportedQuery(
            "the query of a subscription has more than \(limits.tests) comparisons, \(limits.depth) levels of "
                + "parentheses or \(limits.bytes) bytes; split it into several subscriptions")
    }

    static func unordered(_ path: String) -> UnsupportedQuery {
        UnsupportedQuery("'\(path)' has no order in a subscription; compare it with '==', '!=' or 'IN'")
    }

    static func wrongType(_ path: String) -> UnsupportedQuery {
        UnsupportedQuery("'\(path)' is compared with a value of another type; use a value of the type of the property")
    }

    static func aggregate(_ path: String, _ what: String) -> UnsupportedQuery {
        UnsupportedQuery(
            "'\(path)' is compared by \(what), which a subscription cannot contain; store the number in a property, "
                + "and compare the property")
    }
}
