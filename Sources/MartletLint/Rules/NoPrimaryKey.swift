import MartletSchema

/// Reports object types without a primary key. Their objects cannot be found or updated by a key.
struct NoPrimaryKey: LintRule {
    let code = DiagnosticCode.noPrimaryKey
    let requirement = "Objects have a primary key."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        schema.objects.filter { !$0.isEmbedded && $0.primaryKey == nil }.map { object in
            Diagnostic(
                code, "'\(object.name)' has no primary key; write 'primaryKey:' with the property that identifies it",
                at: object.nameSpan, help: "write 'primaryKey: id' and 'id: ObjectId = new'")
        }
    }
}
