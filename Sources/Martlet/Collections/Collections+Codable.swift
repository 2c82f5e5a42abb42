import MartletEngine

extension UnkeyedEncodingContainer {
    mutating func encode(
        contentsOf elements: some Sequence<some RealmCollectionValue>, _ trail: EncodingTrail?
    ) throws {
        for element in elements {
            if let object = element._object {
                let trail = try trail?.entering(object, codingPath) ?? EncodingTrail(object, nil)
                try encode(EncodedObject(object: object, trail: trail))
            } else if let value = element as? AnyRealmValue {
                try encode(EncodedAnyValue(value: value, trail: trail))
            } else if let value = UntypedValue.unwrapped(element) as? any Encodable {
                try encode(value)
            } else {
                try encodeNil()
            }
        }
    }
}

/// Decodes elements of types whose conformance to `Decodable` is known only at run time.
private enum DecodedElement<Element: RealmCollectionValue> {
    static func next(_ container: inout any UnkeyedDecodingContainer) throws -> Element {
        let codingPath = container.codingPath + [PropertyKey(intValue: container.currentIndex)]
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Any {
            try DecodingError.placing(codingPath) { try container.decode(type) }
        }
        let type = try type(container.codingPath)
        return try element(decode(type), container.codingPath)
    }

    static func value(_ container: KeyedDecodingContainer<PropertyKey>, _ key: PropertyKey) throws -> Element {
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Any {
            try DecodingError.placing(container.codingPath + [key]) { try container.decode(type, forKey: key) }
        }
        let type = try type(container.codingPath)
        return try element(decode(type), container.codingPath)
    }

    private static func type(_ codingPath: [any CodingKey]) throws -> any Decodable.Type {
        if let type = Element.self as? any Decodable.Type { return type }
        throw mismatch(codingPath)
    }

    private static func element(_ value: Any, _ codingPath: [any CodingKey]) throws -> Element {
        if let element = value as? Element { return element }
        throw mismatch(codingPath)
    }

    private static func mismatch(_ codingPath: [any CodingKey]) -> DecodingError {
        DecodingError.typeMismatch(
            Element.self,
            DecodingError.Context(codingPath: codingPath, debugDescription: "'\(Element.self)' cannot be decoded"))
    }
}

extension List: CodableCollection, Codable {
    func encode(to encoder: any Encoder, _ trail: EncodingTrail?) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(contentsOf: self, trail)
    }

    func decodeElements(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        removeAll()
        while !container.isAtEnd { append(try DecodedElement<Element>.next(&container)) }
    }

    func copyElements(of other: any PropertyCollection, _ copy: (ObjectBase) -> ObjectBase) {
        guard let other = other as? List<Element> else { return }
        removeAll()
        append(objectsIn: other.map { $0._replacingObject(copy) })
    }

    /// Encodes the elements in order. Objects are encoded by `ObjectBase.encode(to:)`.
    public func encode(to encoder: any Encoder) throws { try encode(to: encoder, nil) }

    /// Decodes an unmanaged list.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        try decodeElements(from: decoder)
    }
}

extension MutableSet: CodableCollection, Codable {
    func encode(to encoder: any Encoder, _ trail: EncodingTrail?) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(contentsOf: self, trail)
    }

    func decodeElements(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        removeAll()
        while !container.isAtEnd { insert(try DecodedElement<Element>.next(&container)) }
    }

    func copyElements(of other: any PropertyCollection, _ copy: (ObjectBase) -> ObjectBase) {
        guard let other = other as? MutableSet<Element> else { return }
        removeAll()
        insert(objectsIn: other.map { $0._replacingObject(copy) })
    }

    /// Encodes the elements in the order of the set. Objects are encoded by `ObjectBase.encode(to:)`.
    public func encode(to encoder: any Encoder) throws { try encode(to: encoder, nil) }

    /// Decodes an unmanaged set.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        try decodeElements(from: decoder)
    }
}

extension Map: CodableCollection, Codable {
    func encode(to encoder: any Encoder, _ trail: EncodingTrail?) throws {
        var container = encoder.container(keyedBy: PropertyKey.self)
        for (key, value) in self {
            let key = PropertyKey(key)
            if let object = value._object {
                let trail =
                    try trail?.entering(object, container.codingPath + [key]) ?? EncodingTrail(object, nil)
                try container.encode(EncodedObject(object: object, trail: trail), forKey: key)
            } else if let value = value as? AnyRealmValue {
                try container.encode(EncodedAnyValue(value: value, trail: trail), forKey: key)
            } else if let value = UntypedValue.unwrapped(value) as? any Encodable {
                try container.encode(value, forKey: key)
            } else {
                try container.encodeNil(forKey: key)
            }
        }
    }

    func decodeElements(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: PropertyKey.self)
        removeAll()
        for key in container.allKeys { self[key.stringValue] = try DecodedElement<Value>.value(container, key) }
    }

    func copyElements(of other: any PropertyCollection, _ copy: (ObjectBase) -> ObjectBase) {
        guard let other = other as? Map<Value> else { return }
        removeAll()
        for (key, value) in other { self[key] = value._replacingObject(copy) }
    }

    /// Encodes the entries as a keyed container with the keys of the map. Objects are encoded by
    /// `ObjectBase.encode(to:)`.
    public func encode(to encoder: any Encoder) throws { try encode(to: encoder, nil) }

    /// Decodes an unmanaged map.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        try decodeElements(from: decoder)
    }
}

extension Results: Encodable {
    /// Encodes the members in order. Objects are encoded by `ObjectBase.encode(to:)`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(contentsOf: self, nil)
    }
}

extension LinkingObjects: Encodable {
    /// Encodes the linking objects in order. Objects are encoded by `ObjectBase.encode(to:)`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(contentsOf: self, nil)
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Unmanaged copies of the elements, as `ObjectBase.detached()` creates them. An object that several elements link
    /// to is copied once.
    public func detached() -> [Element] {
        let copies = DetachedCopies()
        let elements = map { $0._replacingObject(copies.copy) }
        copies.fill()
        return elements
    }
}
