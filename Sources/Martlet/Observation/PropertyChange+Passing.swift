/// A value of a change on its way to where it is read: what it is in the Realm there.
package typealias PassingValue = (Realm?) -> Any?

extension PropertyChange {
    /// The same change elsewhere.
    ///
    /// - Parameter pack: how what belongs to a Realm gets there: objects, projections and collections among the values.
    package func passing(_ pack: (any ThreadConfined) -> PassingValue) -> (Realm?) -> PropertyChange {
        let (name, old, new) = (name, Self.passing(oldValue, pack), Self.passing(newValue, pack))
        return { PropertyChange(name: name, oldValue: old($0), newValue: new($0)) }
    }

    private static func passing(_ value: Any?, _ pack: (any ThreadConfined) -> PassingValue) -> PassingValue {
        switch value {
        case let value as AnyRealmValue:
            let value = passing(value, pack)
            return { value($0) }
        case let thing as any ThreadConfined: return pack(thing)
        default: return { _ in value }
        }
    }

    private static func passing(
        _ value: AnyRealmValue, _ pack: (any ThreadConfined) -> PassingValue
    ) -> (Realm?) -> AnyRealmValue {
        switch value {
        case .object(let object):
            let object = pack(object)
            return { (object($0) as? ObjectBase).map { .object($0) } ?? .none }
        case .list(let elements):
            let elements = elements.map { passing($0, pack) }
            return { realm in .list(elements.map { $0(realm) }) }
        case .map(let entries):
            let entries = entries.mapValues { passing($0, pack) }
            return { realm in .map(entries.mapValues { $0(realm) }) }
        default: return { _ in value }
        }
    }
}
