import MartletEngine
import MartletValues

// Conditions on the kind of an `AnyRealmValue`.
extension Field {
    private func isOfKind(_ kinds: [AnyRealmValue.Kind]) -> Query<Root> {
        Query(.contained(.kind(_path.path), kinds.map { .text($0.rawValue) }))
    }

    /// True if the value is of this kind. An absent value is of the kind `none`.
    public func isKind(_ kind: AnyRealmValue.Kind) -> Query<Root> where Value == AnyRealmValue { isOfKind([kind]) }

    /// True if the value is of one of these kinds.
    public func isKind(in kinds: [AnyRealmValue.Kind]) -> Query<Root> where Value == AnyRealmValue { isOfKind(kinds) }

    /// For the value of a key in a map of `AnyRealmValue`: true if the value is of this kind. If the map does not
    /// contain the key, the kind is `none`.
    public func isKind(_ kind: AnyRealmValue.Kind) -> Query<Root> where Value == AnyRealmValue? { isOfKind([kind]) }
}

extension ValueCollectionField where Element == AnyRealmValue {
    /// True if at least one element of the collection, or value of the map, is of this kind.
    public func containsKind(_ kind: AnyRealmValue.Kind) -> Query<Root> { Field(_path).isKind(kind) }
}
