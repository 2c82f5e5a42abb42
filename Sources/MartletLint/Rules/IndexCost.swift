import MartletSchema

/// Reports indexes that slow down writes without a benefit: too many indexes of a type, or an index on a property that
/// can have at most two values.
struct IndexCost: LintRule {
    static let maximumIndexes = 8

    let code = DiagnosticCode.indexCost
    let requirement = "A type has at most eight indexes, and each indexed property can have more than two values."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        var findings: [Diagnostic] = []
        for object in schema.objects {
            let indexed = Set(object.properties.filter(\.isIndexed).map(\.name))
            if indexed.count > Self.maximumIndexes {
                findings.append(
                    Diagnostic(
                        code,
                        "'\(object.name)' has \(indexed.count) indexes; more than 8 make writes slow, so drop some",
                        at: object.nameSpan))
            }
            for entry in object.indexes where indexed.contains(entry.value) {
                guard let type = object.property(named: entry.value)?.type, let count = values(of: type, schema) else {
                    continue
                }
                findings.append(
                    Diagnostic(
                        code,
                        "'\(entry.value)' has only \(count) value\(count == 1 ? "" : "s"), so an index speeds up no query; remove it",
                        at: entry.span, fixes: schema.removalFix(of: entry)))
            }
        }
        return findings
    }

    /// The number of values of a type; nil if the type has more than two values.
    private func values(of type: PropertyTypeModel, _ schema: SchemaModel) -> Int? {
        switch type.value {
        case .scalar(.bool): 2
        case .enumeration(let name, _):
            schema.enumeration(named: name).flatMap { $0.cases.count <= 2 ? $0.cases.count : nil }
        default: nil
        }
    }
}
