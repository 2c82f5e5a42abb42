import MartletSchema

/// Builds the boxes and lines of a diagram from a schema.
struct DiagramBuilder {
    /// The maximum number of cases shown for an enum.
    static let maximumCases = 16

    private let model: SchemaModel
    private let options: DiagramOptions
    private var boxes: [DiagramBox] = []
    private var relations: [DiagramRelation] = []
    private var indexOfBox: [String: Int] = [:]
    /// For each link that has linking objects as its inverse: the row and the name of the linking objects.
    private var backRows: [Property: (row: Int, name: String)] = [:]

    private struct Property: Hashable {
        let owner: String
        let name: String
    }

    static func build(_ model: SchemaModel, options: DiagramOptions) -> DiagramModel {
        var builder = DiagramBuilder(model: model, options: options)
        builder.addBoxes()
        builder.addRelations()
        let whole = DiagramModel(boxes: builder.boxes, relations: builder.relations)
        return whole.around(options.types, depth: options.depth).showing(options.properties)
    }

    private init(model: SchemaModel, options: DiagramOptions) {
        self.model = model
        self.options = options
    }

    // MARK: Boxes

    private mutating func addBoxes() {
        for declaration in model.files.flatMap(\.declarations) {
            switch declaration {
            case .object(let object): add(box(of: object))
            case .enumeration(let enumeration): add(box(of: enumeration))
            case .projection(let projection) where options.showsProjections: add(box(of: projection))
            case .projection: break
            }
        }
    }

    private mutating func add(_ box: DiagramBox) {
        indexOfBox[box.name] = boxes.count
        boxes.append(box)
    }

    private mutating func box(of object: ObjectModel) -> DiagramBox {
        let rows = object.properties.map { property in
            DiagramRow(
                name: property.name, detail: property.type.text, shortDetail: shortText(of: property.type),
                documentation: property.documentation,
                isPrimaryKey: property.isPrimaryKey, isIndexed: property.isIndexed,
                isDeprecated: property.deprecation != nil)
        }
        for (row, property) in object.properties.enumerated() {
            guard case .linkingObjects(let type, let name) = property.type.kind else { continue }
            let key = Property(owner: type, name: name)
            if backRows[key] == nil { backRows[key] = (row, property.name) }
        }
        return DiagramBox(
            name: object.name, kind: object.isEmbedded ? .embedded : .object, documentation: object.documentation,
            isDeprecated: object.deprecation != nil, rows: rows)
    }

    private func shortText(of type: PropertyTypeModel) -> String? {
        guard case .linkingObjects(let type, let property) = type.kind else { return nil }
        return "← \(type).\(property)"
    }

    private func box(of enumeration: EnumModel) -> DiagramBox {
        let isLong = enumeration.cases.count > Self.maximumCases
        var rows = enumeration.cases.prefix(isLong ? Self.maximumCases - 1 : Self.maximumCases).map { item in
            DiagramRow(name: item.name, detail: detail(of: item), documentation: item.documentation)
        }
        if isLong {
            let rest = enumeration.cases.count - rows.count
            rows.append(DiagramRow(name: "and \(rest) more", detail: "", isOverflow: true))
        }
        return DiagramBox(
            name: enumeration.name, kind: .enumeration, documentation: enumeration.documentation,
            isDeprecated: enumeration.deprecation != nil, rows: rows)
    }

    /// The raw value; empty if it equals the name.
    private func detail(of item: EnumCaseModel) -> String {
        switch item.rawValue {
        case .int(let value): String(value)
        case .string(let text): text == item.name ? "" : DefaultText.quoted(text)
        }
    }

    private func box(of projection: ProjectionModel) -> DiagramBox {
        let rows = projection.labels.map { label in
            DiagramRow(
                name: label.name, detail: label.path.text == label.name ? "" : label.path.text,
                documentation: label.documentation)
        }
        return DiagramBox(
            name: projection.name, kind: .projection, documentation: projection.documentation,
            isDeprecated: projection.deprecation != nil, rows: rows)
    }

    // MARK: Lines

    private mutating func addRelations() {
        for object in model.objects {
            guard let source = indexOfBox[object.name] else { continue }
            for (row, property) in object.properties.enumerated() { addRelation(of: property, object, source, row) }
        }
        guard options.showsProjections else { return }
        for projection in model.projections {
            guard let source = indexOfBox[projection.name], let target = indexOfBox[projection.root.value] else {
                continue
            }
            relations.append(
                DiagramRelation(
                    kind: .projection, source: source, sourceRow: nil, target: target, targetRow: nil, label: "of",
                    multiplicity: .one, isOptional: false, inverseLabel: nil))
        }
    }

    private mutating func addRelation(of property: PropertyModel, _ object: ObjectModel, _ source: Int, _ row: Int) {
        let multiplicity: DiagramRelation.Multiplicity
        switch property.type.kind {
        case .single: multiplicity = .one
        case .list: multiplicity = .list
        case .set: multiplicity = .set
        case .map: multiplicity = .map
        // Linking objects get no separate line. Instead, the line of the link ends at the row of the linking objects.
        case .linkingObjects: return
        }
        let kind: DiagramRelation.Kind
        switch property.type.value {
        case .scalar: return
        case .enumeration: kind = .use
        case .link: kind = .link
        case .embedded: kind = .embedding
        }
        guard let target = indexOfBox[property.type.value.name] else { return }
        let back = backRows[Property(owner: object.name, name: property.name)]
        relations.append(
            DiagramRelation(
                kind: kind, source: source, sourceRow: row, target: target, targetRow: back?.row, label: property.name,
                multiplicity: multiplicity, isOptional: property.type.isOptional, inverseLabel: back?.name))
    }
}

extension DiagramModel {
    /// The part of the diagram with the named boxes, and the boxes that are at most `depth` lines away from them. The
    /// direction of the lines does not matter.
    fileprivate func around(_ names: [String], depth: Int) -> DiagramModel {
        guard !names.isEmpty else { return self }
        var neighbors = Array(repeating: [Int](), count: boxes.count)
        for relation in relations {
            neighbors[relation.source].append(relation.target)
            neighbors[relation.target].append(relation.source)
        }
        let named = Set(names)
        var shown = Set(boxes.indices.filter { named.contains(boxes[$0].name) })
        var frontier = shown
        for _ in 0..<max(0, depth) {
            frontier = Set(frontier.flatMap { neighbors[$0] }).subtracting(shown)
            if frontier.isEmpty { break }
            shown.formUnion(frontier)
        }
        let kept = shown.sorted()
        let numbers = Dictionary(uniqueKeysWithValues: zip(kept, kept.indices))
        return DiagramModel(
            boxes: kept.map { boxes[$0] },
            relations: relations.compactMap { relation in
                guard let source = numbers[relation.source], let target = numbers[relation.target] else { return nil }
                var moved = relation
                moved.source = source
                moved.target = target
                return moved
            })
    }

    /// The diagram with only the rows that `properties` selects. If the row of a line is removed, the line begins or
    /// ends at the head of the box.
    fileprivate func showing(_ properties: DiagramProperties) -> DiagramModel {
        guard properties != .all else { return self }
        var kept = boxes.map { _ in Set<Int>() }
        if properties == .links {
            for (index, box) in boxes.enumerated() {
                kept[index] = Set(box.rows.indices.filter { box.rows[$0].isPrimaryKey })
            }
            for relation in relations {
                if let row = relation.sourceRow { kept[relation.source].insert(row) }
                if let row = relation.targetRow { kept[relation.target].insert(row) }
            }
        }
        let orders = kept.map { $0.sorted() }
        let row = { (box: Int, row: Int?) in row.flatMap { orders[box].firstIndex(of: $0) } }
        var result = self
        for index in boxes.indices { result.boxes[index].rows = orders[index].map { boxes[index].rows[$0] } }
        for index in relations.indices {
            result.relations[index].sourceRow = row(relations[index].source, relations[index].sourceRow)
            result.relations[index].targetRow = row(relations[index].target, relations[index].targetRow)
        }
        return result
    }
}
