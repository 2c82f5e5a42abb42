import MartletSchema

/// Builds the policies of row level security for the rules of a type.
///
/// A type without rules has no policies. If a type has rules, there is a policy for each command, because row level
/// security allows a command only if a policy allows it.
struct PolicyBuilder {
    let object: ObjectModel
    let rules: RuleSQL

    init(_ object: ObjectModel, _ types: ColumnTypes) {
        self.object = object
        rules = RuleSQL(types: types)
    }

    private var hasRules: Bool { !object.sync.rules.isEmpty }

    /// The policies of the table of the objects.
    func policies() -> [PolicyModel] {
        let hasColumnRules = object.properties.contains { $0.type.isSingle && $0.sync.write != nil }
        guard hasRules || hasColumnRules else { return [] }
        // Clients never read, change or delete stored objects of a type with `sync: upload`.
        let isUploadOnly = object.sync.mode == .upload && hasRules
        return policies(
            read: isUploadOnly ? "false" : condition(.read), insert: condition(.insert),
            update: isUploadOnly ? "false" : condition(.write), delete: isUploadOnly ? "false" : condition(.delete))
    }

    private func policies(read: String, insert: String, update: String, delete: String) -> [PolicyModel] {
        [
            PolicyModel(command: .select, using: read, check: nil),
            PolicyModel(command: .insert, using: nil, check: insert),
            PolicyModel(command: .update, using: update, check: update),
            PolicyModel(command: .delete, using: delete, check: nil),
        ]
    }

    private func condition(_ kind: RuleKind) -> String {
        object.sync.rule(for: kind).map { rules.condition($0.condition) } ?? "true"
    }

    /// The policies of the table of a collection. The rules of the type apply to the elements. For writes, the rule
    /// `write` of the property applies as well.
    func policies(of property: PropertyModel, in table: String) -> [PolicyModel] {
        guard hasRules || property.sync.write != nil, let key = object.primaryKey else { return [] }
        let owner = SQLName.quoted(SQLName.snakeCase(object.name))
        let match = "\(owner).\(SQLName.quoted(SQLName.snakeCase(key.value))) = \(SQLName.quoted(table)).\"owner\""
        var qualified = rules
        qualified.qualifier = owner + "."
        let conditions = [object.sync.rule(for: .write), property.sync.write].compactMap { rule in
            rule.map { " AND (\(qualified.condition($0.condition)))" }
        }
        // The policies of the owner's table apply to the subquery, so it finds only owners that the user can read.
        let read = "EXISTS (SELECT FROM \(owner) WHERE \(match))"
        let write = "EXISTS (SELECT FROM \(owner) WHERE \(match)\(conditions.joined()))"
        return policies(read: read, insert: write, update: write, delete: write)
    }

    /// The rules of single-valued properties. Triggers check these rules, because the condition of a policy cannot
    /// compare the old and the new row.
    func columnRules(_ types: ColumnTypes) -> [ColumnRuleModel] {
        object.properties.filter(\.type.isSingle).compactMap { property in
            guard let rule = property.sync.write else { return nil }
            let column = SQLName.snakeCase(property.name)
            var (old, new) = (rules, rules)
            (old.qualifier, new.qualifier) = ("OLD.", "NEW.")
            return ColumnRuleModel(
                column: column, old: old.condition(rule.condition), new: new.condition(rule.condition),
                isInitial: isInitial(property, "NEW.\(SQLName.quoted(column))", types))
        }
    }

    private func isInitial(_ property: PropertyModel, _ value: String, _ types: ColumnTypes) -> String {
        switch property.defaultValue {
        // These defaults produce another value for each object, so SQL cannot recognize an initial value.
        case .now, .newUUID, .newObjectId: "false"
        default: "\(value) IS NOT DISTINCT FROM \(types.defaultText(property).map { "(\($0))" } ?? "NULL")"
        }
    }
}
