import MartletEngine
import MartletSQLite
import Synchronization

/// One object type in one Realm, with its class, its table and its living accessors.
final class ObjectTable {
    let id: TableID
    let type: ObjectTypeSchema
    let layout: TableLayout
    /// The properties that link to this type. Updated when types are added to the open file.
    private(set) var incoming: [DatabaseSchema.Incoming]
    /// The full-text indexes. Updated when a program with other full-text properties opens the file.
    private(set) var fullTextIndexes: [TableLayout.FullTextIndex]
    /// Nil if the program has no class for this type of the file.
    let model: ModelClass?
    private let metatype: ObjectBase.Type?
    /// The model used instead if `model` is nil. Created when first needed. In a mutex, because several threads use a frozen
    /// Realm.
    private let fallbackModel = Mutex<ModelClass?>(nil)
    let identity = IdentityMap()
    /// The context owns this table, and the objects keep the context alive.
    unowned(unsafe) let context: RealmContext
    /// The integer primary key, which is also the object key; -1 if the runtime chooses object keys.
    let integerKey: PropertyIndex
    /// The single `AnyRealmValue` properties, whose values may contain links.
    let anyColumns: [PropertyIndex]
    /// True if the type has such properties, or collections of such values.
    let holdsAny: Bool
    /// True if a column contains raw values of an enum. An accessor cannot represent a stored raw value without a case.
    let hasEnumColumns: Bool
    let insertSQL: String
    let selectSQL: String
    @exclusivity(unchecked) private var insertStatement: Statement?
    @exclusivity(unchecked) private var selectStatement: Statement?
    @exclusivity(unchecked) private var findStatement: Statement?
    private var updates: [UInt64: Update] = [:]

    /// The statement that writes a set of properties.
    struct Update {
        let sql: String
        let isEmpty: Bool
        var statement: Statement?
    }
    /// The further accessors of rows, in addition to the one in `identity`: objects that were added as an update of an existing
    /// row.
    private var furtherAccessors: [ObjectKey: [WeakObject]] = [:]

    init(_ table: DatabaseSchema.Table, _ model: ModelClass?, _ context: RealmContext) {
        id = table.id
        type = table.type
        layout = table.layout
        incoming = table.incoming
        fullTextIndexes = table.layout.fullTextIndexes
        self.model = model
        metatype = model?.metatype
        self.context = context
        integerKey = table.type.hasIntegerKey ? table.type.primaryKey ?? -1 : -1
        anyColumns = table.type.properties.filter { $0.isAny && $0.isColumn }.map(\.index)
        holdsAny = table.type.properties.contains(where: \.isAny)
        hasEnumColumns = table.type.properties.contains { $0.isColumn && $0.element.isEnum }
        specialsPosition = table.layout.hasSpecials ? table.layout.columns.count : nil
        keyPosition = table.layout.columns.count + (table.layout.hasSpecials ? 1 : 0)
        insertSQL = table.layout.insert
        selectSQL = table.layout.selectByKey
    }

    /// Updates the links to this type and its full-text indexes after a change of the file's schema.
    func update(from table: DatabaseSchema.Table) {
        incoming = table.incoming
        fullTextIndexes = table.layout.fullTextIndexes
    }

    // The statements of frequent operations are cached here, because finding one by its text costs as much as running it.

    func insertStatement(_ connection: Connection) throws -> Statement {
        if let known = insertStatement, known.belongs(to: connection) { return known }
        let statement = try connection.statement(insertSQL)
        insertStatement = statement
        return statement
    }

    func selectStatement(_ connection: Connection) throws -> Statement {
        if let known = selectStatement, known.belongs(to: connection) { return known }
        let statement = try connection.statement(selectSQL)
        selectStatement = statement
        return statement
    }

    /// The statement that reads a row by its primary key.
    func findStatement(_ connection: Connection) throws -> Statement {
        if let known = findStatement, known.belongs(to: connection) { return known }
        guard let property = type.primaryKey, let column = layout.column(of: property) else {
            Misuse.noPrimaryKey(type.name)
        }
        let statement = try connection.statement(
            "SELECT \(layout.rowColumns) FROM \(layout.table) WHERE \(column.name) = ?1")
        findStatement = statement
        return statement
    }

    /// Releases the cached statements, because other code continues to use their connection.
    func forgetStatements() {
        insertStatement = nil
        selectStatement = nil
        findStatement = nil
        updates = [:]
    }

    /// The position of the key in a selected row.
    let keyPosition: Int
    /// The position in a selected row of the bits of floating-point values that a column cannot store; nil without such values.
    let specialsPosition: Int?

    /// The statement that writes the properties of `mask`; nil if none of them is a column.
    func updateStatement(_ mask: UInt64, _ connection: Connection) throws -> Statement? {
        if let known = updates[mask] {
            if known.isEmpty { return nil }
            if let statement = known.statement, statement.belongs(to: connection) { return statement }
        }
        let positions = layout.columns.indices.filter {
            mask & (1 << UInt64(min(layout.columns[$0].property, 63))) != 0
        }
        let sql = layout.update(positions)
        let statement = positions.isEmpty ? nil : try connection.statement(sql)
        updates[mask] = Update(sql: sql, isEmpty: positions.isEmpty, statement: statement)
        return statement
    }

    /// The accessor of a row. A new accessor reads its values when they are first needed.
    func object(_ key: ObjectKey) -> ObjectBase {
        if let known = identity.object(key) { return known }
        if context.isFrozen { return frozenObject(key) ?? missing(key) }
        let object = makeAccessor(key)
        identity.insert(object, key)
        return object
    }

    /// The accessors of distinct rows.
    func accessors(_ keys: [ObjectKey]) -> [ObjectBase] { identity.objects(keys, orMake: makeAccessor) }

    /// The model of the type, or the fallback model if the program has no class for it.
    var anyModel: ModelClass {
        if let model { return model }
        let made = fallbackModel.withLock { known in
            if known == nil { known = context.makeFallbackModel(type) }
            return known
        }
        guard let made else { Misuse.unknownType(type.name) }
        return made
    }

    func makeAccessor(_ key: ObjectKey) -> ObjectBase {
        let object = (metatype ?? anyModel.metatype).init(_managed: ())
        object._table = self
        object._context = context
        object._key = key
        object._state = .stale
        return object
    }

    func exists(_ key: ObjectKey) -> Bool {
        context.read {
            try $0.integer("SELECT 1 FROM \(layout.table) WHERE \(layout.keyColumn) = ?1", [.integer(key)]) == 1
        }
    }

    private var furtherAccessorLimit = 64

    private struct WeakObject {
        weak var object: ObjectBase?
    }

    var hasFurtherAccessors: Bool { !furtherAccessors.isEmpty }

    /// Calls `body` with the living accessors of a row. There is more than one only after an update by `add`.
    func forEachAccessor(_ key: ObjectKey, _ body: (ObjectBase) -> Void) {
        if let object = identity.object(key) { body(object) }
        guard !furtherAccessors.isEmpty, let others = furtherAccessors[key] else { return }
        let living = Self.living(others)
        furtherAccessors[key] = living.isEmpty ? nil : living.map { WeakObject(object: $0) }
        for object in living { body(object) }
    }

    private static func living(_ references: [WeakObject]) -> [ObjectBase] {
        references.compactMap(\.object).filter { $0._state != .invalidated }
    }

    /// The living accessors of all rows.
    var accessors: [ObjectBase] { identity.all() + furtherAccessors.values.flatMap { $0.compactMap(\.object) } }

    /// Makes an unmanaged object a further accessor of a row.
    func bindFurtherAccessor(_ object: ObjectBase, _ key: ObjectKey) {
        object.keepHash(type)
        object._table = self
        object._context = context
        object._key = key
        object._state = .live
        keepFurtherAccessor(object, key)
    }

    private func keepFurtherAccessor(_ object: ObjectBase, _ key: ObjectKey) {
        if furtherAccessors.count >= furtherAccessorLimit {
            furtherAccessors = furtherAccessors.filter { !Self.living($0.value).isEmpty }
            furtherAccessorLimit = max(64, 2 * furtherAccessors.count)
        }
        furtherAccessors[key, default: []].append(WeakObject(object: object))
    }

    /// Makes an invalidated object an accessor of its row again.
    func restore(_ object: ObjectBase) {
        object._state = .stale
        if identity.object(object._key) == nil {
            identity.insert(object, object._key)
        } else {
            keepFurtherAccessor(object, object._key)
        }
    }

    /// Makes an object that is being added the accessor of its row.
    func bind(_ object: ObjectBase, _ key: ObjectKey) {
        object.keepHash(type)
        object._table = self
        object._context = context
        object._key = key
        object._addedIn = context.writeNumber
        identity.insert(object, key)
    }
}
