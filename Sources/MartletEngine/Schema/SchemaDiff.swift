/// What lies between the object types in a file and those of the program: steps that lose nothing, and differences that
/// nobody but the user can settle.
package struct SchemaDiff: Equatable {
    package enum Step: Equatable, Sendable {
        case createType(String)
        case renameType(from: String, to: String)
        case addProperty(type: String, property: String)
        case renameProperty(type: String, from: String, to: String)
        case addIndex(type: String, property: String)
        case removeIndex(type: String, property: String)
        case addUnique(type: String, number: Int)
        case replaceFacts(String)
    }

    package var steps: [Step] = []
    /// One sentence each: lower case, no full stop, with the mend.
    package var differences: [String] = []

    /// Types of the file that the program does not declare stay as they are.
    package init(stored: [ObjectTypeSchema], declared: [ObjectTypeSchema]) {
        let storedByName = Dictionary(stored.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var renames: [String: String] = [:]
        for type in declared where storedByName[type.name] == nil {
            if let old = type.renamedFrom, storedByName[old] != nil { renames[old] = type.name }
        }
        for type in declared {
            if let old = storedByName[type.name] {
                compare(old, type, renames)
            } else if let name = type.renamedFrom, let old = storedByName[name] {
                steps.append(.renameType(from: name, to: type.name))
                compare(old, type, renames)
            } else {
                steps.append(.createType(type.name))
            }
        }
    }

    private mutating func compare(_ old: ObjectTypeSchema, _ new: ObjectTypeSchema, _ renames: [String: String]) {
        guard old != new else { return }
        let before = steps.count
        if old.isEmbedded != new.isEmbedded {
            differences.append(
                "'\(new.name)' is \(old.isEmbedded ? "an embedded" : "a top-level") type in the file and "
                    + "\(new.isEmbedded ? "an embedded" : "a top-level") type in the schema")
        }
        var settled: Set<String> = []
        for property in new.properties { settled.insert(match(property, old, new, renames)) }
        for property in old.properties where !settled.contains(property.name) {
            if case .linkingObjects = property.kind { continue }
            differences.append(
                "property '\(new.name).\(property.name)' (\(property.typeDescription)) is in the file but not in the schema: "
                    + "declare it again, or name its successor with 'renamedFrom: \(property.name)'")
        }
        comparePrimaryKey(old, new)
        compareUniques(old, new)
        if before != steps.count || old != new { steps.append(.replaceFacts(new.name)) }
    }

    /// Returns the name in the file that `property` takes over.
    private mutating func match(
        _ property: PropertySchema, _ old: ObjectTypeSchema, _ new: ObjectTypeSchema, _ renames: [String: String]
    ) -> String {
        var name = property.name
        if old[name] == nil, let former = property.renamedFrom, old[former] != nil, new[former] == nil {
            steps.append(.renameProperty(type: new.name, from: former, to: name))
            name = former
        }
        guard let stored = old[name] else {
            if property.isColumn || property.isCollection {
                steps.append(.addProperty(type: new.name, property: property.name))
            }
            return name
        }
        if let text = difference(stored, property, renames) {
            differences.append("property '\(new.name).\(property.name)' \(text)")
        } else if stored.name == property.name && stored.isIndexed != property.isIndexed {
            steps.append(
                property.isIndexed
                    ? .addIndex(type: new.name, property: property.name)
                    : .removeIndex(type: new.name, property: property.name))
        }
        return name
    }

    // Becoming optional changes no row; everything else about a type does.
    private func difference(
        _ stored: PropertySchema, _ declared: PropertySchema, _ renames: [String: String]
    ) -> String? {
        if case .linkingObjects = declared.kind, case .linkingObjects = stored.kind { return nil }
        let element: ElementType =
            switch stored.element {
            case .link(let name): .link(renames[name] ?? name)
            case .embedded(let name): .embedded(renames[name] ?? name)
            default: stored.element
            }
        guard stored.kind == declared.kind, element == declared.element else {
            return "is '\(stored.typeDescription)' in the file and '\(declared.typeDescription)' in the schema: "
                + "keep the type, or add a property with another name and copy the values"
        }
        if stored.isOptional && !declared.isOptional && !declared.isLink && declared.kind == .single {
            return "may be nil in the file and is required in the schema: keep it optional"
        }
        return nil
    }

    private mutating func comparePrimaryKey(_ old: ObjectTypeSchema, _ new: ObjectTypeSchema) {
        let oldName = old.primaryKey.map { old.properties[$0].name }
        let newName = new.primaryKey.map { new.properties[$0].renamedFrom ?? new.properties[$0].name }
        let newCurrent = new.primaryKey.map { new.properties[$0].name }
        guard oldName != newName, oldName != newCurrent else { return }
        differences.append(
            "the primary key of '\(new.name)' is \(oldName.map { "'\($0)'" } ?? "absent") in the file and "
                + "\(newCurrent.map { "'\($0)'" } ?? "absent") in the schema: keep the one in the file")
    }

    private mutating func compareUniques(_ old: ObjectTypeSchema, _ new: ObjectTypeSchema) {
        let known = old.uniques.map { $0.map { old.properties[$0].name } }
        for (number, unique) in new.uniques.enumerated() where !known.contains(unique.map { new.properties[$0].name }) {
            steps.append(.addUnique(type: new.name, number: number))
        }
    }
}
