import MartletEngine
import MartletSQLite
import Synchronization

/// One object type in one Realm: its class, its table, its living accessors.
final class ObjectTable {
    let id: TableID
    let type: ObjectTypeSchema
    let layout: TableLayout
    /// Properties that lead here; more when types are added to the open file.
    private(set) var incoming: [DatabaseSchema.Incoming]
    /// Full-text indexes; others when a build that searches more, or less, has opened the file.
    private(set) var words: [TableLayout.Words]
    /// Nil for types of the file that the program has no class for.
    let model: ModelClass?
    private let metatype: ObjectBase.Type?
    /// Stands in for the class then, once it is needed. Frozen objects are used by several threads.
    private let standIn = Mutex<ModelClass?>(nil)
    let identity = IdentityMap()
    /// Owns this table; objects keep it alive.
    unowned(unsafe) let context: RealmContext
    /// The property that is the object key itself; -1 where the runtime chooses keys.
    let integerKey: PropertyIndex
    /// Properties of any type, whose values may be links; lists, sets and maps aside.
    let anyColumns: [PropertyIndex]
    /// True when there are some, or collections of such values.
    let holdsAny: Bool
    /// True when a column holds raw values of an enum: an accessor may not have the case of what is stored.
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
    /// Accessors beside the one in `identity`: objects that were added as an update of a row that is there already.
    private var twins: [ObjectKey: [WeakObject]] = [:]

    init(_ table: DatabaseSchema.Table, _ model: ModelClass?, _ context: RealmContext) {
        id = table.id
        type = table.type
        layout = table.layout
        incoming = table.incoming
        words = table.layout.words
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

    /// Takes in what others have added to the file around this type.
    func follow(_ table: DatabaseSchema.Table) {
        incoming = table.incoming
        words = table.layout.words
    }

    // The statements of the hot paths are kept here: finding one by its text costs as much as running it.

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

    /// Reads a row by the user's primary key.
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

    /// Lets go of statements whose connection others go on using.
    func forgetStatements() {
        insertStatement = nil
        selectStatement = nil
        findStatement = nil
        updates = [:]
    }

    /// The position of the key in a full row.
    let keyPosition: Int
    /// Where a row that is selected has the parts of floating-point values that columns cannot hold.
    let specialsPosition: Int?

    /// The statement that writes the properties of `mask`; nil when none of them is a column.
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

    /// The accessor of a row, made if there is none. Its values are read when first needed.
    func object(_ key: ObjectKey) -> ObjectBase {
        if let known = identity.object(key) { return known }
        if context.isFrozen { return frozenObject(key) ?? missing(key) }
        let object = makeAccessor(key)
        identity.insert(object, key)
        return object
    }

    /// The accessors of different rows.
    func accessors(_ keys: [ObjectKey]) -> [ObjectBase] { identity.objects(keys, orMake: makeAccessor) }

    /// The class of the type, or what stands in for it.
    var anyModel: ModelClass {
        if let model { return model }
        let made = standIn.withLock { known in
            if known == nil { known = context.standIn(type) }
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

    private var twinLimit = 64

    private struct WeakObject {
        weak var object: ObjectBase?
    }

    var hasTwins: Bool { !twins.isEmpty }

    /// The living accessors of a row: one, but for updates by `add`.
    func forEachAccessor(_ key: ObjectKey, _ body: (ObjectBase) -> Void) {
        if let object = identity.object(key) { body(object) }
        guard !twins.isEmpty, let others = twins[key] else { return }
        let living = Self.living(others)
        twins[key] = living.isEmpty ? nil : living.map { WeakObject(object: $0) }
        for object in living { body(object) }
    }

    private static func living(_ twins: [WeakObject]) -> [ObjectBase] {
        twins.compactMap(\.object).filter { $0._state != .invalidated }
    }

    /// The living accessors of all rows.
    var accessors: [ObjectBase] { identity.all() + twins.values.flatMap { $0.compactMap(\.object) } }

    /// Makes an unmanaged object a further accessor of a row.
    func bindTwin(_ object: ObjectBase, _ key: ObjectKey) {
        object.keepHash(type)
        object._table = self
        object._context = context
        object._key = key
        object._state = .live
        keepTwin(object, key)
    }

    private func keepTwin(_ object: ObjectBase, _ key: ObjectKey) {
        if twins.count >= twinLimit {
            twins = twins.filter { !Self.living($0.value).isEmpty }
            twinLimit = max(64, 2 * twins.count)
        }
        twins[key, default: []].append(WeakObject(object: object))
    }

    /// Makes an invalidated object an accessor of its row again.
    func revive(_ object: ObjectBase) {
        object._state = .stale
        if identity.object(object._key) == nil {
            identity.insert(object, object._key)
        } else {
            keepTwin(object, object._key)
        }
    }

    /// Makes `object`, which is being added, the accessor of a row.
    func bind(_ object: ObjectBase, _ key: ObjectKey) {
        object.keepHash(type)
        object._table = self
        object._context = context
        object._key = key
        object._addedIn = context.writeNumber
        identity.insert(object, key)
    }
}
