/// The differences between the object types of a file and the object types of the program.
///
/// `steps` applies the differences to the file. `migrationReasons` describes the differences that require a migration,
/// because they can lose values or need new values. `nameClashes` describes the differences that are never allowed.
package struct SchemaDiff: Equatable {
    package enum Step: Equatable, Sendable {
        case createType(String)
        case renameType(from: String, to: String)
        /// The positions of properties with floating-point values have changed. `positions` maps each old position to
        /// the new position. It does not contain the positions of properties that the program has removed.
        case moveSpecials(type: String, positions: [PropertyIndex: PropertyIndex])
        case addProperty(type: String, property: String)
        case renameProperty(type: String, from: String, to: String)
        /// The index of a property is added or removed.
        case rebuildIndex(type: String, property: String)
        /// The sets of properties that must be unique together have changed.
        case rebuildUniques(String)
        /// The catalog stores the new description of the type (see `SchemaFactsWriter`).
        case replaceSchemaFacts(String)
        /// A migration creates the tables again and fills them. The keys of `sources` are the properties whose values
        /// are copied or converted. The values of `sources` are the names of these properties in the file.
        case rebuildType(String, sources: [String: String])
    }

    package private(set) var steps: [Step] = []
    /// One sentence for each difference that requires a migration. It begins in lower case and ends with a fix.
    package private(set) var migrationReasons: [String] = []
    /// One sentence for each declared type whose name differs only in case from the name of another type in the file.
    /// SQLite ignores case in the names of tables, so no migration can create such a type.
    package private(set) var nameClashes: [String] = []
    /// The types that are renamed. Maps the name in the file to the name in the program.
    package private(set) var renames: [String: String] = [:]

    /// Types of the file that the program does not declare are left unchanged.
    package init(stored: [ObjectTypeSchema], declared: [ObjectTypeSchema]) {
        let storedByName = Dictionary(stored.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let storedByLowercase = Dictionary(
            stored.map { ($0.name.lowercased(), $0.name) }, uniquingKeysWith: { first, _ in first })
        let declaredNames = Set(declared.map(\.name))
        for type in declared where storedByName[type.name] == nil {
            guard let old = type.renamedFrom, storedByName[old] != nil, !declaredNames.contains(old),
                renames[old] == nil
            else { continue }
            renames[old] = type.name
        }
        for type in declared {
            if let old = storedByName[type.name] {
                compare(old, type)
            } else if let name = type.renamedFrom, renames[name] == type.name, let old = storedByName[name] {
                if let similar = storedByLowercase[type.name.lowercased()], similar != name {
                    nameClashes.append(
                        "'\(type.name)' differs only in case from '\(similar)' in the file: use another name")
                    continue
                }
                steps.append(.renameType(from: name, to: type.name))
                compare(old, type)
            } else if let similar = storedByLowercase[type.name.lowercased()] {
                // A type of the file that the program renames cannot also become this type.
                let fix = renames[similar] == nil ? "that name, or declare 'renamedFrom: \(similar)'" : "another name"
                nameClashes.append("'\(type.name)' differs only in case from '\(similar)' in the file: use \(fix)")
            } else {
                steps.append(.createType(type.name))
            }
        }
    }

    package var isEmpty: Bool { steps.isEmpty && migrationReasons.isEmpty && nameClashes.isEmpty }

    /// True if the schema version must be raised, because values may be lost or new values are needed.
    package var needsMigration: Bool { !migrationReasons.isEmpty }

    /// True if the existing types of the file do not change.
    package var onlyAddsTypes: Bool {
        migrationReasons.isEmpty && steps.allSatisfy { if case .createType = $0 { true } else { false } }
    }

    /// The name that a type of the file has in the program.
    package func currentName(_ name: String) -> String { renames[name] ?? name }

    private mutating func compare(_ old: ObjectTypeSchema, _ new: ObjectTypeSchema) {
        guard old != new else { return }
        let (start, knownCount) = (steps.count, migrationReasons.count)
        if old.isEmbedded != new.isEmbedded {
            migrationReasons.append(
                "'\(new.name)' is \(old.isEmbedded ? "an embedded" : "a top-level") type in the file and "
                    + "\(new.isEmbedded ? "an embedded" : "a top-level") type in the schema: keep it, or migrate"
                    + (new.isEmbedded ? " and make sure that each object has one owner" : ""))
        }
        // Maps the name of a property in the file to the name of the property in the program that gets its values.
        var successors: [String: String] = [:]
        for property in new.properties {
            if let former = match(property, old, new, successors) { successors[former] = property.name }
        }
        for property in old.properties where successors[property.name] == nil {
            if case .linkingObjects = property.kind { continue }
            migrationReasons.append(
                "property '\(new.name).\(property.name)' (\(property.typeDescription)) is in the file but not in the schema: "
                    + "declare it again, name its successor with 'renamedFrom: \(property.name)', or migrate to drop it"
            )
        }
        let positions = movedPositions(old, new, successors)
        if !positions.isEmpty { steps.insert(.moveSpecials(type: new.name, positions: positions), at: start) }
        comparePrimaryKey(old, new, successors)
        compareUniques(old, new, successors)
        if migrationReasons.count > knownCount {
            let sources = Dictionary(successors.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
            steps.replaceSubrange(start..., with: [.rebuildType(new.name, sources: sources)])
        }
        steps.append(.replaceSchemaFacts(new.name))
    }

    /// Finds the property of the file whose values `property` gets, and returns its name in the file. Returns nil if
    /// `property` is new.
    private mutating func match(
        _ property: PropertySchema, _ old: ObjectTypeSchema, _ new: ObjectTypeSchema, _ taken: [String: String]
    ) -> String? {
        var name = property.name
        if old[name] == nil, let former = property.renamedFrom, let source = old[former],
            source.isColumn || source.isCollection,
            new[former] == nil, taken[former] == nil
        {
            steps.append(.renameProperty(type: new.name, from: former, to: name))
            name = former
        }
        guard let stored = old[name], stored.isColumn || stored.isCollection else {
            // Linking objects are not stored. A stored property that gets the name of former linking objects is new.
            if property.isColumn || property.isCollection {
                steps.append(.addProperty(type: new.name, property: property.name))
            }
            return nil
        }
        if let text = difference(stored, property) {
            migrationReasons.append("property '\(new.name).\(property.name)' \(text)")
        } else if stored.name == property.name && stored.isIndexed != property.isIndexed {
            steps.append(.rebuildIndex(type: new.name, property: property.name))
        }
        return name
    }

    // Special values are stored under the index of their property. Returns the new index for each old index of a
    // floating-point property, or an empty dictionary if no index changes.
    private func movedPositions(
        _ old: ObjectTypeSchema, _ new: ObjectTypeSchema, _ successors: [String: String]
    ) -> [PropertyIndex: PropertyIndex] {
        let floating = old.properties.filter { $0.isColumn && $0.element.isFloating }
        var positions: [PropertyIndex: PropertyIndex] = [:]
        for property in floating { positions[property.index] = successors[property.name].flatMap { new[$0]?.index } }
        return positions.allSatisfy { $0.key == $0.value } ? [:] : positions
    }

    // Describes a change of type that requires a change of the stored values. Returns nil if the stored values can
    // stay, for example if a property becomes optional.
    private func difference(_ before: PropertySchema, _ declared: PropertySchema) -> String? {
        let stored = before.retargeted(currentName)
        guard stored.kind == declared.kind, stored.element == declared.element else {
            let (was, now) = typeTexts(stored, before, declared)
            return "is \(was) in the file and \(now) in the schema: keep the type, or migrate the values"
        }
        if stored.isOptional && !declared.isOptional && !declared.isLink {
            let state =
                declared.isCollection
                ? "may hold nil in the file and its elements are" : "may be nil in the file and is"
            return "\(state) required in the schema: keep it optional, or migrate the values that are nil"
        }
        return nil
    }

    // Describes the type in the file and the declared type. A link and an embedded object have the same notation. If
    // both notations are equal, but only one type is embedded, the texts also contain 'linked' or 'embedded'.
    private func typeTexts(
        _ stored: PropertySchema, _ before: PropertySchema, _ declared: PropertySchema
    ) -> (was: String, now: String) {
        let (was, now) = (before.typeDescription, declared.typeDescription)
        guard was == now, stored.element.isEmbedded != declared.element.isEmbedded else {
            return ("'\(was)'", "'\(now)'")
        }
        let kind = { (isEmbedded: Bool) in isEmbedded ? "embedded" : "linked" }
        return ("'\(was)' (\(kind(stored.element.isEmbedded)))", "'\(now)' (\(kind(declared.element.isEmbedded)))")
    }

    private mutating func comparePrimaryKey(
        _ old: ObjectTypeSchema, _ new: ObjectTypeSchema, _ successors: [String: String]
    ) {
        let before = old.primaryKey.map { old.properties[$0].name }
        let after = new.primaryKey.map { new.properties[$0].name }
        guard before.map({ successors[$0] ?? $0 }) != after else { return }
        migrationReasons.append(
            "the primary key of '\(new.name)' is \(before.map { "'\($0)'" } ?? "absent") in the file and "
                + "\(after.map { "'\($0)'" } ?? "absent") in the schema: keep the one in the file, or migrate")
    }

    private mutating func compareUniques(
        _ old: ObjectTypeSchema, _ new: ObjectTypeSchema, _ successors: [String: String]
    ) {
        let before = old.uniques.map { $0.map { successors[old.properties[$0].name] ?? old.properties[$0].name } }
        let after = new.uniques.map { $0.map { new.properties[$0].name } }
        // The unique indexes of a renamed type are created again, because their names contain the name of the type.
        if before != after || (old.name != new.name && !after.isEmpty) { steps.append(.rebuildUniques(new.name)) }
    }
}
