import MartletEngine
import MartletSQLite

/// What a program does with the objects of a file whose schema version is older than the configuration's.
///
/// It is called once, inside the transaction of the migration, after everything that can change by itself has changed. An
/// error that it throws leaves the file as it was and is thrown on by whoever opens the Realm.
public typealias MigrationBlock = @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) throws -> Void

/// The objects of a file before and after a change of the schema, for a `migrationBlock`.
///
/// ```swift
/// let configuration = Realm.Configuration(schemaVersion: 2) { migration, oldSchemaVersion in
///     if oldSchemaVersion < 2 {
///         migration.enumerateObjects(ofType: "Dog") { old, new in
///             new?["age"] = (old?["months"] as? Int ?? 0) / 12
///         }
///     }
/// }
/// ```
///
/// Valid inside the block only, on its thread. Observers hear of nothing that happens here.
public final class Migration {
    /// The object types of the file as it was.
    public let oldSchema: Schema
    /// The object types of the program, and those that only the file has.
    public let newSchema: Schema
    let migration: TypeMigration
    let past: RealmContext
    let present: RealmContext
    private var isOver = false
    /// Names that renamed properties had between the file and the schema, with those in the file.
    private var passing: [PassingName: String] = [:]
    /// Objects that are in memory at a time.
    private static let blockSize = 1_024

    private struct PassingName: Hashable {
        let type: String
        let property: String
    }

    init(_ migration: TypeMigration, past: RealmContext, present: RealmContext, _ declared: [String: ModelClass]) {
        self.migration = migration
        self.past = past
        self.present = present
        oldSchema = Schema(past.tables.values.map(\.type))
        newSchema = Schema(present.tables.values.map { declared[$0.type.name]?.schema ?? $0.type })
    }

    /// A name that the schema or the file knows, before and after: nil where the type is new.
    func tables(_ typeName: String) -> (old: ObjectTable?, new: ObjectTable) {
        guard let tables = knownTables(typeName) else {
            let known = Set(oldSchema.objectSchema.map(\.className)).union(newSchema.objectSchema.map(\.className))
            Misuse.unknownMigrationType(typeName, known: known.sorted())
        }
        return tables
    }

    private func knownTables(_ typeName: String) -> (old: ObjectTable?, new: ObjectTable)? {
        require()
        let name = migration.currentName(typeName)
        guard let new = present.table(named: present.table(named: typeName) == nil ? name : typeName) else {
            return nil
        }
        return (migration.storedType(of: new.type.name).flatMap { past.table(named: $0.name) }, new)
    }

    func require() {
        if isOver { Misuse.migrationIsOver("a 'Migration'") }
        present.confinement.require("a migration")
    }

    /// The newest state is written and looked at, so that nothing piles up.
    func settle() {
        present.flushForQuery()
        guard let transaction = present.transaction else { return }
        migration.settle(transaction.recorder.finish())
        transaction.recorder = ChangeRecorder()
        past.forgetUnusedCollections()
        present.forgetUnusedCollections()
    }

    func end() {
        isOver = true
        past.endOfMigration()
        present.endOfMigration()
    }

    // MARK: Objects

    /// Calls a closure with each object of a type, as it was and as it is going to be.
    ///
    /// A type goes by its new or its former name. An object that the migration has deleted is passed over; for a type that
    /// the file did not have there is no old object, and of one that neither the file nor the schema has there is none at
    /// all: blocks for older versions may name types that are long gone. However many objects there are, few of them are in
    /// memory at a time.
    ///
    /// - Throws: what the closure throws.
    public func enumerateObjects(
        ofType typeName: String, _ block: (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) throws -> Void
    ) rethrows {
        guard let (old, new) = knownTables(typeName) else { return }
        settle()
        try forEachKey(of: old ?? new) { key in
            let (oldObject, newObject) = (old?.object(key), new.object(key))
            // A row that is damaged fails the migration: the block is given no more.
            guard present.failure == nil, isThere(newObject, new), oldObject == nil || isThere(oldObject, old) else {
                return
            }
            try block(
                oldObject.map { unsafeDowncast($0, to: MigrationObject.self) },
                unsafeDowncast(newObject, to: MigrationObject.self))
        }
    }

    private func isThere(_ object: ObjectBase?, _ table: ObjectTable?) -> Bool {
        guard let object, let table else { return false }
        do {
            return try table.context.loadOrThrow(object, table)
        } catch {
            present.failure = EngineError.named(error, path: present.coordinator.path)
            return false
        }
    }

    private func forEachKey(of table: ObjectTable, _ body: (ObjectKey) throws -> Void) rethrows {
        let context = table.context
        let (column, name) = (table.layout.keyColumn, table.layout.table)
        // What the closure creates does not come round.
        guard let last = context.keys("SELECT max(\(column)) FROM \(name) HAVING max(\(column)) IS NOT NULL", []).first
        else { return }
        var next = ObjectKey.min
        while next <= last {
            let keys = context.keys(
                "SELECT \(column) FROM \(name) WHERE \(column) BETWEEN ?1 AND ?2 ORDER BY \(column) LIMIT \(Self.blockSize)",
                [.integer(next), .integer(last)])
            for key in keys { try body(key) }
            settle()
            guard let reached = keys.last, reached < last else { return }
            next = reached + 1
        }
    }

    /// Makes an object from a dictionary by property names, an array in schema order, or another object, old ones
    /// included. Properties that are not given get their defaults. An object of another type gives the properties that both
    /// types have.
    ///
    /// Keys that name no property have no effect. Traps on an unknown type, on a value that does not fit, and on an object
    /// that shares no property with the type.
    @discardableResult
    public func create(_ typeName: String, value: Any = [String: Any]()) -> MigrationObject {
        let table = tables(typeName).new
        guard let model = table.model else { Misuse.unknownType(typeName) }
        if table.type.isEmbedded { Misuse.embeddedAtTopLevel(typeName) }
        var value = value
        if let object = value as? MigrationObject, object._typeName != table.type.name {
            let shared = object.values(sharedWith: table.type)
            if !shared.isEmpty { value = shared }
        }
        return unsafeDowncast(present.create(model, value, .error), to: MigrationObject.self)
    }

    /// Deletes a new object, with what it owns and the links to it. Traps on an old one.
    public func delete(_ object: MigrationObject) {
        require()
        if object._context === past { Misuse.changeBeforeMigration("a '\(object._typeName)'") }
        present.delete(object)
    }

    /// Deletes all objects of a type; false when the file had none of this name. A type that the program does not declare
    /// is taken out of the file.
    @discardableResult
    public func deleteData(forType typeName: String) -> Bool {
        require()
        guard past.table(named: typeName) != nil || present.table(named: typeName) != nil else { return false }
        let (old, new) = tables(typeName)
        settle()
        forEachKey(of: new) { key in if new.exists(key) { present.deleteRow(key, new) } }
        if !migration.isDeclared(new.type.name) { migration.dropAtEnd(new.type) }
        return old != nil
    }

    // MARK: Properties

    /// Gives a property the values that another one had in the file, converted where they convert by themselves.
    ///
    /// The same as `renamedFrom` in the schema, which needs no migration. A property that was renamed more than once may be
    /// renamed step by step, as the blocks for each version say it: a name in between need not be in the schema. Traps when
    /// the file has no property `oldName`, when no step leads to a property of the schema, and when the schema still has
    /// `oldName`.
    public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
        let (old, new) = tables(typeName)
        let source = passing[PassingName(type: new.type.name, property: oldName)] ?? oldName
        guard let old, old.type[source].map({ $0.isColumn || $0.isCollection }) == true else {
            Misuse.renameWithoutSource(
                "\(typeName).\(oldName)", known: old?.type.properties.map(\.name) ?? [])
        }
        if new.type[oldName] != nil { Misuse.renameOfPresent("\(typeName).\(oldName)") }
        passing[PassingName(type: new.type.name, property: oldName)] = nil
        guard let property = new.type[newName], property.isColumn || property.isCollection else {
            passing[PassingName(type: new.type.name, property: newName)] = source
            return
        }
        settle()
        present.storing { try migration.fill(new.type, property, from: source) }
        present.forgetValues(of: new)
    }

    /// Stops the program over a rename that has led to no property of the schema.
    func requireArrivals() {
        guard let name = passing.keys.min(by: { ($0.type, $0.property) < ($1.type, $1.property) }) else { return }
        let known = present.table(named: name.type)?.type.properties.map(\.name) ?? []
        Misuse.renameWithoutGoal("\(name.type).\(name.property)", known: known)
    }

    // MARK: Embedded types

    /// Gives each owner of an object of a type that the schema now declares as embedded an object of its own, and deletes
    /// those that nothing leads to.
    ///
    /// ```swift
    /// if oldSchemaVersion < 3 { migration.separateOwners(ofType: "Address") }
    /// ```
    ///
    /// Of an object with several owners the first keeps it and the others get copies, with copies of what it embeds and
    /// links to the same objects. Without this call the migration refuses such objects. Traps on an unknown type and on one
    /// that is not embedded.
    public func separateOwners(ofType typeName: String) {
        let table = tables(typeName).new
        guard table.type.isEmbedded else { Misuse.separatedTopLevel(typeName) }
        settle()
        var owned: Set<ObjectKey> = []
        for incoming in table.incoming {
            let holders = present.table(incoming.table)
            let property = holders.type.properties[incoming.property]
            guard property.element.isEmbedded else { continue }
            forEachKey(of: holders) { key in
                if holders.exists(key) { separate(property, of: holders.object(key), table, &owned) }
            }
        }
        settle()
        forEachKey(of: table) { key in if !owned.contains(key) { present.deleteRow(key, table) } }
        settle()
    }

    private func separate(
        _ property: PropertySchema, of holder: ObjectBase, _ table: ObjectTable, _ owned: inout Set<ObjectKey>
    ) {
        holder.replaceEmbeddedKeys(property) { key in
            if owned.insert(key).inserted { return key }
            let copy = present.create(table.anyModel, table.object(key), .error)
            present.unowned.remove(ObjectIdentifier(copy))
            owned.insert(copy._key)
            return copy._key
        }
    }
}

@available(*, unavailable, message: "a migration stays on the thread of its block")
extension Migration: Sendable {}

extension Schema {
    fileprivate init(_ types: [ObjectTypeSchema]) {
        self.init(objectSchema: types.sorted { $0.name < $1.name }.map { ObjectSchema(type: $0) })
    }
}
