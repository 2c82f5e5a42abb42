import MartletSQLite
import MartletValues

/// Determines which rows of embedded types contain which other rows. Only the rows of some types, the *included types*,
/// are examined. These are either all embedded types, or only the embedded types whose objects can
/// contain objects of their own type, directly or through other types. The rows of all other embedded types form trees
/// of limited depth.
package struct Containment {
    /// The rows that a row directly contains, for each row that contains rows.
    private var contents: [RowID: [RowID]] = [:]
    /// Rows whose owner has a type that is not included, for example a top-level type.
    private var roots: Set<RowID> = []
    /// The rows in `roots`, and all rows that they contain at any depth.
    private var reached: Set<RowID> = []
    /// The keys of the rows of included types that are not in `reached`, in ascending order.
    private(set) var unreachable: [TableID: [ObjectKey]] = [:]
    /// The rows in `unreachable`, as a set.
    private var unreachableRows: Set<RowID> = []
    /// The rows that contain themselves, and the rows that contain such a row, directly or through other rows.
    private var rowsLeadingToCycles: Set<RowID> = []

    /// Reads the properties of `schema` that contain embedded objects.
    ///
    /// - Parameters:
    ///   - allTypes: true to include all embedded types.
    ///   - former: reads the version before a migration. For a table and a property of `schema`, this closure returns
    ///     two things of that version, the layout of the table and the property; nil if that version has no such
    ///     property. If `former` is given, `unreachable` is empty.
    init(
        _ schema: DatabaseSchema, _ connection: Connection, allTypes: Bool = false,
        _ former: ((DatabaseSchema.Table, PropertySchema) -> (TableLayout, PropertySchema)?)? = nil
    ) throws {
        let included = allTypes ? schema.embeddedTypes : schema.typesThatContainThemselves
        if included.isEmpty { return }
        for table in schema.tables.values {
            for property in table.type.properties where property.element.isEmbedded {
                guard let target = property.element.target.flatMap({ schema[$0]?.id }), included.contains(target)
                else { continue }
                var (layout, own) = (table.layout, property)
                if let former {
                    guard let known = former(table, property) else { continue }
                    (layout, own) = known
                }
                // If the type of the owner is not included, the contained row is a root, and the key of the owner is
                // not needed. The key is not read, because the migration may already have changed its column.
                let owner = included.contains(table.id) ? layout.keyColumn : nil
                try Self.read(layout, own, owner, connection) { owner, key in
                    let part = RowID(table: target, key: key)
                    if let owner {
                        contents[RowID(table: table.id, key: owner), default: []].append(part)
                    } else {
                        roots.insert(part)
                    }
                }
            }
        }
        findReached()
        findRowsLeadingToCycles()
        if former != nil { return }
        for id in included {
            guard let layout = schema.tables[id]?.layout else { continue }
            let keys = try connection.keys("SELECT \(layout.keyColumn) FROM \(layout.table) ORDER BY 1", [])
            unreachable[id] = keys.filter { !reached.contains(RowID(table: id, key: $0)) }
        }
        unreachableRows = Set(unreachable.flatMap { id, keys in keys.map { RowID(table: id, key: $0) } })
    }

    private static func read(
        _ layout: TableLayout, _ property: PropertySchema, _ owner: String?, _ connection: Connection,
        _ body: (_ owner: ObjectKey?, _ target: ObjectKey) -> Void
    ) throws {
        let sql: String
        if let column = layout.column(of: property.index)?.name {
            sql = "SELECT \(owner ?? "0"), \(column) FROM \(layout.table) WHERE \(column) IS NOT NULL"
        } else if property.isCollection, let targets = layout.collection(of: property.index).targetTable {
            sql = "SELECT owner, target FROM \(targets)"
        } else {
            return
        }
        let statement = try connection.statement(sql)
        while try statement.step() {
            body(owner == nil ? nil : statement.integer(0), statement.integer(1))
        }
    }

    private mutating func findReached() {
        var open = Array(roots)
        reached = roots
        while let row = open.popLast() {
            for part in contents[row] ?? [] where reached.insert(part).inserted { open.append(part) }
        }
    }

    // Repeatedly removes rows that contain none of the remaining rows. The rows that are left at the end lead to
    // cycles.
    private mutating func findRowsLeadingToCycles() {
        var counts = contents.mapValues(\.count)
        var owners: [RowID: [RowID]] = [:]
        for (row, parts) in contents { for part in parts { owners[part, default: []].append(row) } }
        var done = owners.keys.filter { contents[$0] == nil }
        while let part = done.popLast() {
            for row in owners[part] ?? [] {
                counts[row, default: 0] -= 1
                guard counts[row] == 0 else { continue }
                counts[row] = nil
                done.append(row)
            }
        }
        rowsLeadingToCycles = Set(counts.keys)
    }

    /// True for a row of an included type that no top-level object contains at any depth.
    package func isUnreachable(_ row: RowID) -> Bool { unreachableRows.contains(row) }

    /// The given unreachable rows, and all unreachable rows that they contain at any depth.
    package func unreachableContents(of rows: [RowID]) -> Set<RowID> {
        var found = Set(rows)
        var open = rows
        while let row = open.popLast() {
            for part in contents[row] ?? [] where unreachableRows.contains(part) && found.insert(part).inserted {
                open.append(part)
            }
        }
        return found
    }

    /// True if this row directly contains a row that a top-level object also contains at any depth.
    package func sharesContents(_ row: RowID) -> Bool { contents[row]?.contains(where: reached.contains) ?? false }

    /// A row that contains itself, and that a top-level object contains at any depth. Nil if there is no such row.
    package var reachedCycle: RowID? { first(rowsLeadingToCycles.intersection(reached)).flatMap { cycle(from: $0) } }

    /// Follows the contents of a row to a cycle, and returns the row with the lowest table and key in this cycle.
    /// Returns nil if the contents lead to no cycle.
    package func cycle(from row: RowID) -> RowID? {
        guard rowsLeadingToCycles.contains(row) else { return nil }
        var path: [RowID] = []
        var positions: [RowID: Int] = [:]
        var next: RowID? = row
        while let row = next, positions[row] == nil {
            positions[row] = path.count
            path.append(row)
            next = contents[row]?.first(where: rowsLeadingToCycles.contains)
        }
        return next.flatMap { positions[$0] }.flatMap { first(path[$0...]) }
    }

    private func first(_ rows: some Sequence<RowID>) -> RowID? {
        rows.min { ($0.table, $0.key) < ($1.table, $1.key) }
    }
}

extension DatabaseSchema {
    fileprivate var embeddedTypes: Set<TableID> { Set(tables.values.filter(\.type.isEmbedded).map(\.id)) }

    /// The embedded types whose objects can contain objects of the same type, directly or through other types.
    fileprivate var typesThatContainThemselves: Set<TableID> {
        let contents = tables.mapValues { table in
            Set(
                table.type.properties.filter(\.element.isEmbedded).compactMap {
                    $0.element.target.flatMap { self[$0]?.id }
                })
        }
        return Set(
            contents.keys.filter { table in
                var (open, known) = (Array(contents[table] ?? []), Set<TableID>())
                while let next = open.popLast() {
                    if known.insert(next).inserted { open += contents[next] ?? [] }
                }
                return known.contains(table)
            })
    }
}

extension EngineError {
    /// The error for an object that contains itself and whose type becomes embedded. `name` is the name of the object
    /// in messages, and `type` is the name of its type.
    package static func containsItself(_ name: String, _ type: String, path: String) -> EngineError {
        EngineError(
            .schemaMismatch, path: path,
            "'\(type)' is embedded now, and \(name) contains itself, so it cannot be copied; in the "
                + "'migrationBlock', assign each owner a dictionary of values that does not lead back to the object")
    }
}
