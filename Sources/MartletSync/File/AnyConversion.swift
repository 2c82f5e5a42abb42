import MartletEngine
import MartletSyncProtocol
import MartletValues

/// Converts values of `AnyRealmValue` properties between their form in a file and their form in messages. A link in a
/// file contains the numbers of a table and of a row. These numbers differ between files, so a link in a message
/// contains the address of its target instead.
enum AnyConversion {
    /// Converts a stored value to the form that messages contain.
    ///
    /// - Parameter address: returns the address of the target of a link. If it returns nil, the link becomes nil.
    static func value(_ stored: SQLValue, _ address: (AnyLink) throws -> ObjectAddress?) throws -> SyncValue {
        guard case .blob(let bytes) = stored, let tag = stored.tag else { return .scalar(stored) }
        let content = Array(bytes.dropFirst())
        switch tag {
        case .object:
            guard let link = AnyLink(content) else { throw DamagedAnyValue() }
            return try address(link).map(SyncValue.link) ?? .null
        case .list:
            guard let elements = ElementCodec.decode(content) else { throw DamagedAnyValue() }
            return .list(try elements.map { try value($0, address) })
        case .map:
            guard let elements = ElementCodec.decode(content), elements.count.isMultiple(of: 2) else {
                throw DamagedAnyValue()
            }
            return .map(
                try stride(from: 0, to: elements.count, by: 2).map { position in
                    guard case .text(let key) = elements[position] else { throw DamagedAnyValue() }
                    return MapEntry(key: key, value: try value(elements[position + 1], address))
                })
        default: return .scalar(stored)
        }
    }

    /// Converts a value of a message to its stored form.
    ///
    /// - Parameter link: returns the link to an object. If it returns nil, because the object is not in the file, the
    ///   link becomes nil.
    /// - Throws: `MalformedMessage` for values that no `AnyRealmValue` has.
    static func stored(_ value: SyncValue, depth: Int = 0, _ link: (ObjectAddress) throws -> AnyLink?) throws
        -> SQLValue
    {
        switch value {
        case .scalar(let scalar):
            switch scalar.tag {
            case .object, .list, .map: throw malformed
            default:
                guard AnyValue.isWellFormed(scalar) else { throw malformed }
                return scalar
            }
        case .link(let target): return try link(target)?.stored ?? .null
        case .list(let values):
            guard depth < AnyValue.maximumDepth else { throw malformed }
            let elements = try values.map { try stored($0, depth: depth + 1, link) }
            return AnyValueTag.list.tagged(ElementCodec.encode(elements))
        case .map(let entries):
            guard depth < AnyValue.maximumDepth else { throw malformed }
            let elements = try entries.flatMap { [.text($0.key), try stored($0.value, depth: depth + 1, link)] }
            return AnyValueTag.map.tagged(ElementCodec.encode(elements))
        case .embedded: throw malformed
        }
    }

    private static let malformed = MalformedMessage("an AnyRealmValue is damaged")
}
