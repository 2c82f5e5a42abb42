import MartletEngine
import MartletSyncProtocol
import MartletValues
import ModelTesting

/// Random predicates for the type `Sample`, in the forms that typed queries and query texts produce.
struct RandomPredicate {
    private var random: SeededRandom
    private let airportKeys: [ObjectKey]

    init(seed: UInt64, airportKeys: [ObjectKey]) {
        random = SeededRandom(seed: seed)
        self.airportKeys = airportKeys.sorted() + [9_999]
    }

    mutating func tree(depth: Int = 3) -> Predicate {
        guard depth > 0 else { return leaf() }
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: return .and((0..<Int.random(in: 0...3, using: &random)).map { _ in tree(depth: depth - 1) })
        case 2, 3: return .or((0..<Int.random(in: 0...3, using: &random)).map { _ in tree(depth: depth - 1) })
        case 4: return .not(tree(depth: depth - 1))
        default: return leaf()
        }
    }

    mutating func leaf() -> Predicate {
        switch Int.random(in: 0..<16, using: &random) {
        case 0: return .constant(Bool.random(using: &random))
        case 1: return compareProperties()
        case 2, 3: return link()
        case 4, 5: return collection()
        case 6: return text()
        case 7: return .someNot(value())
        default: return value()
        }
    }

    // MARK: Values

    private mutating func path() -> (path: PropertyPath, element: ElementType, isOptional: Bool) {
        let names = [
            "id", "flag", "maybeFlag", "small", "number", "maybeNumber", "ratio", "maybeRatio", "single", "name",
            "maybeName", "bytes", "token", "object", "moment", "price", "extra", "color", "level", "otherPrice",
            "home.city", "home.zip", "home.latitude", "home.spot.row", "home.spot.height", "origin.iata",
            "destination.iata",
        ]
        let path = PropertyPath(names.randomElement(using: &random) ?? "id")
        var type = SampleSchema.sample
        var found: PropertySchema?
        for name in path.names {
            found = type[name]
            if let target = found?.element.target, let next = SampleSchema.agreed.type(named: target) { type = next }
        }
        return (path, found?.element ?? .scalar(.int), found?.isOptional ?? false)
    }

    private mutating func value() -> Predicate {
        let (path, element, _) = path()
        let operand = Predicate.Operand.path(path)
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            let comparison: Predicate.Comparison = Bool.random(using: &random) ? .equal : .notEqual
            return .comparison(operand, comparison, .value(.null))
        case 1:
            return .contained(operand, (0..<Int.random(in: 0...4, using: &random)).map { _ in literalOrNil(element) })
        case 2:
            return .range(
                operand, lower: .value(literal(element)), upper: .value(literal(element)),
                includesUpper: Bool.random(using: &random))
        case 3: return .comparison(.value(literal(element)), comparison(), operand)
        default: return .comparison(operand, comparison(), .value(literal(element)))
        }
    }

    private mutating func comparison() -> Predicate.Comparison {
        [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual].randomElement(using: &random) ?? .equal
    }

    private mutating func literalOrNil(_ element: ElementType) -> SQLValue {
        Int.random(in: 0..<4, using: &random) == 0 ? .null : literal(element)
    }

    // Integer and floating-point properties are compared with numbers of all types. Decimal properties are compared
    // only with decimals, because queries convert the numbers to decimals.
    private mutating func literal(_ element: ElementType) -> SQLValue {
        switch element {
        case .scalar(.any): return SampleValues.any(&random, scalarsOnly: true)
        case .scalar(.int), .scalar(.int8), .scalar(.double), .scalar(.float), .intEnum:
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return SampleValues.integer(&random)
            case 1: return SampleValues.real(&random)
            default: return SampleValues.decimal(&random)
            }
        default: return SampleRow.value(element, "", &random)
        }
    }

    private mutating func compareProperties() -> Predicate {
        let pairs = [
            ("number", "maybeNumber"), ("maybeRatio", "ratio"), ("single", "maybeRatio"), ("maybeNumber", "maybeRatio"),
            ("name", "maybeName"), ("maybeFlag", "flag"), ("price", "otherPrice"), ("home.zip", "maybeNumber"),
            ("home.city", "maybeName"), ("color", "name"), ("origin.iata", "destination.iata"), ("level", "small"),
            ("moment", "moment"), ("maybeName", "origin.iata"), ("token", "token"),
        ]
        if Int.random(in: 0..<6, using: &random) == 0 {
            let comparison: Predicate.Comparison = Bool.random(using: &random) ? .equal : .notEqual
            return .comparison(.path(PropertyPath("origin")), comparison, .path(PropertyPath("destination")))
        }
        let (left, right) = pairs.randomElement(using: &random) ?? ("name", "maybeName")
        return .comparison(.path(PropertyPath(left)), comparison(), .path(PropertyPath(right)))
    }

    private mutating func text() -> Predicate {
        let match: Predicate.TextMatch =
            [.contains, .begins, .ends, .like, .equals].randomElement(using: &random) ?? .contains
        if Int.random(in: 0..<4, using: &random) == 0 {
            let pattern = SampleValues.blobs.randomElement(using: &random) ?? []
            return .text(.path(PropertyPath("bytes")), match, .value(.blob(pattern)), [])
        }
        let path = ["name", "maybeName", "home.city", "color", "origin.iata"].randomElement(using: &random) ?? "name"
        let patterns = SampleValues.texts + ["*", "?", "a*", "*b", "?b", "\\*", "a\\*b", "*\u{301}", "JF?"]
        let pattern = patterns.randomElement(using: &random) ?? ""
        return .text(.path(PropertyPath(path)), match, .value(.text(pattern)), [])
    }

    // MARK: Links and collections

    private mutating func keys() -> [ObjectKey] {
        (0..<Int.random(in: 0...2, using: &random)).map { _ in airportKeys.randomElement(using: &random) ?? 0 }
    }

    private mutating func link() -> Predicate {
        let path = PropertyPath(Bool.random(using: &random) ? "origin" : "destination")
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return .isRow(path, keys())
        case 1: return .someNot(.isRow(path, keys()))
        case 2: return .contained(.path(path), keys().map { .integer($0) } + [.null])
        case 3: return .comparison(.path(path), .notEqual, .value(.null))
        default: return .comparison(.path(PropertyPath("home")), .equal, .value(.null))
        }
    }

    private mutating func collection() -> Predicate {
        let name =
            ["tags", "scores", "marks", "stops", "named", "prices", "extras"].randomElement(using: &random) ?? "tags"
        guard let property = SampleSchema.sample[name] else { return .constant(false) }
        let path = PropertyPath(name)
        if case .link = property.element {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return .isRow(path, keys())
            case 1: return .comparison(.path(path.appending("iata")), .equal, .value(literal(property.element)))
            default:
                return name == "named"
                    ? .comparison(.path(path), .equal, .value(.null))
                    : .contained(.path(path.appending("iata")), [literal(property.element), literal(property.element)])
            }
        }
        if Bool.random(using: &random) {
            return .comparison(.path(path), .equal, .value(literalOrNil(property.element)))
        }
        return .contained(
            .path(path), (0..<Int.random(in: 0...12, using: &random)).map { _ in literalOrNil(property.element) })
    }
}
