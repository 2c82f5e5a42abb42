import MartletEngine
import MartletSQLite

extension Realm {
    // MARK: Finding

    /// All objects of a class: live, lazy, in the order of their keys.
    public func objects<Element: Object>(_ type: Element.Type) -> Results<Element> {
        context.confinement.require("a Realm")
        let table = context.table(type)
        return Results(ResultsStorage(context, table, QueryPlan(table: table.id)))
    }

    /// The object with a primary key; nil when there is none. Traps on a class without primary key.
    public func object<Element: Object, Key: PersistableValue>(ofType type: Element.Type, forPrimaryKey key: Key)
        -> Element?
    {
        context.confinement.require("a Realm")
        let table = context.table(type)
        guard let position = table.type.primaryKey else { Misuse.noPrimaryKey(table.type.name) }
        let property = table.type.properties[position]
        guard let value = UntypedValue.stored(key, property.element, isOptional: false) else {
            Misuse.wrongValue(
                key, property: "\(table.type.name).\(property.name)", expected: "'\(property.typeDescription)'")
        }
        let found = context.find(primaryKey: value, table)
        context.noteRead(found.map { .row(table.id, $0._key) } ?? .rows(table.id))
        return found.map { unsafeDowncast($0, to: Element.self) }
    }

    // MARK: Adding

    /// Adds an object and the unmanaged objects it links to. Inside a write transaction only.
    ///
    /// When an object with the same primary key exists and `update` allows it, that row gets the values, and `object` becomes
    /// a live object of that row. Linked objects without a primary key are always added as new ones.
    ///
    /// - Parameters:
    ///   - object: an unmanaged object; one that is in this Realm already is left as it is.
    ///   - update: what happens when an object with the same primary key exists. Traps for a class without one, unless it is
    ///     `.error`.
    public func add(_ object: Object, update: UpdatePolicy = .error) {
        context.confinement.require("a Realm")
        _ = context.requireWrite("the Realm")
        if update != .error { requirePrimaryKey(type(of: object)) }
        _ = context.adopt(object, update)
    }

    /// Adds objects, as `add(_:update:)` does.
    public func add<Objects: Sequence>(_ objects: Objects, update: UpdatePolicy = .error)
    where Objects.Element: Object {
        for object in objects { add(object, update: update) }
    }

    private func requirePrimaryKey(_ type: ObjectBase.Type) {
        let table = context.table(type)
        if table.type.primaryKey == nil { Misuse.noPrimaryKey(table.type.name) }
    }

    /// Makes an object from a dictionary by property names, an array in schema order, or another object of its type, nested
    /// to any depth, and adds it.
    ///
    /// Properties that are not given get their defaults; with an update policy, an existing object keeps them, and with
    /// `.modified` its maps keep the keys that a dictionary does not have. Objects among the values that are not in this
    /// Realm are copied, others are linked to. Keys that name no property have no effect; `create(_:value:update:unknownKeys:)`
    /// can refuse them. Traps on a value that does not fit, and names the property, the place and the value.
    @discardableResult
    public func create<Element: Object>(
        _ type: Element.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
    ) -> Element {
        context.confinement.require("a Realm")
        if update != .error { requirePrimaryKey(type) }
        return unsafeDowncast(context.create(ModelClass.of(type), value, update), to: Element.self)
    }

    // MARK: Deleting

    /// Deletes an object with its embedded objects; links to it become nil, and lists and sets lose it.
    ///
    /// `onDelete` and `deleteRule` in the schema may delete other objects with it, or deny the deletion: then the write throws
    /// `Realm.Error.deletionDenied` when it ends, unless it has removed the reason.
    public func delete(_ object: ObjectBase) { context.delete(object) }

    /// Deletes objects. One that is gone by the time its turn comes is passed over.
    public func delete<Objects: Sequence>(_ objects: Objects) where Objects.Element: ObjectBase {
        context.confinement.require("a Realm")
        _ = context.requireWrite("the Realm")
        context.delete(Array(objects))
    }

    /// Deletes all members.
    public func delete<Element: ObjectBase>(_ results: Results<Element>) {
        let table = results.storage.table
        guard results.storage.context === context else {
            Misuse.foreignObject(
                table.type.name, of: results.storage.context.coordinator.path, in: context.coordinator.path)
        }
        _ = context.requireWrite("the Realm")
        context.deleteRows(results.storage.keys.map { RowDeletion.Row(table: table.id, key: $0) })
    }

    /// Deletes all objects of all types, whatever they link to.
    public func deleteAll() {
        context.confinement.require("a Realm")
        context.deleteAll()
    }
}

extension ObjectBase {
    /// The Realm the object is in; nil when it is in none.
    public final var realm: Realm? { _context?.realm }

    /// An unmanaged object with values from a dictionary, an array in schema order or another object of its type.
    ///
    /// Keys of a dictionary that name no property have no effect. Traps on a value that does not fit.
    public convenience init(value: Any) {
        self.init()
        assign(UntypedInput(value, _model.schema), .single)
    }
}
