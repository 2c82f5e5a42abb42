import MartletEngine

/// The object types of the file in one Realm: their tables, and the classes of the program.
struct ModelTables {
    private(set) var schema: DatabaseSchema
    /// The epoch that the file had when `schema` was read.
    private(set) var epoch: Int64
    private(set) var models: [String: ModelClass]
    private(set) var all: [TableID: ObjectTable] = [:]
    /// True if a type has `AnyRealmValue` properties, whose values may contain links.
    private(set) var hasAnyProperties = false
    /// The tables that were replaced by new tables of the same types. They are kept alive, because older objects refer
    /// to these tables without retaining them.
    private var replacedTables: [ObjectTable] = []
    private var byClass: [ObjectIdentifier: ObjectTable] = [:]
    private let texts = TextArena()

    init(_ models: [String: ModelClass], _ schema: DatabaseSchema, epoch: Int64) {
        self.models = models
        self.schema = schema
        self.epoch = epoch
    }

    /// Adds classes. If the class of a type is already known, the known class is kept.
    mutating func add(_ others: [String: ModelClass]) {
        models.merge(others) { known, _ in known }
    }

    /// Adopts a schema of the file. A type whose class is known keeps its table. A type without a class gets a new
    /// table if a class was added or if its description has changed.
    mutating func adopt(_ schema: DatabaseSchema, epoch: Int64, in context: RealmContext) {
        (self.schema, self.epoch) = (schema, epoch)
        for table in schema.tables.values {
            let model = models[table.type.name]
            if let known = all[table.id], known.model != nil || model == nil && known.type == table.type {
                known.update(from: table)
                continue
            }
            if let known = all[table.id] {
                known.accessors.forEach(context.invalidate)
                // Results that refer to this table are not notified of later changes, so they always query again.
                known.changeCount = .max
                replacedTables.append(known)
            }
            let objectTable = ObjectTable(table, model, context, texts)
            all[table.id] = objectTable
            if let model { byClass[ObjectIdentifier(model.metatype)] = objectTable }
        }
        hasAnyProperties = all.values.contains { $0.type.properties.contains(where: \.isAny) }
    }

    func table(_ type: ObjectBase.Type) -> ObjectTable {
        guard let table = byClass[ObjectIdentifier(type)] else { Misuse.unknownType("\(type)") }
        return table
    }

    func table(_ id: TableID) -> ObjectTable {
        guard let table = all[id] else { Misuse.unknownType("number \(id)") }
        return table
    }

    func table(named name: String) -> ObjectTable? { schema[name].flatMap { all[$0.id] } }

    /// True if both values have tables for the same classes.
    func hasClasses(of other: ModelTables) -> Bool {
        byClass.count == other.byClass.count && byClass.keys.allSatisfy { other.byClass[$0] != nil }
    }
}
