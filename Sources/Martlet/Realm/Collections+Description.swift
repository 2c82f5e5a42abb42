// The descriptions of collections: the type and at most 100 elements.

extension Results: CustomStringConvertible {
    /// The type and the elements. The length is limited, and omitted elements are counted.
    public var description: String { CollectionText.text("\(Self.self)", isInvalidated, self) }
}

extension List: CustomStringConvertible {
    /// The type and the elements. The length is limited, and omitted elements are counted.
    public var description: String { CollectionText.text("\(Self.self)", isInvalidated, self) }
}

extension MutableSet: CustomStringConvertible {
    /// The type and the elements. The length is limited, and omitted elements are counted.
    public var description: String { CollectionText.text("\(Self.self)", isInvalidated, self) }
}

extension LinkingObjects: CustomStringConvertible {
    /// The type and the elements. The length is limited, and omitted elements are counted.
    public var description: String { CollectionText.text("\(Self.self)", isInvalidated, self) }
}

extension Map: CustomStringConvertible {
    /// The type and the entries. The length is limited, and omitted entries are counted.
    public var description: String {
        if isInvalidated { return CollectionText.text("\(Self.self)", true, EmptyCollection<Never>()) }
        return CollectionText.text("\(Self.self)", false, keys) { "\"\($1)\": \($0.element(self[$1]))" }
    }
}

extension SectionedResults: CustomStringConvertible {
    /// The type and the sections. The length is limited, and omitted sections and elements are counted.
    public var description: String { CollectionText.text("\(Self.self)", isInvalidated, self, isMultiline: true) }
}

extension ResultsSection: CustomStringConvertible {
    /// The key and the elements. The length is limited, and omitted elements are counted.
    public var description: String { CollectionText.text("\(ValueDescription(key)):", isInvalidated, self) }
}

extension SectionedValues: CustomStringConvertible {
    /// The type and the sections. The length is limited, and omitted sections and elements are counted.
    public var description: String { CollectionText.text("\(Self.self)", isInvalidated, self, isMultiline: true) }
}

extension ValuesSection: CustomStringConvertible {
    /// The key and the elements. The length is limited, and omitted elements are counted.
    public var description: String { CollectionText.text("\(ValueDescription(key)):", isInvalidated, self) }
}

extension ProjectedResults: CustomStringConvertible {
    /// The type and the elements. The length is limited, and omitted elements are counted.
    public var description: String { CollectionText.text("\(Self.self)", storage.isInvalidated, self) }
}

extension ProjectedCollection: CustomStringConvertible {
    /// The type and the elements. The length is limited, and omitted elements are counted.
    public var description: String { CollectionText.text("\(Self.self)", false, self) }
}

extension Projection: CustomStringConvertible {
    /// The type of the projection, and its object.
    public final var description: String { "\(Self.self) of \(rootObject)" }
}

private enum CollectionText {
    private static let elementLimit = 100
    private static let objectLimit = 200

    /// Builds the description of a collection. Elements that are objects are shown one per line. Values are shown in
    /// one line.
    static func text<Elements: Collection>(
        _ title: String, _ isInvalidated: Bool, _ elements: Elements, isMultiline: Bool = false,
        _ describe: (inout ObjectText, Elements.Element) -> String = { $0.element($1) }
    ) -> String {
        if isInvalidated { return "\(title) (invalidated)" }
        var text = ObjectText(objectLimit: objectLimit)
        let count = elements.count
        var lines = elements.prefix(elementLimit).map { describe(&text, $0) }
        if count > elementLimit { lines.append("… \(count - elementLimit) more") }
        let isMultiline = isMultiline || lines.contains { $0.contains { $0 == "{" || $0.isNewline } }
        if lines.isEmpty || !isMultiline { return "\(title) [\(lines.joined(separator: ", "))]" }
        let indented = lines.map { "    " + $0.replacing("\n", with: "\n    ") }
        return "\(title) [\n\(indented.joined(separator: ",\n"))\n]"
    }
}
