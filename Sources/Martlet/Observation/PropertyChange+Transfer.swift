/// A value of a change that is transferred to another executor. The closure returns the value in the Realm of that
/// executor.
package typealias TransferableValue = (Realm?) -> Any?

extension PropertyChange {
    /// Prepares the change for another executor. The returned closure creates the change in the Realm of that executor.
    ///
    /// - Parameter pack: prepares objects, projections and collections among the values for the transfer.
    package func transferring(_ pack: (any ThreadConfined) -> TransferableValue) -> (Realm?) -> PropertyChange {
        let (name, old, new) = (name, Self.transferring(oldValue, pack), Self.transferring(newValue, pack))
        return { PropertyChange(name: name, oldValue: old($0), newValue: new($0)) }
    }

    private static func transferring(
        _ value: Any?, _ pack: (any ThreadConfined) -> TransferableValue
    ) -> TransferableValue {
        switch value {
        case let value as AnyRealmValue:
            let value = transferring(value, pack)
            return { value($0) }
        case let confined as any ThreadConfined: return pack(confined)
        default: return { _ in value }
        }
    }

    private static func transferring(
        _ value: AnyRealmValue, _ pack: (any ThreadConfined) -> TransferableValue
    ) -> (Realm?) -> AnyRealmValue {
        switch value {
        case .object(let object):
            let object = pack(object)
            return { (object($0) as? ObjectBase).map { .object($0) } ?? .none }
        case .list(let elements):
            let elements = elements.map { transferring($0, pack) }
            return { realm in .list(elements.map { $0(realm) }) }
        case .map(let entries):
            let entries = entries.mapValues { transferring($0, pack) }
            return { realm in .map(entries.mapValues { $0(realm) }) }
        default: return { _ in value }
        }
    }
}
