/// A schema as a picture shows it, whatever the picture is written as.
struct DiagramModel {
    var boxes: [DiagramBox]
    /// Every one joins two boxes of the picture.
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
    /// The type of a property, the raw value of a case, the path of a label.
    let detail: String
    /// Says the same in less room.
    var shortDetail: String?
    var documentation: String?
    var isPrimaryKey = false
    var isIndexed = false
    var isDeprecated = false
    /// The rest of a list that is too long to show; it has no name of the schema.
    var isRest = false
}

/// A line of the picture.
struct DiagramRelation {
    enum Kind: String, CaseIterable {
        case link
        case embedding
        /// A property whose values are cases of an enum.
        case use
        /// A projection of an object.
        case projection
    }

    enum Multiplicity: String {
        case one
        case list
        case set
        case map
    }

    let kind: Kind
    var source: Int
    /// nil when the row is not shown, and for projections.
    var sourceRow: Int?
    var target: Int
    /// The linking objects that are the other end of the link.
    var targetRow: Int?
    /// The name of the property.
    let label: String
    let multiplicity: Multiplicity
    let isOptional: Bool
    /// The name of the linking objects.
    let backLabel: String?

    var isToMany: Bool { multiplicity != .one }
}
