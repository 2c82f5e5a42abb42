import MartletEngine

// A collection has no single value to compare. If a program compares a collection, the compiler reports the message of
// the unavailable conformance. Without these conformances, the compiler would report only that no operator accepts the
// operands.

@available(
    *, unavailable,
    message: "a collection has no single value; compare a field of its elements, its 'count', or use 'contains'"
)
extension ObjectCollectionField: OrderedOperand {
    public func _compare(_ comparison: _Comparison, _ value: Any?) -> Query<Root> { Query(.and([])) }
}

@available(
    *, unavailable,
    message: "a map has no single value; compare a field of its values, one entry, its 'count', or use 'contains'"
)
extension ObjectMapField: OrderedOperand {
    public func _compare(_ comparison: _Comparison, _ value: Any?) -> Query<Root> { Query(.and([])) }
}

@available(
    *, unavailable, message: "a collection has no single value; compare its 'count', or use 'contains'"
)
extension CollectionField: OrderedOperand {
    public func _compare(_ comparison: _Comparison, _ value: Any?) -> Query<Root> { Query(.and([])) }
}

@available(
    *, unavailable,
    message: "a map has no single value; compare its 'values', its 'keys', one entry, its 'count', or use 'contains'"
)
extension MapField: OrderedOperand {
    public func _compare(_ comparison: _Comparison, _ value: Any?) -> Query<Root> { Query(.and([])) }
}
