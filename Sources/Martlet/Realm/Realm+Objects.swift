import MartletEngine
import MartletValues

extension Realm {
    // MARK: Finding

    /// All objects of a class as live, lazy results, in the order of their object keys (row ids).
    public func objects<Element: Object>(_ type: Element.Type) -> Results<Element> {
        context.confinement.require("a Realm")
        let table = context.table(type)
        return Results(ResultsStorage(context, table, QueryPlan(table: table.id)))
    }

    // MARK: Adding

    /// Adds an object and the unmanaged objects that it links to. Traps outside of a write transaction.
    ///
    /// If an object with the same primary key exists and `update` permits updates, the values are assigned to the
    /// existing row. `object` then becomes a live object of that row. Linked objects without a primary key are always
    /// added as new objects.
    ///
    /// - Parameters:
    ///   - object: An unmanaged object. An object that is already in this Realm is not changed.
    ///   - update: What happens if an object with the same primary key exists. For a class without a primary key, every
    ///     policy except `.error` traps.
    public func add(_ object: Object, update: UpdatePolicy = .error) {
        context.confinement.require("a Realm")
        _ = context.requireWrite("the Realm")
        if update != .error { requirePrimaryKey(type(of: object)) }
        _ = context.addIfUnmanaged(object, update)
    }

    /// Adds objects, as `add(_:update:)` does.
    public func add<Objects: Sequence>(_ objects: Objects, update: UpdatePolicy = .error)
    where Objects.Element: Object {
        context.confinement.require("a Realm")
        _ = context.requireWrite("the Realm")
        for object in objects { add(object, update: update) }
    }

    private func requirePrimaryKey(_ type: ObjectBase.Type) {
        let table = context.table(type)
        if table.type.primaryKey == nil { Misuse.noPrimaryKey(table.type.name) }
    }

    /// Creates an object from a dictionary with property names, an array in schema order, or another object of the same
    /// type, and adds the object. Nested values can also be dictionaries, arrays and objects.
    ///
    /// In a new object, properties that are missing in `value` get their defaults. If `update` permits updates and an
    /// object with the same primary key exists, the missing properties of that object keep their values. With
    /// `.modified`, a map property that is given as a dictionary also keeps the entries with other keys.
    ///
    /// Objects among the values are linked if they are in this Realm. All other objects are copied. Unknown keys are
    /// ignored; `create(_:value:update:unknownKeys:)` can refuse unknown keys. A value of the wrong type traps. The
    /// message names the property, the path of the wrong value inside `value`, and the wrong value.
    @discardableResult
    public func create<Element: Object>(
        _ type: Element.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
    ) -> Element {
        context.confinement.require("a Realm")
        if update != .error { requirePrimaryKey(type) }
        return unsafeDowncast(context.create(ModelClass.of(type), value, update), to: Element.self)
    }

    // MARK: Deleting

    /// Deletes an object and its embedded objects. Links to the object become nil, and the object is removed from lists
    /// and sets.
    ///
    /// `onDelete` and `deleteRule` in the schema may delete further objects, or deny the deletion. A later change in
    /// the same write can remove the reason for the denial. If the reason remains, the write throws
    /// `Realm.Error.deletionDenied` at its end.
    public func delete(_ object: ObjectBase) { context.delete(object) }

    /// Deletes objects in order. Skips objects that were already deleted, either before this call or together with an
    /// earlier object.
    public func delete<Objects: Sequence>(_ objects: Objects) where Objects.Element: ObjectBase {
        context.confinement.require("a Realm")
        _ = context.requireWrite("the Realm")
        context.delete(Array(objects))
    }

    /// Deletes all objects of a result.
    public func delete<Element: ObjectBase>(_ results: Results<Element>) {
        let table = results.storage.table
        guard results.storage.context === context else {
            Misuse.foreignObject(
                table.type.name, of: results.storage.context.coordinator.path, in: context.coordinator.path)
        }
        _ = context.requireWrite("the Realm")
        context.deleteRows(results.storage.keys.map { RowID(table: table.id, key: $0) })
    }

    /// Deletes all objects of all types. Deletion rules are not applied.
    public func deleteAll() {
        context.confinement.require("a Realm")
        context.deleteAll()
    }
}

extension ObjectBase {
    /// The Realm of the object; nil if the object is unmanaged.
    public final var realm: Realm? { _context?.realm }

    /// Creates an unmanaged object from a dictionary, an array in schema order or another object of the same type.
    ///
    /// Unknown keys of a dictionary are ignored. A value of the wrong type traps.
    public convenience init(value: Any) {
        self.init()
        assignNested(UntypedInput(value, _model.schema), .single)
    }
}
