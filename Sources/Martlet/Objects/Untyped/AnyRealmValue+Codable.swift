import Foundation
import MartletEngine

extension AnyRealmValue: Codable {
    // Kinds that a decoder cannot recognize from a plain value. Values of these kinds are encoded in a keyed container,
    // with the kind as the key.
    private enum WrappedKind: String, CodingKey, CaseIterable {
        case float, double, data, date, decimal128, objectId, uuid, object, map
    }

    /// Encodes `none` as null and lists as arrays. Booleans, integers, strings and doubles with a fraction are encoded
    /// as plain values.
    ///
    /// All other values are encoded with their kind, as in `{"date": …}`, so that decoding returns the same kind. An
    /// object is encoded under the name of its type, as in `{"object": {"Dog": {…}}}`, together with all objects to
    /// which it links.
    ///
    /// - Throws: `EncodingError` if links form a cycle, if a chain of links is longer than 250 objects, or if more than
    ///   100 lists and maps are nested.
    public func encode(to encoder: any Encoder) throws { try encode(to: encoder, nil) }

    func encode(to encoder: any Encoder, _ trail: EncodingTrail?) throws {
        if Self.depth == 0, isNestedTooDeep {
            throw EncodingError.invalidValue(
                kind, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: Self.tooDeep))
        }
        func encode(_ value: some Encodable) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
        func encode(_ kind: WrappedKind, _ value: some Encodable) throws {
            var container = encoder.container(keyedBy: WrappedKind.self)
            try container.encode(value, forKey: kind)
        }
        switch self {
        case .none:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try encode(value)
        case .int(let value): try encode(value)
        case .string(let value): try encode(value)
        // Without its kind, a double without a fraction would be decoded as an integer, and NaN could be decoded as a
        // string. Therefore the second `case .double` also encodes the kind.
        case .double(let value) where value.rounded() != value && !value.isNaN: try encode(value)
        case .double(let value): try encode(.double, value)
        case .float(let value): try encode(.float, value)
        case .data(let value): try encode(.data, value)
        case .date(let value): try encode(.date, value)
        case .decimal128(let value): try encode(.decimal128, value)
        case .objectId(let value): try encode(.objectId, value)
        case .uuid(let value): try encode(.uuid, value)
        case .list(let values):
            var container = encoder.unkeyedContainer()
            for value in values {
                try Self.deeper { try container.encode(EncodedAnyValue(value: value, trail: trail)) }
            }
        case .map(let entries):
            var container = encoder.container(keyedBy: WrappedKind.self)
            var map = container.nestedContainer(keyedBy: PropertyKey.self, forKey: .map)
            for (key, value) in Self.sorted(entries) {
                try Self.deeper {
                    try map.encode(EncodedAnyValue(value: value, trail: trail), forKey: PropertyKey(key))
                }
            }
        case .object(let object):
            let trail = try trail?.entering(object, encoder.codingPath) ?? EncodingTrail(object, nil)
            var container = encoder.container(keyedBy: WrappedKind.self)
            var typed = container.nestedContainer(keyedBy: PropertyKey.self, forKey: .object)
            try typed.encode(EncodedObject(object: object, trail: trail), forKey: PropertyKey(object._typeName))
        }
    }

    /// Decodes a value with the kind that was encoded. Objects are decoded as unmanaged objects.
    ///
    /// - Throws: `DecodingError` if a keyed container has no kind as a key, if an object has a type that the program
    ///   does not contain, or if more than 100 lists and maps are nested.
    public init(from decoder: any Decoder) throws {
        if let plain = Self.plain(decoder) {
            self = plain
            return
        }
        if var elements = try? decoder.unkeyedContainer() {
            try Self.requireDepth(decoder.codingPath)
            var values: [AnyRealmValue] = []
            while !elements.isAtEnd {
                values.append(try Self.deeper { try elements.decode(AnyRealmValue.self) })
            }
            self = .list(values)
            return
        }
        let container = try decoder.container(keyedBy: WrappedKind.self)
        guard let kind = container.allKeys.first else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "the container has no key for the kind of the value: expected one of "
                        + WrappedKind.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")))
        }
        self = try Self.wrapped(kind, container)
    }

    /// The number of lists and maps that contain the value that is being encoded or decoded.
    @TaskLocal private static var depth = 0

    private static func requireDepth(_ path: [any CodingKey]) throws {
        guard depth >= AnyValue.maximumDepth else { return }
        throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: tooDeep))
    }

    private static func deeper<R>(_ body: () throws -> R) throws -> R {
        try $depth.withValue(depth + 1, operation: body)
    }

    private static let tooDeep = "more than \(AnyValue.maximumDepth) lists and maps are nested"

    private static func wrapped(
        _ kind: WrappedKind, _ container: KeyedDecodingContainer<WrappedKind>
    ) throws -> AnyRealmValue {
        switch kind {
        case .float: return .float(try container.decode(Float.self, forKey: kind))
        case .double: return .double(try container.decode(Double.self, forKey: kind))
        case .data: return .data(try container.decode(Data.self, forKey: kind))
        case .date: return .date(try container.decode(Date.self, forKey: kind))
        case .decimal128: return .decimal128(try container.decode(Decimal128.self, forKey: kind))
        case .objectId: return .objectId(try container.decode(ObjectId.self, forKey: kind))
        case .uuid: return .uuid(try container.decode(UUID.self, forKey: kind))
        case .map:
            try requireDepth(container.codingPath)
            let map = try container.nestedContainer(keyedBy: PropertyKey.self, forKey: kind)
            var entries: [String: AnyRealmValue] = [:]
            for key in map.allKeys {
                entries[key.stringValue] = try Self.deeper { try map.decode(AnyRealmValue.self, forKey: key) }
            }
            return .map(entries)
        case .object:
            return .object(try object(container.nestedContainer(keyedBy: PropertyKey.self, forKey: kind)))
        }
    }

    private static func object(_ container: KeyedDecodingContainer<PropertyKey>) throws -> ObjectBase {
        let key = container.allKeys.first
        let models = ModelRegistry.classes.map(ModelClass.of)
        let model = models.first { $0.schema.name == key?.stringValue && !$0.schema.isEmbedded }
        let type: (any Decodable.Type)? = model?.metatype
        guard let key, container.allKeys.count == 1, let type,
            let object = try container.decoded(type, key) as? ObjectBase
        else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: container.codingPath,
                    debugDescription: "expected an object under the name of one of the program's types, found "
                        + (key.map { "'\($0.stringValue)'" } ?? "nothing")))
        }
        return object
    }

    private static func plain(_ decoder: any Decoder) -> AnyRealmValue? {
        guard let container = try? decoder.singleValueContainer() else { return nil }
        if container.decodeNil() { return AnyRealmValue.none }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int.self) { return .int(value) }
        // Strings are decoded before doubles, because a decoder may be configured to read strings such as "nan" as
        // numbers.
        if let value = try? container.decode(String.self) { return .string(value) }
        return (try? container.decode(Double.self)).map { .double($0) }
    }
}

/// An `AnyRealmValue` that is encoded as a part of its owner. The trail detects cycles of links.
struct EncodedAnyValue: Encodable {
    let value: AnyRealmValue
    let trail: EncodingTrail?

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder, trail) }
}
