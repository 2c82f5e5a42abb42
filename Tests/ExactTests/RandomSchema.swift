import ModelTesting

/// Random classes with or without primary keys. Some classes have more than 64 properties. The classes have links of
/// all kinds to each other, and inverses of some of the links.
struct RandomSchema {
    /// The schema facts of each class: the text that generated classes contain.
    let facts: [String]
    let classes: Classes
    let names: [String]
    /// The type of the primary key of each class.
    let keys: [String: Key]

    enum Key: String {
        case none
        case int = "Int"
        case string = "String"
    }

    private struct Line {
        var property: Property
        var text: String
    }

    init(_ random: inout SeededRandom) {
        let names = Array(["A", "B", "C", "D"].prefix(Int.random(in: 1...4, using: &random)))
        var lines: [String: [Line]] = [:]
        var keys: [String: Key] = [:]
        for name in names {
            let key = [Key.none, .int, .string].randomElement(using: &random) ?? .none
            keys[name] = key
            if key != .none { lines[name] = [Self.single("key", key.rawValue)] }
            lines[name, default: []] += Self.values(&random)
        }
        let hasRules = Int.random(in: 0..<3, using: &random) > 0
        for name in names {
            for number in 0..<Int.random(in: 1...4, using: &random) {
                let target = names.randomElement(using: &random) ?? name
                var link = Self.link("link\(number)", to: target, &random)
                if hasRules { Self.addRules(&link, &random) }
                lines[name]?.append(link)
                guard Bool.random(using: &random) else { continue }
                let inverse = Property(
                    name: "back\(name)\(number)", kind: .inverse(link.property.name, of: name), target: name)
                lines[target]?.append(
                    Line(property: inverse, text: "LinkingObjects<\(name).\(link.property.name)>"))
            }
        }
        classes = Classes(lines.mapValues { $0.map(\.property) })
        facts = names.map { name in
            let head = ["object \(name)"] + (keys[name] == Key.none ? [] : ["primaryKey key"])
            let own = lines[name] ?? []
            return (head + own.map { "property \($0.property.name) \($0.text)" }).joined(separator: "\n")
        }
        (self.names, self.keys) = (names, keys)
    }

    private static func single(_ name: String, _ type: String) -> Line {
        let initial: ModelState.Value = type.hasPrefix("Int") || type == "Double" ? .number(0) : .none
        return Line(property: Property(name: name, kind: .single, initial: initial), text: type)
    }

    private static func values(_ random: inout SeededRandom) -> [Line] {
        // A set of properties is stored in words of 64 bits. Wide classes need two words.
        let isWide = Int.random(in: 0..<3, using: &random) == 0
        let wide = isWide ? Int.random(in: 60...66, using: &random) : 0
        var lines = (0..<wide).map { single("wide\($0)", "Int") }
        lines.append(single("number", Bool.random(using: &random) ? "Int index" : "Int"))
        if Bool.random(using: &random) {
            lines.append(single("text", Bool.random(using: &random) ? "String? index" : "String?"))
        }
        if Bool.random(using: &random) { lines.append(single("amount", "Double")) }
        if Bool.random(using: &random) {
            lines.append(Line(property: Property(name: "numbers", kind: .many(isMap: false)), text: "List<Int>"))
        }
        return lines
    }

    private static func link(_ name: String, to target: String, _ random: inout SeededRandom) -> Line {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Line(property: Property(name: name, kind: .single, target: target), text: "link:\(target)?")
        case 1:
            Line(
                property: Property(name: name, kind: .many(isMap: false), target: target), text: "List<link:\(target)>")
        case 2:
            Line(
                property: Property(name: name, kind: .many(isMap: false), target: target, isSet: true),
                text: "Set<link:\(target)>")
        default:
            Line(
                property: Property(name: name, kind: .many(isMap: true), target: target), text: "Map<link:\(target)?>")
        }
    }

    private static func addRules(_ link: inout Line, _ random: inout SeededRandom) {
        let rules: [Property.Rule] = [.nullify, .nullify, .nullify, .cascade, .cascade, .deny]
        link.property.onDelete = rules.randomElement(using: &random) ?? .nullify
        link.property.deleteRule = rules.randomElement(using: &random) ?? .nullify
        let (onDelete, deleteRule) = (link.property.onDelete, link.property.deleteRule)
        if onDelete != .nullify { link.text += " onDelete=\(onDelete.rawValue)" }
        if deleteRule != .nullify { link.text += " deleteRule=\(deleteRule.rawValue)" }
    }

    /// A random key path from a class: to one property, to a property at the end of a chain of links, or to all
    /// properties of an object.
    func path(_ type: String, _ random: inout SeededRandom) -> String {
        var (names, type) = ([String](), type)
        for _ in 0..<4 {
            // Half of the choices are among links only, because few properties of wide classes are links.
            let all = classes.of(type)
            let leading = all.filter { $0.target != nil }
            let some = Bool.random(using: &random) && !leading.isEmpty ? leading : all
            guard let property = some.randomElement(using: &random) else { break }
            names.append(property.name)
            guard let target = property.target, Bool.random(using: &random) else { break }
            type = target
            if Int.random(in: 0..<6, using: &random) == 0 {
                names.append("*")
                break
            }
        }
        return names.joined(separator: ".")
    }
}
