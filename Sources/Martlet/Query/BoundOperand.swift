import MartletEngine
import MartletValues

/// The kind of a value, which determines with what it can be compared.
enum ComparedKind: Equatable {
    case number, bool, text, data, date, uuid, objectId, decimal, any
    case link(String)

    init(_ element: ElementType) {
        self =
            switch element {
            case .link(let name), .embedded(let name): .link(name)
            case .intEnum: .number
            case .stringEnum: .text
            case .scalar(let scalar):
                switch scalar {
                case .bool: .bool
                case .int, .int8, .int16, .int32, .int64, .float, .double: .number
                case .string: .text
                case .data: .data
                case .date: .date
                case .uuid: .uuid
                case .objectId: .objectId
                case .decimal128: .decimal
                case .any: .any
                }
            }
    }

    var isText: Bool { self == .text || self == .data || self == .any }

    func isComparable(with other: ComparedKind) -> Bool {
        if case .link = self { return self == other }
        if case .link = other { return false }
        let numbers: [ComparedKind] = [.number, .decimal]
        return self == other || self == .any || other == .any || (numbers.contains(self) && numbers.contains(other))
    }
}

extension MartletEngine.Predicate.Comparison {
    var isEquality: Bool { self == .equal || self == .notEqual }
}

/// A resolved key path of a query string.
struct BoundPath {
    let path: PropertyPath
    /// The type of the values at the end; a link type if the path ends at a row.
    let element: ElementType?
    /// The number of components up to the elements of the last collection in the path; nil without a collection.
    let collectionEnd: Int?
    /// The elements of that collection.
    let elements: QueryBinder.Scope.Start
    let typeDescription: String
    let isFullText: Bool

    init(value element: ElementType) {
        path = .itself
        self.element = element
        collectionEnd = nil
        elements = .values(element)
        typeDescription = "a value"
        isFullText = false
    }

    init(_ resolved: ResolvedPath, _ path: PropertyPath, _ table: TableID, _ schema: DatabaseSchema) {
        self.path = path
        let property = resolved.end.map { schema[$0.table].type.properties[$0.property] }
        let last = resolved.steps.indices.last(where: resolved.isToMany)
        var collectionEnd = last.map { resolved.componentEnds[$0] }
        var elements = QueryBinder.Scope.Start.rows(last.map { resolved.steps[$0].target } ?? table)
        if let property, let end = resolved.end, property.kind != .single {
            switch resolved.part {
            case .entry: break
            case .keys: (collectionEnd, elements) = (path.components.count, .values(.scalar(.string)))
            case .whole:
                collectionEnd = path.components.count
                elements =
                    ResolvedPath.step(property, of: end.table, in: schema).map { .rows($0.target) }
                    ?? .values(property.element)
            }
        }
        self.collectionEnd = collectionEnd
        self.elements = elements
        if let property {
            element = resolved.part == .keys ? .scalar(.string) : Self.element(property)
            typeDescription = resolved.part == .whole ? property.typeDescription : "String"
        } else {
            let row = schema[resolved.steps.last?.target ?? table].type.name
            element = .link(row)
            typeDescription = row
        }
        isFullText = property?.isFullText ?? false
    }

    private static func element(_ property: PropertySchema) -> ElementType {
        if case .linkingObjects(let type, _) = property.kind { return .link(type) }
        return property.element
    }

    func prefix(_ count: Int) -> PropertyPath { PropertyPath(components: Array(path.components.prefix(count))) }
}

/// One side of a comparison.
struct BoundOperand {
    enum Kind {
        case literal(QueryLiteral)
        case element(ElementType)
    }

    private(set) var operand: MartletEngine.Predicate.Operand
    let type: Kind
    /// The text for the operand in error messages.
    let description: String
    var isCollection = false
    /// Whether the path passes through a collection: the operand then stands for many values.
    var isPlural = false
    var isFullText = false

    init(_ literal: QueryLiteral) {
        operand = .value(.null)
        type = .literal(literal)
        description = literal.description
    }

    init(_ operand: MartletEngine.Predicate.Operand, _ element: ElementType, _ description: String) {
        self.operand = operand
        type = .element(element)
        self.description = description
    }

    init(_ path: BoundPath, _ description: String) {
        operand = .path(path.path)
        type = .element(path.element ?? .scalar(.int))
        self.description = description
        isCollection = path.collectionEnd == path.path.components.count && path.collectionEnd != nil
        isPlural = path.collectionEnd != nil
        isFullText = path.isFullText
    }

    /// The operand as used in a subquery nested `level` levels deeper. It still refers to the scope of this operand.
    func inSubquery(_ level: Int) -> BoundOperand {
        var outer = self
        outer.operand = .outer(level, operand)
        outer.isFullText = false
        return outer
    }

    var isNil: Bool { if case .literal(.null) = type { true } else { false } }

    /// The elements of a list in the query or in an argument.
    var listed: [QueryLiteral]? {
        switch type {
        case .literal(.list(let values)): values
        case .literal(.any(.list(let values))): values.compactMap { QueryLiteral($0) }
        default: nil
        }
    }

    /// The operand of an arithmetic expression; nil if it is not a number.
    var asNumber: MartletEngine.Predicate.Operand? {
        switch type {
        case .element(let element): ComparedKind(element) == .number && !isCollection ? operand : nil
        case .literal(let literal): literal.compared(with: .scalar(.double)).map { .value($0) }
        }
    }
}

extension QueryLiteral {
    /// The element type that a property for this literal would have.
    var scalar: ElementType? {
        switch self {
        case .null, .any: .scalar(.any)
        case .bool: .scalar(.bool)
        case .integer, .double: .scalar(.double)
        case .decimal: .scalar(.decimal128)
        case .string: .scalar(.string)
        case .data: .scalar(.data)
        case .date: .scalar(.date)
        case .uuid: .scalar(.uuid)
        case .objectId: .scalar(.objectId)
        case .object, .list: nil
        }
    }
}
