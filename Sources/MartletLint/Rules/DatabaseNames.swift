import MartletSchema

/// Reports synchronized types and properties whose names in SQL are equal, or longer than PostgreSQL allows.
struct DatabaseNames: LintRule {
    let code = DiagnosticCode.databaseName
    let requirement = "The names of synchronized types and properties are different in SQL, and at most 63 bytes long."

    func check(_ schema: SchemaModel) -> [Diagnostic] {
        var tables: [String: Owner] = [:]
        return schema.objects.filter { $0.sync.mode != .none }.flatMap { check($0, &tables) }
    }

    private struct Owner {
        let name: String
        let span: SourceSpan
    }

    private func check(_ object: ObjectModel, _ tables: inout [String: Owner]) -> [Diagnostic] {
        var findings: [Diagnostic] = []
        var columns: [String: Owner] = [:]
        let table = SQLName.snakeCase(object.name)
        findings += add(table, Owner(name: object.name, span: object.nameSpan), to: &tables)
        for property in object.properties where !property.type.isLinkingObjects && !property.sync.isLocal {
            let owner = Owner(name: "\(object.name).\(property.name)", span: property.nameSpan)
            let column = SQLName.snakeCase(property.name)
            if property.type.isSingle {
                findings += add(column, owner, to: &columns)
            } else {
                findings += add("\(table)_\(column)", owner, to: &tables)
            }
        }
        return findings
    }

    private func add(_ name: String, _ owner: Owner, to owners: inout [String: Owner]) -> [Diagnostic] {
        var findings: [Diagnostic] = []
        if name.utf8.count > SQLName.maximumBytes {
            findings.append(
                Diagnostic(
                    code,
                    "the name of '\(owner.name)' in the database of the service, '\(name)', is longer than "
                        + "\(SQLName.maximumBytes) bytes; shorten '\(owner.name)'", at: owner.span))
        }
        if let other = owners[name] {
            findings.append(
                Diagnostic(
                    code,
                    "'\(other.name)' and '\(owner.name)' are both '\(name)' in the database of the service; rename one",
                    at: owner.span, notes: [DiagnosticNote("the other one", at: other.span)]))
        } else {
            owners[name] = owner
        }
        return findings
    }
}
