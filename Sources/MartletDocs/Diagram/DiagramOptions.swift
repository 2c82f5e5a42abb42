/// The formats of a diagram. Raw values are the values of `--format`.
public enum DiagramFormat: String, CaseIterable, Sendable {
    case mermaid
    case dot
    case svg
}

/// The properties that a diagram shows. Raw values are the values of `--properties`.
public enum DiagramProperties: String, CaseIterable, Sendable {
    case all
    /// Primary keys, and properties at which a line between two types starts or ends.
    case links
    case none
}

/// Options for drawing a diagram.
public struct DiagramOptions: Hashable, Sendable {
    public var showsProjections: Bool
    public var properties: DiagramProperties
    /// The diagram shows the types with these names, and the types near them. If the array is empty, the diagram shows
    /// all types.
    public var types: [String]
    /// The maximum number of lines on the path from one of `types` to another shown type.
    public var depth: Int

    public init(
        showsProjections: Bool = true, properties: DiagramProperties = .all, types: [String] = [], depth: Int = 1
    ) {
        self.showsProjections = showsProjections
        self.properties = properties
        self.types = types
        self.depth = depth
    }
}
