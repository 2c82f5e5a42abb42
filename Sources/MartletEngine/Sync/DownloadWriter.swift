import MartletSQLite
package import MartletValues

/// Writes downloaded data to the rows of a file, in one transaction, and records the changes for observers.
///
/// A value that is already stored is not written again, so observers are not notified of it.
package final class DownloadWriter {
    package let transaction: WriteTransaction
    package let schema: DatabaseSchema
    private var stores: [TableID: RowStore] = [:]
    private var defaults: [String: @Sendable () -> [SQLValue]] = [:]
    private let texts = TextArena()
    /// True if some type of the file has an `AnyRealmValue` property.
    fileprivate let hasAnyValues: Bool
    /// Encodes a value of an `AnyRealmValue` property, with the primary keys of the targets of its links. Called before
    /// a link is removed from the value.
    package var encodeAny: ((SQLValue) throws -> [UInt8])?
    /// Encodes a whole collection of a row in the same way. Called before a link is removed from the collection.
    package var encodeCollection: ((RowID, PropertySchema) throws -> [UInt8])?
    /// Writes a collection without the links to `target`, an object that leaves the file. A list or set loses the
    /// element, and a map gets nil. `whole` is the encoded collection with all of its links.
    package var removeTarget: ((RowID, PropertySchema, _ whole: [UInt8], _ target: RowID) throws -> Void)?

    /// - Parameter transaction: a transaction that has written nothing yet.
    package init(_ transaction: WriteTransaction) {
        self.transaction = transaction
        transaction.isDownload = true
        schema = transaction.coordinator.schema
        hasAnyValues = schema.tables.values.contains { $0.type.properties.contains(where: \.isAny) }
        for declaration in transaction.coordinator.options.types {
            defaults[declaration.type.name] = declaration.defaultRow
        }
    }

    package func store(_ table: TableID) -> RowStore {
        if let known = stores[table] { return known }
        let store = RowStore(schema[table], texts)
        stores[table] = store
        return store
    }

    // MARK: Reading

    /// The key of the object with a primary key. Nil if there is no such object.
    package func key(primaryKey value: SQLValue, in table: TableID) throws -> ObjectKey? {
        try transaction.handle.read { try store(table).key(primaryKey: value, $0) }
    }

    package func isEmpty(_ table: TableID) throws -> Bool {
        try transaction.handle.read { connection in
            let statement = try connection.statement("SELECT 1 FROM \(schema[table].layout.table) LIMIT 1")
            var isEmpty = true
            while try statement.step() { isEmpty = false }
            return isEmpty
        }
    }

    /// The key for a new object with a primary key.
    package func newKey(primaryKey value: SQLValue, in table: TableID) throws -> ObjectKey {
        if schema[table].layout.keyIsProperty, case .integer(let key) = value { return key }
        return try transaction.nextKey(in: table)
    }

    package func row(_ row: RowID) throws -> StoredRow? {
        try transaction.handle.read { try StoredRow(row.key, schema[row.table].layout, $0) }
    }

    /// The primary keys of all objects of a type.
    package func primaryKeys(in table: TableID) throws -> [SQLValue] {
        let layout = schema[table].layout
        guard let property = schema[table].type.primaryKey else { return [] }
        let column = layout.keyIsProperty ? layout.keyColumn : layout.column(of: property)?.name ?? layout.keyColumn
        return try transaction.handle.read { connection in
            let statement = try connection.statement("SELECT \(column) FROM \(layout.table)")
            var keys: [SQLValue] = []
            while try statement.step() { keys.append(statement.value(0)) }
            return keys
        }
    }

    /// The default values of a new object, by property. Null for properties without a column.
    package func defaultValues(_ table: TableID) -> [SQLValue] {
        let type = schema[table].type
        let columns = defaults[type.name]?() ?? TableLayout.zeroRow(type)
        var values = [SQLValue](repeating: .null, count: type.properties.count)
        for (column, value) in zip(schema[table].layout.columns, columns) { values[column.property] = value }
        return values
    }

    // MARK: Writing

    /// Inserts a row.
    ///
    /// - Parameter values: the values of all properties, by property.
    package func insert(_ row: RowID, _ values: [SQLValue]) throws {
        let layout = schema[row.table].layout
        _ = try store(row.table).insert(in: transaction) { binder in
            let position = Self.bind(values, layout.columns.map(\.property), layout, binder)
            if !layout.keyIsProperty { binder.bind(row.key, at: position) }
            return row.key
        } values: {
            values
        }
        transaction.recorder.insert(row.key, in: row.table)
    }

    /// Writes the values that differ from the stored values. Does nothing if there is no such row.
    package func update(_ row: RowID, _ changed: [PropertyIndex: SQLValue]) throws {
        guard let stored = try self.row(row) else { return }
        let different = changed.filter { stored.value($0.key) != $0.value }
        if different.isEmpty { return }
        let (type, layout) = (schema[row.table].type, schema[row.table].layout)
        var values = type.properties.map { stored.value($0.index) }
        for (property, value) in different { values[property] = value }
        try transaction.keepOldRow(row.key, layout, in: row.table)
        let store = store(row.table)
        let properties = layout.columns.map(\.property).filter { different[$0] != nil }
        try transaction.handle.read { connection in
            try store.update(row.key, mask: PropertyMask(properties), in: transaction, connection) {
                Self.bind(values, properties, layout, $0)
            } values: {
                values
            }
        }
        for property in properties { transaction.recorder.modify(row.key, property, in: row.table) }
    }

    /// Deletes objects that leave the file, with their embedded objects. Links to them become nil and are stored in
    /// `martlet_unresolved`. The deletion rules of the schema are not applied, because the service has applied them.
    package func delete(_ rows: [RowID]) throws {
        for row in rows {
            let host = try LeavingObject(row, self)
            #if MARTLET_SEEDED_BUGS
                let appliesRules = SeededSyncBug.isOn(.leavingCascades)
            #else
                let appliesRules = false
            #endif
            var deletion = RowDeletion(host, transaction, appliesRules: appliesRules)
            try deletion.run([row])
            try transaction.handle.read { connection in
                let links = UnresolvedLinks(connection)
                let positions = ListPositions(connection)
                for row in host.deleted {
                    try links.forgetLinks(of: row)
                    try positions.remove(of: row)
                }
            }
        }
    }

    // Binds properties in the order of their columns, and then the special floating-point values of the row. Returns
    // the position of the next parameter.
    private static func bind(
        _ values: [SQLValue], _ properties: [PropertyIndex], _ layout: TableLayout, _ binder: RowBinder
    ) -> Int {
        var position = 1
        for property in properties {
            binder.bind(values[property], at: position)
            position += 1
        }
        guard layout.hasSpecials else { return position }
        var specials: [UInt8] = []
        for column in layout.columns {
            guard case .real(let number) = values[column.property], FloatingSpecials.needsBits(number) else { continue }
            FloatingSpecials.append(number, of: column.property, to: &specials)
        }
        binder.bind(specials.isEmpty ? .null : .blob(specials), at: position)
        return position + 1
    }
}

extension PropertyMask {
    /// The mask that selects the given properties.
    fileprivate init(_ properties: [PropertyIndex]) {
        let high = properties.filter(Self.isFurther)
        self.init(
            word: properties.reduce(0) { $0 | Self.bit($1) }, highProperties: high.isEmpty ? nil : ColumnSet(high))
    }
}

/// An object that leaves the file. `RowDeletion` reports the links to the object, and this class stores them in
/// `martlet_unresolved`.
private final class LeavingObject: RowDeletionHost {
    private let writer: DownloadWriter
    private let row: RowID
    /// Nil for an embedded object, to which no link refers.
    private let primaryKey: SQLValue?
    var denials = DeletionDenials()

    init(_ row: RowID, _ writer: DownloadWriter) throws {
        (self.row, self.writer) = (row, writer)
        let table = writer.schema[row.table]
        primaryKey = try writer.transaction.handle.read { try table.primaryKey(of: row.key, $0) }
    }

    var schema: DatabaseSchema { writer.schema }
    let callsObservers = false
    var hasAnyValues: Bool { writer.hasAnyValues }

    func rows(of table: TableID) -> RowStore { writer.store(table) }

    func willDelete(_ row: RowID) {}
    func didDelete(_ row: RowID) {}
    func rowWasDeleted(_ row: RowID) { deleted.append(row) }
    func willDeleteCollection(_ collection: CollectionID) {}
    func flush() throws {}

    private(set) var deleted: [RowID] = []

    func change(_ property: PropertyIndex, of holder: RowID, isSilent: Bool, _ body: () throws -> Void) throws {
        let table = schema[holder.table]
        let whole = try wholeValue(property, of: holder)
        try writer.transaction.keepOldRow(holder.key, table.layout, in: holder.table)
        try body()
        writer.transaction.recorder.modify(holder.key, property, in: holder.table)
        guard let primaryKey else { return }
        #if MARTLET_SEEDED_BUGS
            if SeededSyncBug.isOn(.unresolvedLost) { return }
        #endif
        let place = UnresolvedLinks.Holder(holder, property: table.type.properties[property].name)
        try writer.transaction.handle.read { connection in
            let links = UnresolvedLinks(connection)
            guard let whole else { return try links.remember(place, target: primaryKey, in: row.table) }
            try links.add(place, target: primaryKey, in: row.table, whole: whole)
        }
    }

    /// The encoded value of an `AnyRealmValue` property with all of its links, including the unresolved links. Nil for
    /// other properties.
    private func wholeValue(_ property: PropertyIndex, of holder: RowID) throws -> [UInt8]? {
        let described = schema[holder.table].type.properties[property]
        guard described.isAny, let encodeAny = writer.encodeAny else { return nil }
        let place = UnresolvedLinks.Holder(holder, property: described.name)
        let known = try writer.transaction.handle.read { try UnresolvedLinks($0).whole(place) }
        guard known.isEmpty else { return known }
        return try writer.row(holder).map { try encodeAny($0.value(property)) }
    }

    func remove(_ targets: Set<SQLValue>, from collection: CollectionID) throws { try leave(collection) }
    func remove(_ link: AnyLink, from collection: CollectionID) throws { try leave(collection) }

    // Removes the object from a collection, and stores the whole collection in `martlet_unresolved`.
    private func leave(_ collection: CollectionID) throws {
        let property = schema[collection.table].type.properties[collection.property]
        let holder = RowID(table: collection.table, key: collection.owner)
        let place = UnresolvedLinks.Holder(holder, property: property.name)
        var whole = try writer.transaction.handle.read { try UnresolvedLinks($0).whole(place) }
        if whole.isEmpty { whole = try writer.encodeCollection?(holder, property) ?? [] }
        try writer.removeTarget?(holder, property, whole, row)
    }
}
