import MartletEngine
import MartletValues

/// The kind of a value. It determines which values can be compared with each other.
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

    var supportsTextOperators: Bool { self == .text || self == .data || self == .any }

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
    /// The type of the values at the end of the path; a link type if the path ends at a row.
    let element: ElementType?
    /// The number of components up to and including the last collection in the path; nil if the path contains no
    /// collection.
    let collectionEnd: Int?
    /// Where the paths of a subquery start: at the elements of the last collection, or at the rows of the queried table
    /// if the path contains no collection.
    let elementScope: QueryBinder.Scope.Start
    let typeDescription: String
    let isFullText: Bool

    init(value element: ElementType) {
        path = .itself
        self.element = element
        collectionEnd = nil
        elementScope = .values(element)
        typeDescription = "a value"
        isFullText = false
    }

    init(_ resolved: ResolvedPath, _ path: PropertyPath, _ table: TableID, _ schema: DatabaseSchema) {
        self.path = path
        let property = resolved.end.map { schema[$0.table].type.properties[$0.property] }
        let last = resolved.steps.indices.last(where: resolved.isToMany)
        var collectionEnd = last.map { resolved.componentEnds[$0] }
        var elementScope = QueryBinder.Scope.Start.rows(last.map { resolved.steps[$0].target } ?? table)
        if let property, let end = resolved.end, property.kind != .single {
            switch resolved.part {
            case .entry: break
            case .keys: (collectionEnd, elementScope) = (path.components.count, .values(.scalar(.string)))
            case .whole:
                collectionEnd = path.components.count
                elementScope =
                    ResolvedPath.step(property, of: end.table, in: schema).map { .rows($0.target) }
                    ?? .values(property.element)
            }
        }
        self.collectionEnd = collectionEnd
        self.elementScope = elementScope
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
    enum Source {
        case literal(QueryLiteral)
        case element(ElementType)
    }

    private(set) var operand: MartletEngine.Predicate.Operand
    let source: Source
    /// Describes the operand in error messages.
    let description: String
    var isCollection = false
    /// True if the path passes through a collection. The operand then has several values.
    var isPlural = false
    var isFullText = false

    init(_ literal: QueryLiteral) {
        operand = .value(.null)
        source = .literal(literal)
        description = literal.description
    }

    init(_ operand: MartletEngine.Predicate.Operand, _ element: ElementType, _ description: String) {
        self.operand = operand
        source = .element(element)
        self.description = description
    }

    init(_ path: BoundPath, _ description: String) {
        operand = .path(path.path)
        source = .element(path.element ?? .scalar(.int))
        self.description = description
        isCollection = path.collectionEnd == path.path.components.count && path.collectionEnd != nil
        isPlural = path.collectionEnd != nil
        isFullText = path.isFullText
    }

    /// The operand for use in a subquery that is nested `level` levels deeper. The path of the operand still starts in
    /// the outer scope.
    func inSubquery(_ level: Int) -> BoundOperand {
        var outer = self
        outer.operand = .outer(level, operand)
        outer.isFullText = false
        return outer
    }

    var isNil: Bool { if case .literal(.null) = source { true } else { false } }

    /// The elements, if the operand is a list in the query or an argument that is a list; otherwise nil.
    var listElements: [QueryLiteral]? {
        switch source {
        case .literal(.list(let values)): values
        case .literal(.any(.list(let values))): values.compactMap { QueryLiteral($0) }
        default: nil
        }
    }

    /// True for whole numbers, and for the literal `nil`.
    var isWhole: Bool {
        switch source {
        case .element(let element): ComparedKind(element) == .number && !element.isFloating
        case .literal(.integer), .literal(.null): true
        case .literal: false
        }
    }

    /// This operand as one side of an arithmetic expression; nil if it is not a number.
    var asNumber: MartletEngine.Predicate.Operand? {
        switch source {
        case .element(let element): ComparedKind(element) == .number && !isCollection ? operand : nil
        case .literal(let literal): literal.calculated.map { .value($0) }
        }
    }
}

extension QueryLiteral {
    /// The type to which a literal is converted when it is compared with another literal; nil for objects and lists.
    var comparisonType: ElementType? {
        switch self {
        case .null, .any: .scalar(.any)
        case .bool: .scalar(.bool)
        case .integer, .double: .scalar(.int64)
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
