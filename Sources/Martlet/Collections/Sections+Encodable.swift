// Sections are encoded in order, as `{"key": …, "elements": […]}`.

private enum SectionKey: String, CodingKey {
    case key, elements
}

extension UnkeyedEncodingContainer {
    fileprivate mutating func encode<Elements: Collection>(
        section key: some Encodable, _ elements: Elements
    ) throws where Elements.Element: RealmCollectionValue {
        var section = nestedContainer(keyedBy: SectionKey.self)
        try section.encode(key, forKey: .key)
        var container = section.nestedUnkeyedContainer(forKey: .elements)
        try container.encode(contentsOf: elements, nil)
    }
}

extension SectionedResults: Encodable where Key: Encodable {
    /// Encodes the sections in order as `{"key": …, "elements": […]}`. Objects are encoded by `ObjectBase.encode(to:)`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for section in self { try container.encode(section: section.key, section) }
    }
}

extension ResultsSection: Encodable {
    /// Encodes the elements in order. Objects are encoded by `ObjectBase.encode(to:)`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(contentsOf: self, nil)
    }
}

extension SectionedValues: Encodable where Key: Encodable {
    /// Encodes the sections in order as `{"key": …, "elements": […]}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for section in self { try container.encode(section: section.key, section) }
    }
}

extension ValuesSection: Encodable {
    /// Encodes the values in order.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(contentsOf: self, nil)
    }
}
