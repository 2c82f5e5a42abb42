import MartletEngine
import MartletSQLite

// Objects are encoded by what their schema declares: generated classes bring no code of their own for it.
extension ObjectBase: Encodable {
    /// Encodes all stored properties under their names: links as the objects they lead to, enums by their raw values, and
    /// what is absent as null. Ignored properties and linking objects are left out.
    ///
    /// - Throws: `EncodingError` where links lead back to an object that is being encoded, or more than 250 objects deep:
    ///   such a graph has no end. A projection, or a `detached()` copy without the link, can be encoded.
    public final func encode(to encoder: any Encoder) throws {
        try EncodedObject(object: self, trail: EncodingTrail(self, nil)).encode(to: encoder)
    }
}

/// The objects whose encoding is not finished, the newest first.
final class EncodingTrail {
    // Less than decoders of JSON follow, and far less than a stack holds.
    private static let limit = 250
    private let object: ObjectBase
    private let outer: EncodingTrail?
    private let depth: Int

    init(_ object: ObjectBase, _ outer: EncodingTrail?) {
        self.object = object
        self.outer = outer
        depth = (outer?.depth ?? 0) + 1
    }

    /// The trail on to an object.
    func entering(_ next: ObjectBase, _ codingPath: [any CodingKey]) throws -> EncodingTrail {
        var step: EncodingTrail? = self
        while let known = step {
            if known.object == next {
                throw Self.endless(next, codingPath, "links lead back to the '\(next._typeName)' they come from")
            }
            step = known.outer
        }
        if depth >= Self.limit {
            throw Self.endless(next, codingPath, "links lead more than \(Self.limit) objects deep")
        }
        return EncodingTrail(next, self)
    }

    private static func endless(_ object: ObjectBase, _ codingPath: [any CodingKey], _ reason: String) -> EncodingError
    {
        EncodingError.invalidValue(
            object,
            EncodingError.Context(
                codingPath: codingPath,
                debugDescription: "\(reason). Encode a projection, or a 'detached()' copy without the link"))
    }
}

/// An object on the way from others.
struct EncodedObject: Encodable {
    let object: ObjectBase
    let trail: EncodingTrail

    func encode(to encoder: any Encoder) throws {
        object._load(0)
        object.noteAllReads()
        let image = RowEncoder.image(of: object)
        var container = encoder.container(keyedBy: PropertyKey.self)
        for property in object._model.schema.properties {
            let key = PropertyKey(property.name)
            switch property.kind {
            case .linkingObjects: continue
            case .list, .set, .map:
                let collection = RowEncoder.collection(of: object, property.index) as? any CodableCollection
                if let collection {
                    try container.encode(EncodedCollection(collection: collection, trail: trail), forKey: key)
                }
            case .single where property.isLink:
                guard let target = object.untypedValue(property) as? ObjectBase else {
                    try container.encodeNil(forKey: key)
                    continue
                }
                let trail = try trail.entering(target, container.codingPath + [key])
                try container.encode(EncodedObject(object: target, trail: trail), forKey: key)
            case .single where property.isAny:
                let value = object.untypedValue(property) as? AnyRealmValue ?? .none
                try container.encode(EncodedAnyValue(value: value, trail: trail), forKey: key)
            case .single:
                if let value = UntypedValue.swift(image[property.index], property.element) as? any Encodable {
                    try container.encode(value, forKey: key)
                } else {
                    try container.encodeNil(forKey: key)
                }
            }
        }
    }
}

/// A list, set or map on the way from its owner.
private struct EncodedCollection: Encodable {
    let collection: any CodableCollection
    let trail: EncodingTrail

    func encode(to encoder: any Encoder) throws { try collection.encode(to: encoder, trail) }
}

/// A list, set or map that is encoded, decoded and copied together with its owner.
protocol CodableCollection: PropertyCollection {
    func encode(to encoder: any Encoder, _ trail: EncodingTrail?) throws
    /// Adds what it reads.
    func decodeElements(from decoder: any Decoder) throws
    /// Takes the elements of a collection of the same type, objects as what `copy` makes of them.
    func copyElements(of other: any PropertyCollection, _ copy: (ObjectBase) -> ObjectBase)
}

/// The name of a property, or the key of a map.
struct PropertyKey: CodingKey {
    let stringValue: String
    private(set) var intValue: Int?

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }

    /// A position among elements.
    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }
}

extension DecodingError {
    /// Runs `decode`; what it throws without saying where gets a place. Decoders of JSON leave it out where a number does not
    /// fit its type.
    static func placing<Value>(_ codingPath: [any CodingKey], _ decode: () throws -> Value) throws -> Value {
        do {
            return try decode()
        } catch let error as DecodingError {
            throw error
        } catch {
            throw DecodingError.dataCorrupted(
                Context(codingPath: codingPath, debugDescription: "the value cannot be read", underlyingError: error))
        }
    }
}

extension ObjectBase: Decodable {
    /// Takes the values of an unmanaged object from a decoder.
    final func decodeProperties(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: PropertyKey.self)
        var image = RowEncoder.image(of: self)
        for property in _model.schema.properties {
            let key = PropertyKey(property.name)
            if case .linkingObjects = property.kind { continue }
            guard container.contains(key) else { continue }
            if property.isCollection {
                let collection = RowEncoder.collection(of: self, property.index) as? any CodableCollection
                try collection?.decodeElements(from: container.superDecoder(forKey: key))
            } else if property.isLink {
                image.objects[property.index] = try link(property, container, key)
            } else if property.isAny {
                image.anyValues[property.index] = try container.decode(AnyRealmValue.self, forKey: key)
            } else {
                image.values[property.index] = try value(property, container, key)
            }
        }
        var row = RowDecoder(image, isChecking: true)
        _decode(&row)
        guard let refused = row.refused else { return }
        let property = _model.schema.properties[refused]
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: container.codingPath + [PropertyKey(property.name)],
                debugDescription: "the value is no case of '\(_typeName).\(property.name)'"))
    }

    private final func value(
        _ property: PropertySchema, _ container: KeyedDecodingContainer<PropertyKey>, _ key: PropertyKey
    ) throws -> SQLValue {
        // A required property is read although it is null: the decoder says best what is wrong with that.
        if property.isOptional, try container.decodeNil(forKey: key) {
            return .null
        }
        switch property.element {
        case .intEnum: return .integer(Int64(try container.decode(Int.self, forKey: key)))
        case .stringEnum: return .text(try container.decode(String.self, forKey: key))
        case .link, .embedded: return .null
        case .scalar(let scalar):
            let type = UntypedValue.type(of: scalar) as? any Decodable.Type
            return try type.map { try container.decoded($0, key) as? any PersistableValue }??._stored.raw ?? .null
        }
    }

    private final func link(
        _ property: PropertySchema, _ container: KeyedDecodingContainer<PropertyKey>, _ key: PropertyKey
    ) throws -> ObjectBase? {
        if try container.decodeNil(forKey: key) { return nil }
        let target = property.element.target ?? ""
        guard let model = targetModel(target) else { Misuse.unknownType(target) }
        let type: any Decodable.Type = model.metatype
        return try container.decoded(type, key) as? ObjectBase
    }
}

extension KeyedDecodingContainer {
    // A function, to give the type that is known at run time a name.
    func decoded<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Any {
        try DecodingError.placing(codingPath + [key]) { try decode(type, forKey: key) }
    }
}
