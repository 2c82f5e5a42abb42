import MartletSchema

/// Reports what a schema cannot contain: code, conformances, and the names under which Realm stored data.
extension Resolver {
    /// Base types and protocols that generated classes and enums already have, or do not need.
    private static let dropped: Set<String> = [
        "Object", "EmbeddedObject", "RealmSwiftObject", "RealmSwiftEmbeddedObject", "Projection", "PersistableEnum",
        "RealmEnum", "Hashable", "Equatable", "CaseIterable", "RawRepresentable", "AnyObject", "RealmCollectionValue",
        "NSObject", "NSObjectProtocol", "AnyClass",
    ]
    private static let coding: Set<String> = ["Codable", "Encodable", "Decodable"]
    private static let identity: Set<String> = ["ObjectKeyIdentifiable", "Identifiable"]

    /// Reports attributes, conformances and members of an imported type that are not part of the schema.
    mutating func reportUnsupported(_ type: TypeDeclaration) {
        let key = type.name.value
        guard !type.isGeneric, TypeNames.isModel(index.role(of: key)) else { return }
        if type.scope.count > 1 { reportNewName(of: type) }
        for attribute in type.head.foreignAttributes {
            findings.warn("'@\(attribute.value)' is left out; replace what it did for '\(key)'", at: attribute.span)
        }
        if let objcName = type.objcName, type.kind == .classType {
            reportStoredName(objcName.value, of: key, at: objcName.span)
        }
        reportConformances(of: type, names.name(of: key))
        let code = type.properties.filter(isCode).map { property in
            let kind = property.isStatic ? "static property" : property.isComputed ? "computed property" : "property"
            return SwiftOnlyMember(what: "\(kind) '\(property.name.value)'", span: property.name.span)
        }
        let nested = type.nested.filter { !TypeNames.isModel(index.role(of: $0.value)) }.map { name in
            SwiftOnlyMember(what: "type '\(name.value.split(separator: ".").last ?? "")'", span: name.span)
        }
        for member in type.kept + code + nested {
            findings.note("\(member.what) stays in Swift; move it to \(destination(of: key))", at: member.span)
        }
    }

    private func isCode(_ property: PropertyDeclaration) -> Bool {
        switch index.role(of: property.owner) {
        case .object, .embedded: property.isStatic || property.isComputed
        case .projection: property.projection == nil
        default: true
        }
    }

    /// Returns the place to which the code of a class should move, as a part of a message.
    private func destination(of key: String) -> String {
        guard let subclasses = omittedBases[key] else { return "an extension of '\(names.name(of: key))'" }
        return "a protocol for " + subclasses.map { "'\($0)'" }.joined(separator: ", ")
    }

    private mutating func reportNewName(of type: TypeDeclaration) {
        let name = names.name(of: type.name.value)
        let outer = type.scope.dropLast().joined(separator: ".")
        let advice = "to keep the name, write 'extension \(outer) { typealias \(type.lastName) = \(name) }'"
        // An alias with the new name would refer to itself, and an omitted base class cannot be extended.
        let canBeKept = name != type.lastName && omittedBases[outer] == nil
        findings.warn(
            "'\(type.name.value)' becomes '\(name)', since types of a schema cannot be nested; "
                + (canBeKept ? advice : "rename it in code that uses it"), at: type.name.span)
    }

    private mutating func reportConformances(of type: TypeDeclaration, _ name: String) {
        let isClass = type.kind == .classType
        // Swift derives conformances in an extension only if the extension is in the file of the type.
        let parts = index.entries[type.name.value]?.extensions ?? []
        let derived = parts.flatMap(\.inherited).filter { Self.coding.contains($0.value.head ?? "") }
        for inherited in type.inherited + (isClass ? derived : []) {
            for (expanded, scope) in index.parts(of: inherited.value, from: type.scope) {
                guard let head = expanded.head, !Self.dropped.contains(head) else { continue }
                if let found = index.find(head, scope), index.entries[found]?.declaration.kind == .classType {
                    continue
                }
                if !isClass, inherited == type.inherited.first { continue }
                findings.note(advice(for: head, name, isClass: isClass), at: inherited.span)
            }
        }
    }

    private func advice(for conformance: String, _ name: String, isClass: Bool) -> String {
        if isClass, Self.coding.contains(conformance) {
            return "Swift cannot derive '\(conformance)' for a generated class; implement it in an extension of "
                + "'\(name)'"
        }
        if Self.identity.contains(conformance) {
            return "'\(conformance)' stays in Swift; write 'extension \(name): Identifiable {}'"
        }
        return "'\(conformance)' stays in Swift; write 'extension \(name): \(conformance) {}'"
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
                        + "put '\(type.name.value)' into a separate schema", at: override.name.span)
            default: break
            }
        }
    }

    private mutating func reportColumns(_ override: Customization) {
        guard case .dictionary(let entries) = override.value?.form else {
            reportNonLiteral(override)
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

    mutating func reportNonLiteral(_ override: Customization) {
        findings.warn(
            "what '\(override.name.value)()' returns is not a literal; write it into the schema",
            at: override.name.span)
    }
}
