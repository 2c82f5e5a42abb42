/// What a picture of a schema is written as; raw values are the words of `--format`.
public enum DiagramFormat: String, CaseIterable, Sendable {
    case mermaid
    case dot
    case svg
}

/// Which properties the boxes of a picture show; raw values are the words of `--properties`.
public enum DiagramProperties: String, CaseIterable, Sendable {
    case all
    /// Primary keys, and properties that a line begins or ends at.
    case links
    case none
}

/// What of a schema is drawn.
public struct DiagramOptions: Hashable, Sendable {
    public var showsProjections: Bool
    public var properties: DiagramProperties
    /// These types and those around them alone; empty for all.
    public var types: [String]
    /// How many lines away from `types` a type may be.
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
