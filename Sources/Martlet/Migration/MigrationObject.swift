import MartletEngine
import MartletSQLite

/// An object inside a migration, as it was before or as it is going to be: its properties are reached by their names.
///
/// ```swift
/// migration.enumerateObjects(ofType: "Person") { old, new in
///     let first = old?["firstName"] as? String ?? ""
///     new?["fullName"] = "\(first) \(old?["lastName"] as? String ?? "")"
/// }
/// ```
///
/// Links and embedded objects are `MigrationObject`s, collections `List`, `MutableSet` and `Map` of the values or of
/// `MigrationObject`. An old object given to a property of a new one means the same object there, or a copy of it where the
/// property is embedded. Old objects cannot be changed, and none can be used after the block.
public final class MigrationObject: StoredObject {
    /// Traps: objects of a migration come from the migration.
    public required init() { Misuse.madeMigrationObject() }

    @_spi(Generated) public required init(_managed: Void) { super.init(_managed: ()) }

    override init(_ model: ModelClass) { super.init(model) }

    override var linkCollections: LinkCollections {
        LinkCollections(
            list: List<MigrationObject>.self, set: MutableSet<MigrationObject>.self, map: Map<MigrationObject?>.self)
    }

    // MARK: Values of old objects for new ones

    override func _accepted(_ value: Any?, _ property: PropertySchema) -> Any? {
        // Assigning what is there already is an answer too.
        if let table = _table { table.context.transaction?.recorder.modify(_key, property.index, in: table.id) }
        let value = super._accepted(value, property)
        if property.element == .intEnum || property.element == .stringEnum { requireCases(value, property) }
        return translated(value, property)
    }

    // The property is of the raw type here: what its class has a case for must be asked.
    private func requireCases(_ value: Any?, _ property: PropertySchema) {
        let declaration = _model.declaration
        let values = (value as? [Any]) ?? (value as? [String: Any]).map { Array($0.values) } ?? [value as Any]
        for value in values {
            guard let value = UntypedValue.unwrapped(value),
                let raw = UntypedValue.stored(value, property.element, isOptional: property.isOptional),
                !declaration.holds(property.index, raw)
            else { continue }
            Misuse.wrongValue(
                value, property: "\(_typeName).\(property.name)",
                expected: "'\(property.typeDescription)' with a case for it")
        }
    }

    private func translated(_ value: Any?, _ property: PropertySchema) -> Any? {
        if property.isAny { return translatedAny(value, property) }
        guard property.isLink else { return value }
        switch value {
        case let object as MigrationObject: return object.translated(to: _context, property)
        case let list as List<MigrationObject>: return list.compactMap { translated($0, property) }
        case let set as MutableSet<MigrationObject>: return set.compactMap { translated($0, property) }
        case let map as Map<MigrationObject?>:
            return Dictionary(
                map.map { ($0.key, translated($0.value, property) as Any) }, uniquingKeysWith: { first, _ in first })
        case let values as [Any]: return values.compactMap { translated(UntypedValue.unwrapped($0), property) }
        case let values as [String: Any] where property.kind == .map:
            return values.mapValues { translated(UntypedValue.unwrapped($0), property) as Any }
        default: return value
        }
    }

    private func translatedAny(_ value: Any?, _ property: PropertySchema) -> Any? {
        switch value {
        case let object as MigrationObject: return object.translated(to: _context, property)
        case let values as any Sequence<AnyRealmValue>: return values.map { present($0, property) }
        case let map as Map<AnyRealmValue>:
            return Dictionary(
                map.map { ($0.key, present($0.value, property) as Any) }, uniquingKeysWith: { first, _ in first })
        case let values as [Any] where property.isCollection: return values.map { presentAny($0, property) as Any }
        case let values as [String: Any] where property.kind == .map:
            return values.mapValues { presentAny($0, property) as Any }
        default: return property.isCollection ? value : presentAny(value, property)
        }
    }

    // What is no value of any type is refused where it is assigned.
    private func presentAny(_ value: Any?, _ property: PropertySchema) -> Any? {
        AnyRealmValue(untyped: value) { $0 }.map { present($0, property) } ?? value
    }

    private func present(_ value: AnyRealmValue, _ property: PropertySchema) -> AnyRealmValue {
        switch value {
        case .object(let object as MigrationObject):
            (object.translated(to: _context, property) as? ObjectBase).map { .object($0) } ?? .none
        case .list(let values): .list(values.map { present($0, property) })
        case .map(let entries): .map(entries.mapValues { present($0, property) })
        default: value
        }
    }

    /// What an old object is among the new ones: nil when it is gone there.
    private func translated(to context: RealmContext?, _ property: PropertySchema) -> Any? {
        guard let context, _context !== context, _context?.counterpart === context, let table = _table else {
            return self
        }
        let present = context.table(table.id)
        if property.element.isEmbedded {
            return present.type.name == property.element.target ? values(sharedWith: present.type) : self
        }
        return present.exists(_key) ? present.object(_key) : nil
    }

    /// The values of the properties that another type has too, by name.
    func values(sharedWith type: ObjectTypeSchema) -> [String: Any] {
        _model.schema.properties.reduce(into: [:]) { values, own in
            guard own.isColumn || own.isCollection, type[own.name] != nil else { return }
            values[own.name] = untypedValue(own) as Any
        }
    }
}
