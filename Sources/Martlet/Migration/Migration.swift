import MartletEngine
import MartletValues

/// A block that updates the objects of a file if the schema version of the file is lower than the schema version of the
/// configuration.
///
/// The block is called once, inside the transaction of the migration, after all automatic changes. If the block throws
/// an error, the file is left unchanged, and opening the Realm throws the error.
public typealias MigrationBlock = @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) throws -> Void

/// The objects of a file before and after a change of the schema, for use in a `migrationBlock`.
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
/// A migration is valid only inside its block, on the thread of the block. Observers are not notified of its changes.
public final class Migration {
    /// The object types of the file before the migration.
    public let oldSchema: Schema
    /// The object types of the program, and the types that exist only in the file.
    public let newSchema: Schema
    let migration: TypeMigration
    let oldContext: RealmContext
    let newContext: RealmContext
    private var hasEnded = false
    /// For each intermediate name of a rename in several steps: the name of the property in the file.
    private var intermediateNames: [IntermediateName: String] = [:]
    /// The maximum number of objects in memory at a time.
    private static let blockSize = 1_024

    private struct IntermediateName: Hashable {
        let type: String
        let property: String
    }

    init(
        _ migration: TypeMigration, oldContext: RealmContext, newContext: RealmContext, _ declared: [String: ModelClass]
    ) {
        self.migration = migration
        self.oldContext = oldContext
        self.newContext = newContext
        oldSchema = Schema(oldContext.tables.values.map(\.type))
        newSchema = Schema(newContext.tables.values.map { declared[$0.type.name]?.schema ?? $0.type })
    }

    /// The old and the new table of a type. `typeName` is the name in the schema or the name in the file. The old table
    /// is nil if the type is new.
    func tables(_ typeName: String) -> (old: ObjectTable?, new: ObjectTable) {
        guard let tables = knownTables(typeName) else {
            let known = Set(oldSchema.objectSchema.map(\.className)).union(newSchema.objectSchema.map(\.className))
            Misuse.unknownMigrationType(typeName, known: known.sorted())
        }
        return tables
    }

    private func knownTables(_ typeName: String) -> (old: ObjectTable?, new: ObjectTable)? {
        requireActive()
        let name = migration.currentName(typeName)
        guard let new = newContext.table(named: newContext.table(named: typeName) == nil ? name : typeName) else {
            return nil
        }
        return (migration.storedType(of: new.type.name).flatMap { oldContext.table(named: $0.name) }, new)
    }

    func requireActive() {
        if hasEnded { Misuse.migrationIsOver() }
        newContext.confinement.require("a migration")
    }

    /// Writes the pending changes to the file and frees memory. If a change replaces a value that could not be
    /// converted automatically, marks that value as resolved.
    func flushChanges() {
        newContext.flushForQuery()
        guard let transaction = newContext.transaction else { return }
        migration.markResolved(transaction.recorder.finish())
        transaction.recorder = ChangeRecorder()
        oldContext.removeUnusedCollections()
        newContext.removeUnusedCollections()
    }

    func end() {
        hasEnded = true
        oldContext.endMigration()
        newContext.endMigration()
    }

    // MARK: Objects

    /// Calls a closure with each object of a type, as it was before the migration and as it is now.
    ///
    /// The type can be given by its new or its former name. Objects that the migration has deleted are skipped. If the
    /// type is new, the old object is nil. If neither the file nor the schema has the type, the closure is not called:
    /// blocks for older versions can name types that no longer exist. Only some of the objects are in memory at a time.
    ///
    /// - Throws: Errors that the closure throws.
    public func enumerateObjects(
        ofType typeName: String, _ block: (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) throws -> Void
    ) rethrows {
        guard let (old, new) = knownTables(typeName) else { return }
        flushChanges()
        try forEachKey(of: old ?? new) { key in
            let (oldObject, newObject) = (old?.object(key), new.object(key))
            // A damaged row makes the migration fail. The closure is not called again.
            guard newContext.pending.failure == nil, loadOrRecordFailure(newObject, new),
                oldObject == nil || loadOrRecordFailure(oldObject, old)
            else {
                return
            }
            try block(
                oldObject.map { unsafeDowncast($0, to: MigrationObject.self) },
                unsafeDowncast(newObject, to: MigrationObject.self))
        }
    }

    private func loadOrRecordFailure(_ object: ObjectBase?, _ table: ObjectTable?) -> Bool {
        guard let object, let table else { return false }
        do {
            return try table.context.loadOrThrow(object, table)
        } catch {
            newContext.pending.failure = EngineError.wrap(error, path: newContext.coordinator.path)
            return false
        }
    }

    private func forEachKey(of table: ObjectTable, _ body: (ObjectKey) throws -> Void) rethrows {
        let context = table.context
        // Objects that the closure creates are not enumerated.
        guard let last = context.read({ try table.rows.lastKey($0) }) else { return }
        var next = ObjectKey.min
        while next <= last {
            let keys = context.read { try table.rows.keys(in: next...last, limit: Self.blockSize, $0) }
            for key in keys { try body(key) }
            flushChanges()
            guard let reached = keys.last, reached < last else { return }
            next = reached + 1
        }
    }

    /// Creates an object from a dictionary of property names and values, an array in schema order, or another object.
    ///
    /// Properties without a value get their defaults. `value` can be an old object. Its values are copied to the
    /// properties with the same names, and the value of a renamed property is copied to the new name. If the object in
    /// `value` has another type, only the properties that both types have are copied.
    ///
    /// Keys that are not the name of a property are ignored. Traps if the type is unknown, if a value has the wrong
    /// type, or if the given object has no property in common with the type.
    @discardableResult
    public func create(_ typeName: String, value: Any = [String: Any]()) -> MigrationObject {
        let table = tables(typeName).new
        guard let model = table.model else { Misuse.unknownType(typeName) }
        if table.type.isEmbedded { Misuse.embeddedAtTopLevel(typeName) }
        var value = value
        if let object = value as? MigrationObject, object._context === oldContext || object._typeName != table.type.name
        {
            let shared = object.values(for: table)
            if !shared.isEmpty { value = shared }
        }
        return unsafeDowncast(newContext.create(model, value, .error), to: MigrationObject.self)
    }

    /// Deletes a new object, the objects that it owns, and all links to these objects. Traps if the object is an old
    /// object.
    public func delete(_ object: MigrationObject) {
        requireActive()
        if object._context === oldContext { Misuse.changeBeforeMigration("a '\(object._typeName)'") }
        newContext.delete(object)
    }

    /// Deletes all objects of a type. Returns false if the file had no type of this name. If the program does not
    /// declare the type, the migration also removes the type from the file. There are two exceptions: the block creates
    /// objects of the type afterwards, or a type that remains in the file has properties with this type.
    @discardableResult
    public func deleteData(forType typeName: String) -> Bool {
        requireActive()
        guard oldContext.table(named: typeName) != nil || newContext.table(named: typeName) != nil else { return false }
        let (old, new) = tables(typeName)
        flushChanges()
        forEachKey(of: new) { key in if new.exists(key) { newContext.deleteRow(key, new) } }
        if !migration.isDeclared(new.type.name) { migration.dropAtEnd(new.type) }
        return old != nil
    }

    // MARK: Properties

    /// Copies the values that a property has in the file to another property. Values of another type are converted if
    /// this is possible without loss.
    ///
    /// `renamedFrom` in the schema has the same effect and needs no migration block. A property can be renamed in
    /// several steps, one for each version. Intermediate names need not be in the schema. Links to objects that the
    /// migration has deleted are not copied.
    ///
    /// Traps if the file has no property `oldName`, if the last new name is not in the schema, if the schema still has
    /// `oldName`, or if `newName` is a primary key that the block must not set.
    public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
        let (old, new) = tables(typeName)
        let source = intermediateNames[IntermediateName(type: new.type.name, property: oldName)] ?? oldName
        guard let old, old.type[source].map({ $0.isColumn || $0.isCollection }) == true else {
            Misuse.renameWithoutSource(
                "\(typeName).\(oldName)", known: old?.type.properties.map(\.name) ?? [])
        }
        if new.type[oldName] != nil { Misuse.renameOfPresent("\(typeName).\(oldName)") }
        intermediateNames[IntermediateName(type: new.type.name, property: oldName)] = nil
        guard let property = new.type[newName], property.isColumn || property.isCollection else {
            intermediateNames[IntermediateName(type: new.type.name, property: newName)] = source
            return
        }
        // During a migration, `new.type` has a primary key only if the block must not set this key. There are two such
        // cases. If the migration keeps an integer key, this key is also the object key, to which links refer. If the
        // type does not change, its key has a unique index.
        if new.type.primaryKey == property.index { Misuse.primaryKeyChange(new.type.name, property.name) }
        flushChanges()
        newContext.recordingFailure { try migration.fill(new.type, property, from: source) }
        newContext.discardValues(of: new)
    }

    /// Traps if the last new name of a rename is not a property of the schema.
    func requireRenameTargets() {
        guard let name = intermediateNames.keys.min(by: { ($0.type, $0.property) < ($1.type, $1.property) }) else {
            return
        }
        let known = newContext.table(named: name.type)?.type.properties.map(\.name) ?? []
        Misuse.renameWithoutTarget("\(name.type).\(name.property)", known: known)
    }

    // MARK: Embedded types

    /// Gives every object of a type exactly one owner. Creates copies for additional owners. Deletes objects without an
    /// owner. Also deletes objects if all of their owners are deleted. Call this method for a type that the schema now
    /// declares as embedded.
    ///
    /// ```swift
    /// if oldSchemaVersion < 3 { migration.separateOwners(ofType: "Address") }
    /// ```
    ///
    /// If an object has several owners, the first owner keeps it, and every other owner gets a copy. A copy contains
    /// copies of the embedded objects, and links to the same objects as the original. Without this call, the migration
    /// fails if an object has several owners or no owner. In any case, the migration fails if an object with an owner
    /// contains itself. Traps if the type is unknown or not embedded.
    public func separateOwners(ofType typeName: String) {
        let table = tables(typeName).new
        guard table.type.isEmbedded else { Misuse.separatedTopLevel(typeName) }
        flushChanges()
        guard let containment = containment(allTypes: false) else { return }
        // The keys are read before copies are created. The copies and the objects in the copies have owners and must
        // not be deleted below.
        let known = newContext.read { try table.rows.keys($0) }
        var owned: Set<ObjectKey> = []
        for incoming in table.incoming {
            let holders = newContext.table(incoming.table)
            let property = holders.type.properties[incoming.property]
            guard property.element.isEmbedded else { continue }
            forEachKey(of: holders) { key in
                guard holders.exists(key) else { return }
                let holder = holders.object(key)
                // An unreachable holder has no owner, or only unreachable owners, and is deleted below. Before the
                // deletion, it releases its embedded objects, because an object that also has another owner must
                // remain.
                if containment.isUnreachable(RowID(table: holders.id, key: key)) {
                    return holder.releaseEmbedded(property)
                }
                separate(property, of: holder, table, &owned)
            }
        }
        flushChanges()
        let unowned = known.filter { !owned.contains($0) }
        if unowned.isEmpty { return }
        releaseSharedContents(unowned.map { RowID(table: table.id, key: $0) })
        for key in unowned where table.exists(key) { newContext.deleteRow(key, table) }
        flushChanges()
    }

    // The deletion of a row deletes all rows that the row contains. If an object with an owner also contains one of
    // these rows, the row must remain, so it is released before the deletion.
    private func releaseSharedContents(_ rows: [RowID]) {
        guard let containment = containment(allTypes: true) else { return }
        for row in containment.unreachableContents(of: rows) where containment.sharesContents(row) {
            let holders = newContext.table(row.table)
            guard holders.exists(row.key) else { continue }
            let holder = holders.object(row.key)
            for property in holders.type.properties where property.element.isEmbedded {
                guard let target = property.element.target.flatMap(newContext.table(named:)) else { continue }
                holder.releaseEmbedded(property) { !containment.isUnreachable(RowID(table: target.id, key: $0)) }
            }
        }
        flushChanges()
    }

    /// The containment relation between rows of embedded types. Nil if an object contains itself; the migration then
    /// fails.
    private func containment(allTypes: Bool) -> Containment? {
        var containment: Containment?
        newContext.recordingFailure {
            let found = try migration.containment(allTypes: allTypes)
            if let row = found.reachedCycle {
                throw EngineError.containsItself(
                    newContext.name(of: row), newContext.table(row.table).type.name, path: newContext.coordinator.path)
            }
            containment = found
        }
        return containment
    }

    private func separate(
        _ property: PropertySchema, of holder: ObjectBase, _ table: ObjectTable, _ owned: inout Set<ObjectKey>
    ) {
        holder.replaceEmbeddedKeys(property) { key in
            if owned.insert(key).inserted { return key }
            let copy = newContext.create(table.anyModel, table.object(key), .error)
            newContext.additions.ownerless.remove(ObjectIdentifier(copy))
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
