/// Writes a Mermaid class diagram. The diagram omits documentation and raw values, because they can contain any text,
/// and Mermaid cannot quote the members of a class.
struct MermaidWriter {
    private let diagram: DiagramModel
    private let identifiers: [String]

    init(_ diagram: DiagramModel) {
        self.diagram = diagram
        identifiers = MermaidWriter.identifiers(of: diagram.boxes.map(\.name))
    }

    var text: String {
        var text = "classDiagram\n    direction LR\n"
        for (index, box) in diagram.boxes.enumerated() { text += declaration(of: box, identifiers[index]) }
        for relation in diagram.relations { text += line(of: relation) }
        return text
    }

    /// The identifiers of the boxes. A name that begins with an uppercase letter and contains only letters, digits and
    /// underscores is used as its own identifier. Each other name gets a new identifier. Names that begin with a
    /// lowercase letter get one too, because they could be keywords of Mermaid.
    private static func identifiers(of names: [String]) -> [String] {
        var taken = Set(names)
        return names.map { name in
            let plain = word(name)
            if plain == name, let first = name.first, ("A"..."Z").contains(first) { return name }
            var identifier = "T_\(plain)"
            while !taken.insert(identifier).inserted { identifier = "T_\(identifier)" }
            return identifier
        }
    }

    /// The text with an underscore in place of each character that is not an ASCII letter, digit or underscore.
    private static func word(_ text: String) -> String {
        filtered(text, else: "_") { "_".unicodeScalars.contains($0) }
    }

    /// The text of a type, path or label, without characters that have a meaning in Mermaid. '<' and '>' become tildes,
    /// which Mermaid uses for generic types. Other such characters become spaces.
    private static func safe(_ text: String) -> String {
        let tildes = String(text.map { "<>".contains($0) ? "~" : $0 })
        return filtered(tildes, else: " ") { "_~?. ".unicodeScalars.contains($0) }
    }

    private static func filtered(
        _ text: String, else other: Unicode.Scalar, allows: (Unicode.Scalar) -> Bool
    ) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9": result.append(scalar)
            default: result.append(allows(scalar) ? scalar : other)
            }
        }
        return String(result)
    }

    private func declaration(of box: DiagramBox, _ identifier: String) -> String {
        var text = "    class \(identifier)\(identifier == box.name ? "" : "[\"\(Self.safe(box.name))\"]") {\n"
        if let stereotype = stereotype(of: box) { text += "        <<\(stereotype)>>\n" }
        for row in box.rows { text += "        \(member(row, of: box.kind))\n" }
        return text + "    }\n"
    }

    private func stereotype(of box: DiagramBox) -> String? {
        switch box.kind {
        case .object: nil
        case .embedded: "embedded"
        case .enumeration: "enumeration"
        case .projection: "projection"
        }
    }

    private func member(_ row: DiagramRow, of kind: DiagramBox.Kind) -> String {
        switch kind {
        case .object, .embedded:
            return "\(Self.safe(row.detail)) \(Self.word(row.name))\(row.isPrimaryKey ? " PK" : "")"
        case .enumeration: return row.isOverflow ? Self.safe(row.name) : Self.word(row.name)
        case .projection:
            let path = row.detail.isEmpty ? "" : " = \(Self.safe(row.detail))"
            return Self.word(row.name) + path
        }
    }

    private func line(of relation: DiagramRelation) -> String {
        let arrow =
            switch relation.kind {
            case .link: "-->"
            case .embedding: "*--"
            case .use, .projection: "..>"
            }
        // The multiplicity at the source. Any number of objects can link to one object. For embedded objects, no
        // multiplicity is written, because an embedded object has exactly one owner.
        let near = relation.kind == .link ? "\"*\" " : ""
        let far =
            switch relation.kind {
            case .link, .embedding: "\"\(relation.multiplicityText)\" "
            case .use where relation.isToMany: "\"\(relation.multiplicityText)\" "
            case .use, .projection: ""
            }
        let back = relation.inverseLabel.map { " / \(Self.word($0))" } ?? ""
        let ends = (identifiers[relation.source], identifiers[relation.target])
        return "    \(ends.0) \(near)\(arrow) \(far)\(ends.1) : \(Self.word(relation.label))\(back)\n"
    }
}

extension DiagramRelation {
    /// The multiplicity at the target, in UML notation.
    var multiplicityText: String {
        switch multiplicity {
        case .one: isOptional ? "0..1" : "1"
        case .list: "* list"
        case .set: "* set"
        case .map: "* map"
        }
    }
}
