/// A diagram of a schema, independent of the output format.
struct DiagramModel {
    var boxes: [DiagramBox]
    /// The lines between boxes of the diagram.
    var relations: [DiagramRelation]
}

struct DiagramBox {
    enum Kind: String, CaseIterable {
        case object
        case embedded
        case enumeration = "enum"
        case projection
    }

    let name: String
    let kind: Kind
    let documentation: String?
    let isDeprecated: Bool
    var rows: [DiagramRow]
}

struct DiagramRow {
    let name: String
    /// The type of a property, the raw value of a case, or the path of a label.
    let detail: String
    /// A shorter form of `detail`; nil if there is none.
    var shortDetail: String?
    var documentation: String?
    var isPrimaryKey = false
    var isIndexed = false
    var isDeprecated = false
    /// Whether the row replaces the last cases of a long enum. Such a row is not a declaration of the schema.
    var isOverflow = false
}

/// A line of the diagram.
struct DiagramRelation {
    enum Kind: String, CaseIterable {
        case link
        case embedding
        /// A property whose type is an enum.
        case use
        /// The relation of a projection to the type that it projects.
        case projection
    }

    enum Multiplicity: String {
        case one
        case list
        case set
        case map
    }

    let kind: Kind
    /// The index of the box at which the line begins.
    var source: Int
    /// The row of the property; nil if the row is hidden, and for projections.
    var sourceRow: Int?
    /// The index of the box at which the line ends.
    var target: Int
    /// The row of the linking objects that are the inverse of the link; nil if there are none, or if the row is hidden.
    var targetRow: Int?
    /// The name of the property; for a projection, `of`.
    let label: String
    let multiplicity: Multiplicity
    let isOptional: Bool
    /// The name of the linking objects that are the inverse of the link; nil if there are none.
    let inverseLabel: String?

    var isToMany: Bool { multiplicity != .one }
}
