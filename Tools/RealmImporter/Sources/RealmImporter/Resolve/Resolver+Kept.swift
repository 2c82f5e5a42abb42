import MartletSchema

/// What no schema holds: code, conformances, names in old files.
extension Resolver {
    /// The generated classes and enums are all of this already, or have no use for it.
    private static let dropped: Set<String> = [
        "Object", "EmbeddedObject", "RealmSwiftObject", "RealmSwiftEmbeddedObject", "Projection", "PersistableEnum",
        "RealmEnum", "Hashable", "Equatable", "CaseIterable", "RawRepresentable", "AnyObject", "RealmCollectionValue",
        "NSObject", "NSObjectProtocol", "AnyClass",
    ]
    private static let coding: Set<String> = ["Codable", "Encodable", "Decodable"]
    private static let identity: Set<String> = ["ObjectKeyIdentifiable", "Identifiable"]

    /// What stands around and between the properties of a type.
    mutating func reportAround(_ type: TypeDeclaration) {
        let key = type.name.value
        let name = names.name(of: key)
        if let outer = type.scope.dropLast().last, name != type.lastName || type.scope.count > 1 {
            let scope = type.scope.dropLast().joined(separator: ".")
            findings.warn(
                "'\(key)' becomes '\(name)', since no type of a schema stands in another; to keep the name in '\(outer)',"
                    + " write 'extension \(scope) { typealias \(type.lastName) = \(name) }'", at: type.name.span)
        }
        for member in type.kept {
            findings.note("\(member.what) stays in Swift; move it to an extension of '\(name)'", at: member.span)
        }
        for attribute in type.head.foreignAttributes {
            findings.warn("'@\(attribute.value)' is left out; do by hand what it did for '\(key)'", at: attribute.span)
        }
        if let objcName = type.objcName, type.kind == .classType {
            reportStoredName("'\(objcName.value)'", of: key, at: objcName.span)
        }
        reportConformances(of: type, name)
    }

    private mutating func reportConformances(of type: TypeDeclaration, _ name: String) {
        let isClass = type.kind == .classType
        // What Swift derives, it derives in the file of the type alone.
        let parts = index.entries[type.name.value]?.extensions ?? []
        let derived = parts.flatMap(\.inherited).filter { Self.coding.contains($0.value.head ?? "") }
        for inherited in type.inherited + (isClass ? derived : []) {
            let (expanded, scope) = index.expand(inherited.value, from: type.scope)
            guard let head = expanded.head, !Self.dropped.contains(head) else { continue }
            if let found = index.find(head, scope), index.entries[found]?.declaration.kind == .classType { continue }
            if !isClass, inherited == type.inherited.first { continue }
            findings.note(mend(of: head, name, isClass: isClass), at: inherited.span)
        }
    }

    private func mend(of conformance: String, _ name: String, isClass: Bool) -> String {
        if isClass, Self.coding.contains(conformance) {
            return "Swift cannot derive '\(conformance)' for a generated class; write it by hand in an extension of "
                + "'\(name)'"
        }
        if Self.identity.contains(conformance) {
            return "'\(conformance)' stays in Swift; write 'extension \(name): Identifiable {}'"
        }
        return "'\(conformance)' stays in Swift; write 'extension \(name): \(conformance) {}'"
    }

    mutating func reportKept(_ property: PropertyDeclaration, of type: TypeDeclaration) {
        let name = property.name
        let kind = property.isStatic ? "static property" : property.isComputed ? "computed property" : "property"
        findings.note(
            "\(kind) '\(name.value)' stays in Swift; move it to an extension of '\(names.name(of: type.name.value))'",
            at: name.span)
    }

    // MARK: Names in old files

    mutating func reportStoredNames(_ customizations: [Customization], _ type: TypeDeclaration) {
        for override in customizations {
            switch override.name.value {
            case "propertiesMapping", "_realmColumnNames": reportColumns(override)
            case "_realmObjectName":
                reportStoredName(override.value?.text ?? "another name", of: type.name.value, at: override.name.span)
            case "shouldIncludeInDefaultSchema":
                findings.warn(
                    "'shouldIncludeInDefaultSchema' is left out: a Realm has all types of its schema; "
                        + "put '\(type.name.value)' into a schema of its own", at: override.name.span)
            default: break
            }
        }
    }

    private mutating func reportColumns(_ override: Customization) {
        guard case .dictionary(let entries) = override.value?.form else {
            reportUnread(override)
            return
        }
        for entry in entries {
            reportStoredName(entry.value.text, of: entry.key.string ?? entry.key.text, at: entry.key.span)
        }
    }

    private mutating func reportStoredName(_ stored: String, of name: String, at span: SourceSpan) {
        let stored = stored.filter { !"\"'".contains($0) }
        findings.warn(
            "Realm stores '\(name)' as '\(stored)', and a schema stores under its own names; "
                + "read '\(stored)' in code that copies old data", at: span)
    }

    mutating func reportUnread(_ override: Customization) {
        findings.warn(
            "what '\(override.name.value)()' returns is no literal; write it into the schema by hand",
            at: override.name.span)
    }
}
