import MartletEngine
import MartletSQLite

/// One object type in one Realm: its class, its table, its living accessors.
final class ObjectTable {
    let id: TableID
    let type: ObjectTypeSchema
    let layout: TableLayout
    let incoming: [DatabaseSchema.Incoming]
    /// Nil for types of the file that the program has no class for.
    let model: ModelClass?
    let identity = IdentityMap()
    /// Owns this table; objects keep it alive.
    unowned(unsafe) let context: RealmContext
    let insertSQL: String
    let selectSQL: String
    private var updateSQL: [UInt64: (sql: String, positions: [Int])] = [:]

    init(_ table: DatabaseSchema.Table, _ model: ModelClass?, _ context: RealmContext) {
        id = table.id
        type = table.type
        layout = table.layout
        incoming = table.incoming
        self.model = model
        self.context = context
        insertSQL = table.layout.insert
        selectSQL = table.layout.selectByKey
    }

    /// The statement that writes the properties of `mask`, and the columns it sets.
    func update(_ mask: UInt64) -> (sql: String, positions: [Int]) {
        if let known = updateSQL[mask] { return known }
        let positions = layout.columns.indices.filter {
            mask & (1 << UInt64(min(layout.columns[$0].property, 63))) != 0
        }
        let entry = (layout.update(positions), positions)
        updateSQL[mask] = entry
        return entry
    }

    /// The accessor of a row, made if there is none. Its values are read when first needed.
    func object(_ key: ObjectKey) -> ObjectBase {
        if let known = identity.object(key) { return known }
        guard let model else { Misuse.unknownType(type.name) }
        let object = model.metatype.init(_managed: ())
        bind(object, key)
        object._state = .stale
        return object
    }

    /// Makes `object` the accessor of a row.
    func bind(_ object: ObjectBase, _ key: ObjectKey) {
        object._table = self
        object._context = context
        object._key = key
        identity.insert(object, key)
    }
}
