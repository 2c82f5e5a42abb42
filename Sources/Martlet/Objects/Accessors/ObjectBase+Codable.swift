import MartletEngine
import MartletValues

// Objects are encoded according to their schema. Generated classes contain no code for encoding.
extension ObjectBase: Encodable {
    /// Encodes all stored properties under their names: links as the linked objects, enums as their raw values, and nil
    /// as null. Ignored properties and linking objects are not encoded.
    ///
    /// - Throws: `EncodingError` if links form a cycle, or if a chain of links is longer than 250 objects. To encode
    ///   such objects, encode a projection, or a `detached()` copy without the link.
    public final func encode(to encoder: any Encoder) throws {
        try EncodedObject(object: self, trail: EncodingTrail(self, nil)).encode(to: encoder)
    }
}

/// The objects that are being encoded, as a linked list from the innermost object to the outermost one.
final class EncodingTrail {
    // The limit is below the nesting limit of JSON decoders. The stack of a thread is large enough to encode this many
    // nested objects.
    private static let limit = 250
    private let object: ObjectBase
    private let outer: EncodingTrail?
    private let depth: Int

    init(_ object: ObjectBase, _ outer: EncodingTrail?) {
        self.object = object
        self.outer = outer
        depth = (outer?.depth ?? 0) + 1
    }

    /// The trail with one more object. Throws if the object is on the trail already, or if the trail has reached its
    /// limit.
    func entering(_ next: ObjectBase, _ codingPath: [any CodingKey]) throws -> EncodingTrail {
        var step: EncodingTrail? = self
        while let known = step {
            if known.object == next {
                throw Self.encodingError(next, codingPath, "the links form a cycle at the '\(next._typeName)'")
            }
            step = known.outer
        }
        if depth >= Self.limit {
            throw Self.encodingError(next, codingPath, "the chain of links is longer than \(Self.limit) objects")
        }
        return EncodingTrail(next, self)
    }

    private static func encodingError(_ object: ObjectBase, _ codingPath: [any CodingKey], _ reason: String)
        -> EncodingError
    {
        EncodingError.invalidValue(
            object,
            EncodingError.Context(
                codingPath: codingPath,
                debugDescription: "\(reason). Encode a projection, or a 'detached()' copy without the link"))
    }
}

/// An object to encode. `trail` begins with this object and continues with the objects that contain it.
struct EncodedObject: Encodable {
    let object: ObjectBase
    let trail: EncodingTrail

    func encode(to encoder: any Encoder) throws {
        object._loadAll()
        object.recordAllReads()
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

/// A list, set or map that is encoded as a part of its owner.
private struct EncodedCollection: Encodable {
    let collection: any CodableCollection
    let trail: EncodingTrail

    func encode(to encoder: any Encoder) throws { try collection.encode(to: encoder, trail) }
}

/// A list, set or map that is encoded, decoded and copied together with its owner.
protocol CodableCollection: PropertyCollection {
    func encode(to encoder: any Encoder, _ trail: EncodingTrail?) throws
    /// Decodes elements and appends them.
    func decodeElements(from decoder: any Decoder) throws
    /// Appends the elements of a collection of the same type. Objects are replaced by the results of `copy`.
    func copyElements(of other: any PropertyCollection, _ copy: (ObjectBase) -> ObjectBase)
}

/// The name of a property, or the key of a map.
struct PropertyKey: CodingKey {
    let stringValue: String
    private(set) var intValue: Int?

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }

    /// The position of an element.
    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }
}

extension DecodingError {
    /// Runs `decode`. An error that is not a `DecodingError` contains no coding path, so this method wraps it in a
    /// `DecodingError` with the path. JSON decoders throw such an error if a number does not fit the requested type.
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
    /// Sets the properties of an unmanaged object to decoded values.
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
        var row = RowDecoder(image, checksRawValues: true)
        _decode(&row)
        guard let refused = row.refusedProperty else { return }
        let property = _model.schema.properties[refused]
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: container.codingPath + [PropertyKey(property.name)],
                debugDescription: "the value is not a case of '\(_typeName).\(property.name)'"))
    }

    private final func value(
        _ property: PropertySchema, _ container: KeyedDecodingContainer<PropertyKey>, _ key: PropertyKey
    ) throws -> SQLValue {
        // Null in a required property is not checked here, because the decoder throws a more precise error below.
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
    // This function is generic so that it can be called with an existential metatype.
    func decoded<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Any {
        try DecodingError.placing(codingPath + [key]) { try decode(type, forKey: key) }
    }
}
