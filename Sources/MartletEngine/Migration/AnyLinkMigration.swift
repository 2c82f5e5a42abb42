import MartletSQLite
import MartletValues

/// Updates the links in `AnyRealmValue` values, and the index of these links, when a migration changes object types.
struct AnyLinkMigration {
    private let connection: Connection
    private let types: [(id: TableID, type: ObjectTypeSchema)]

    /// Returns nil if the file has no index of these links, because its values then contain no links.
    init?(_ connection: Connection, _ types: [(id: TableID, type: ObjectTypeSchema)]) throws {
        guard try AnyLinkIndex.exists(connection) else { return nil }
        self.connection = connection
        self.types = types
    }

    /// Builds the index again, because it contains the positions of properties, which may have changed.
    func rebuildIndex() throws {
        connection.finalizeStatements()
        let index = AnyLinkIndex(connection)
        try index.removeAll()
        try forEachValue { holder, value in
            try index.addCounts(try addingLocation(holder, value) { try AnyLink.counts(in: value) }, of: holder)
            return value
        }
    }

    /// Replaces the links in all values. Links for which `replacement` returns nil become null.
    func replace(_ replacement: (AnyLink) throws -> AnyLink?) throws {
        try forEachValue { holder, value in
            try addingLocation(holder, value) { try AnyLink.replacing(in: value, replacement) }
        }
    }

    /// Runs `body`. If the value is damaged, throws an error that names its type, property and object.
    private func addingLocation<R>(
        _ holder: AnyLinkIndex.Source, _ value: SQLValue, _ body: () throws -> R
    ) throws -> R {
        do {
            return try body()
        } catch is DamagedAnyValue {
            guard let type = types.first(where: { $0.id == holder.table })?.type else { throw DamagedAnyValue() }
            throw DamagedValue(type.name, type.properties[holder.property], holder.owner, holds: value)
                .error(path: connection.options.path)
        }
    }

    private func forEachValue(_ body: (AnyLinkIndex.Source, SQLValue) throws -> SQLValue) throws {
        for (id, type) in types {
            let layout = TableLayout(type)
            for property in type.properties where property.element == .scalar(.any) {
                if let column = layout.column(of: property.index) {
                    try forEachValue(of: column, layout) { owner, value in
                        try body(.init(id, property.index, owner), value)
                    }
                } else if property.isCollection {
                    try forEachChunk(of: layout.collection(of: property.index)) { owner, value in
                        try body(.init(id, property.index, owner), value)
                    }
                }
            }
        }
    }

    private func forEachValue(
        of column: TableLayout.Column, _ layout: TableLayout, _ body: (ObjectKey, SQLValue) throws -> SQLValue
    ) throws {
        let select = try connection.statement(
            "SELECT \(layout.rowIDColumn), \(column.name) FROM \(layout.table) "
                + "WHERE typeof(\(column.name)) = 'blob' AND \(column.name) >= ?1")
        select.bind([.blob([AnyValueTag.object.rawValue])])
        var changed: [(ObjectKey, SQLValue)] = []
        while try select.step() {
            let (key, value) = (select.integer(0), select.value(1))
            let new = try body(key, value)
            if new != value { changed.append((key, new)) }
        }
        for (key, value) in changed {
            try connection.run(
                "UPDATE \(layout.table) SET \(column.name) = ?2 WHERE \(layout.rowIDColumn) = ?1",
                [.integer(key), value])
        }
    }

    private func forEachChunk(
        of collection: TableLayout.Collection, _ body: (ObjectKey, SQLValue) throws -> SQLValue
    ) throws {
        let select = try connection.statement("SELECT owner, ordinal, count, elements FROM \(collection.chunkTable)")
        var changed: [[SQLValue]] = []
        while try select.step() {
            let count = Int(select.integer(2))
            guard let elements = select.withBlob(3, { ElementCodec.decode($0, count: count) }) else {
                select.reset()
                throw EngineError.damaged(
                    "a collection in \(collection.chunkTable) cannot be read", path: connection.options.path)
            }
            let new = try elements.map { try body(select.integer(0), $0) }
            if new != elements {
                changed.append([select.value(0), select.value(1), .blob(ElementCodec.encode(new))])
            }
        }
        for values in changed {
            try connection.run(
                "UPDATE \(collection.chunkTable) SET elements = ?3 WHERE owner = ?1 AND ordinal = ?2", values)
        }
    }
}
