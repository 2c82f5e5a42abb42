import MartletEngine
import MartletValues

/// An object in a migration: the old state or the new state of a row. The block accesses its properties by name.
///
/// ```swift
/// migration.enumerateObjects(ofType: "Person") { old, new in
///     let first = old?["firstName"] as? String ?? ""
///     new?["fullName"] = "\(first) \(old?["lastName"] as? String ?? "")"
/// }
/// ```
///
/// Links and embedded objects are `MigrationObject`s. Collections are `List`, `MutableSet` and `Map` of values or of
/// `MigrationObject`s. If an old object is assigned to a link of a new object, the link refers to the new object with
/// the same key. If an old object is assigned to an embedded property, the property gets a copy. Old objects cannot be
/// changed. After the block has returned, migration objects cannot be used.
public final class MigrationObject: StoredObject {
    /// Traps: only a migration creates such objects.
    public required init() { Misuse.madeMigrationObject() }

    @_spi(Generated) public required init(_managed: Void) { super.init(_managed: ()) }

    override init(_ model: ModelClass) { super.init(model) }

    override var linkCollections: LinkCollections {
        LinkCollections(
            list: List<MigrationObject>.self, set: MutableSet<MigrationObject>.self, map: Map<MigrationObject?>.self)
    }

    // MARK: Values of old objects for new objects

    override func _convertedValue(_ value: Any?, _ property: PropertySchema) -> Any? {
        // Recorded even if the value does not change: the migration must know that the block has assigned the property.
        if let table = _table { table.context.transaction?.recorder.modify(_key, property.index, in: table.id) }
        let value = super._convertedValue(value, property)
        if property.element == .intEnum || property.element == .stringEnum { requireCases(value, property) }
        return converted(value, property)
    }

    // In a migration, enum properties have the type of the raw values. The declaration contains the raw values of the
    // cases.
    private func requireCases(_ value: Any?, _ property: PropertySchema) {
        let declaration = _model.declaration
        let values = (value as? [Any]) ?? (value as? [String: Any]).map { Array($0.values) } ?? [value as Any]
        for value in values {
            guard let value = UntypedValue.unwrapped(value),
                let raw = UntypedValue.stored(value, property.element, isOptional: property.isOptional),
                !declaration.isValidRawValue(property.index, raw)
            else { continue }
            Misuse.wrongValue(
                value, property: "\(_typeName).\(property.name)",
                expected: "the raw value of a case of '\(property.typeDescription)'")
        }
    }

    private func converted(_ value: Any?, _ property: PropertySchema) -> Any? {
        if property.isAny { return convertedAnyProperty(value, property) }
        guard property.isLink else { return value }
        switch value {
        case let object as MigrationObject: return object.converted(to: _context, property)
        case let list as List<MigrationObject>: return list.compactMap { converted($0, property) }
        case let set as MutableSet<MigrationObject>: return set.compactMap { converted($0, property) }
        case let map as Map<MigrationObject?>:
            return UntypedEntries(entries: map.map { ($0.key, converted($0.value, property) as Any) })
        case let values as [Any]: return values.compactMap { converted(UntypedValue.unwrapped($0), property) }
        case let values as [String: Any] where property.kind == .map:
            return values.mapValues { converted(UntypedValue.unwrapped($0), property) as Any }
        default: return value
        }
    }

    private func convertedAnyProperty(_ value: Any?, _ property: PropertySchema) -> Any? {
        switch value {
        case let object as MigrationObject: return object.converted(to: _context, property)
        case let values as any Sequence<AnyRealmValue>: return values.map { convertedAny($0, property) }
        case let map as Map<AnyRealmValue>:
            return UntypedEntries(entries: map.map { ($0.key, convertedAny($0.value, property) as Any) })
        case let values as [Any] where property.isCollection: return values.map { convertedValue($0, property) as Any }
        case let values as [String: Any] where property.kind == .map:
            return values.mapValues { convertedValue($0, property) as Any }
        default: return property.isCollection ? value : convertedValue(value, property)
        }
    }

    // Returns a value that an `AnyRealmValue` cannot contain unchanged. The assignment then rejects the value.
    private func convertedValue(_ value: Any?, _ property: PropertySchema) -> Any? {
        AnyRealmValue(untyped: value) { $0 }.map { convertedAny($0, property) } ?? value
    }

    private func convertedAny(_ value: AnyRealmValue, _ property: PropertySchema) -> AnyRealmValue {
        switch value {
        case .object(let object as MigrationObject):
            (object.converted(to: _context, property) as? ObjectBase).map { .object($0) } ?? .none
        case .list(let values): .list(values.map { convertedAny($0, property) })
        case .map(let entries): .map(entries.mapValues { convertedAny($0, property) })
        default: value
        }
    }

    /// Converts an old object for a property of a new object. For a link, returns the new object with the same key, or
    /// nil if that object was deleted. For an embedded property, returns the values of the old object. Returns this
    /// object unchanged if it is not an old object, or if it has another type than the embedded property.
    private func converted(to context: RealmContext?, _ property: PropertySchema) -> Any? {
        guard let context, _context !== context, _context?.newContext === context, let table = _table else {
            return self
        }
        let newTable = context.table(table.id)
        if property.element.isEmbedded {
            return newTable.type.name == property.element.target ? embeddedValues(for: newTable) : self
        }
        return newTable.exists(_key) ? newTable.object(_key) : nil
    }

    /// The values of this old object for a new embedded object; nil if the migration has failed, for example because
    /// the object contains itself.
    private func embeddedValues(for newTable: ObjectTable) -> [String: Any]? {
        let newContext = newTable.context
        newContext.recordingFailure {
            guard let oldContext = _context,
                let row = try oldContext.selfContainingRow(RowID(table: newTable.id, key: _key))
            else {
                return
            }
            throw EngineError.containsItself(
                oldContext.name(of: row), newTable.type.name, path: newContext.coordinator.path)
        }
        return newContext.pending.failure == nil ? values(for: newTable) : nil
    }

    /// The values of this object, by the names of the properties of `table`. Properties that this object does not have
    /// are omitted. If the table has the type of this object, a renamed property gets the value of its former name.
    func values(for table: ObjectTable) -> [String: Any] {
        let isOfType = _table?.id == table.id
        return table.type.properties.reduce(into: [:]) { values, property in
            let former = isOfType ? _context?.formerName(property.name, table.type.name) : nil
            guard let own = _model.schema[former ?? property.name], own.isColumn || own.isCollection else { return }
            values[property.name] = keyedValue(own) as Any
        }
    }
}
