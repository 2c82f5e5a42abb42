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
    public func object<Element: Object, Key: PersistableValue>(ofType type: Element.Type, forPrimaryKey key: Key) -> Element? {
        context.confinement.require("a Realm")
        let table = context.table(type)
        if table.type.primaryKey == nil { Misuse.noPrimaryKey(table.type.name) }
        return context.find(primaryKey: key._stored.raw, table).map { unsafeDowncast($0, to: Element.self) }
    }

    // MARK: Adding

    /// Adds an object and the unmanaged objects it links to. Inside a write transaction only.
    ///
    /// - Parameter update: what happens when an object with the same primary key exists.
    public func add(_ object: Object, update: UpdatePolicy = .error) {
        context.confinement.require("a Realm")
        _ = context.adopt(object, update)
    }

    /// Adds objects, as `add(_:update:)` does.
    public func add(_ objects: some Sequence<Object>, update: UpdatePolicy = .error) {
        for object in objects { add(object, update: update) }
    }

    /// Makes an object from a dictionary by property names, an array in schema order, or another object, nested to any
    /// depth, and adds it.
    ///
    /// Properties that are not given get their defaults; with an update policy, an existing object keeps them.
    @discardableResult
    public func create<Element: Object>(
        _ type: Element.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
    ) -> Element {
        context.confinement.require("a Realm")
        return unsafeDowncast(context.create(ModelClass.of(type), value, update), to: Element.self)
    }

    // MARK: Deleting

    /// Deletes an object. What it owns goes with it; links to it become nil, and lists and sets lose it.
    public func delete(_ object: ObjectBase) { context.delete(object) }

    /// Deletes objects.
    public func delete(_ objects: some Sequence<ObjectBase>) {
        for object in Array(objects) where !object.isInvalidated { context.delete(object) }
    }

    /// Deletes all members.
    public func delete<Element: ObjectBase>(_ results: Results<Element>) {
        let table = results.storage.table
        let keys = Array(results.storage.keys)
        for key in keys where table.exists(key) { context.deleteRow(key, table) }
    }

    /// Deletes the objects of a list.
    public func delete<Element: ObjectBase>(_ list: List<Element>) {
        for object in Array(list) where !object.isInvalidated { context.delete(object) }
    }

    /// Deletes all objects of all types.
    public func deleteAll() {
        context.confinement.require("a Realm")
        _ = context.requireWrite("the Realm")
        for table in context.tables.values.sorted(by: { $0.id < $1.id }) where !table.type.isEmbedded {
            for key in context.keys("SELECT \(table.layout.keyColumn) FROM \(table.layout.table)", []) where table.exists(key) {
                context.deleteRow(key, table)
            }
        }
    }
}

extension ObjectTable {
    func exists(_ key: ObjectKey) -> Bool {
        context.read { try $0.integer("SELECT 1 FROM \(layout.table) WHERE \(layout.keyColumn) = ?1", [.integer(key)]) == 1 }
    }
}

extension ObjectBase {
    /// The Realm the object is in; nil when it is in none.
    public final var realm: Realm? { _context.map { Realm($0) } }

    /// An unmanaged object with values from a dictionary, an array in schema order or another object.
    public convenience init(value: Any) {
        self.init()
        assign(value, .error)
    }
}

extension ObjectBase: CustomStringConvertible {
    /// The class and its properties, links by their class alone.
    public final var description: String {
        let schema = _model.schema
        if isInvalidated { return "\(schema.name) (invalidated)" }
        let lines = schema.properties.map { property -> String in
            switch property.kind {
            case .single where property.isLink: return "\(property.name) = \(untypedValue(property) == nil ? "nil" : "\(property.element.target ?? "")(…)")"
            case .single: return "\(property.name) = \(untypedValue(property) ?? "nil")"
            default: return "\(property.name) = \(property.typeDescription)"
            }
        }
        return "\(schema.name) { \(lines.joined(separator: "; ")) }"
    }
}
