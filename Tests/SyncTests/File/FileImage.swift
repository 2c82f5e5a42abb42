import MartletEngine
import MartletSQLite
import MartletValues

@testable import MartletSync

/// The rows and collections of all types of a file.
struct FileImage {
    private var tables: [TableID: [ObjectKey: [SQLValue]]] = [:]
    private var layouts: [TableID: TableLayout] = [:]
    private var collections: [CollectionID: [SQLValue]] = [:]

    init() {}

    init(_ handle: SnapshotHandle, _ schema: DatabaseSchema) throws {
        for (id, table) in schema.tables {
            layouts[id] = table.layout
            tables[id] = try handle.read { connection in
                var rows: [ObjectKey: [SQLValue]] = [:]
                for key in try Self.keys(table, connection) {
                    guard let row = try StoredRow(key, table.layout, connection) else { continue }
                    rows[key] = table.layout.columns.map { row.value($0.property) }
                }
                return rows
            }
            for collection in table.layout.collections {
                for key in tables[id]?.keys ?? [:].keys {
                    let elements = try handle.read { try Self.elements(of: key, collection.chunkTable, $0) }
                    collections[CollectionID(table: id, property: collection.property, owner: key)] = elements
                }
            }
        }
    }

    private static func elements(
        of owner: ObjectKey, _ table: String, _ connection: StoreConnection
    ) throws -> [SQLValue] {
        var chunks = try ChunkedElements(owner: owner, table: table, connection)
        return try chunks.all {
            try ChunkedElements.load(owner: owner, ordinal: $0, count: $1, table: table, connection)
        }
    }

    private static func keys(_ table: DatabaseSchema.Table, _ connection: StoreConnection) throws -> [ObjectKey] {
        let statement = try connection.statement("SELECT \(table.layout.keyColumn) FROM \(table.layout.table)")
        var keys: [ObjectKey] = []
        while try statement.step() { keys.append(statement.integer(0)) }
        return keys
    }

    /// Applies the changes to a copy of this image, and compares the copy with `new`. Returns the first difference, or
    /// the first change that cannot be applied. Returns nil if the copy equals `new`.
    func difference(after changes: ChangeSet, _ new: FileImage) -> String? {
        for (id, rows) in new.tables {
            var mine = tables[id] ?? [:]
            let change = changes.tables[id] ?? TableChanges()
            for key in change.deleted {
                if mine.removeValue(forKey: key) == nil { return "row \(key) is deleted, but missing" }
            }
            for key in change.inserted {
                if mine[key] != nil { return "row \(key) of table \(id) is inserted twice" }
                mine[key] = rows[key]
            }
            for group in change.modified {
                for key in group.keys {
                    for (position, column) in (layouts[id]?.columns ?? []).enumerated()
                    where group.columns.contains(column.property) {
                        guard let value = rows[key]?[position] else { return "row \(key) is modified, but missing" }
                        mine[key]?[position] = value
                    }
                }
            }
            for (key, row) in rows where mine[key] != row {
                return "table \(id), row \(key): observers know \(mine[key] ?? []) instead of \(row)"
            }
            if mine.count != rows.count { return "table \(id): observers know rows that do not exist" }
        }
        return collectionDifference(after: changes, new)
    }

    // Checks that the edits of each collection lead from its old elements to its new elements. In `known`, an element
    // is nil if an observer must read it from the new version.
    private func collectionDifference(after changes: ChangeSet, _ new: FileImage) -> String? {
        for (id, elements) in new.collections {
            let rows = changes.tables[id.table]
            guard let old = collections[id], rows?.inserted.contains(id.owner) != true else { continue }
            var known = old.map(Optional.some)
            for edit in changes.collections[id]?.edits ?? [] {
                switch edit {
                case .insert(let at, let count): known.insert(contentsOf: repeatElement(nil, count: count), at: at)
                case .remove(let at, let count): known.removeSubrange(at..<at + count)
                case .replace(let at, let count): for index in at..<at + count { known[index] = nil }
                case .move(let from, let to): known.insert(known.remove(at: from), at: to)
                case .swap(let left, let right): known.swapAt(left, right)
                case .clear: known = []
                }
            }
            let isEqual = known.count == elements.count && zip(known, elements).allSatisfy { $0 == nil || $0 == $1 }
            if !isEqual { return "\(id): observers know \(known) instead of \(elements)" }
            if old != elements, rows?.columns(modifiedFor: id.owner).contains(id.property) != true {
                return "\(id): observers are not notified"
            }
        }
        return nil
    }

    /// The columns that the changes report as modified although their values are the same as before.
    func unchanged(_ changes: ChangeSet, _ new: FileImage) -> [String] {
        changes.tables.flatMap { id, change in
            change.modified.flatMap { group in
                group.keys.flatMap { key in
                    (layouts[id]?.columns ?? []).enumerated().filter { position, column in
                        group.columns.contains(column.property)
                            && tables[id]?[key]?[position] == new.tables[id]?[key]?[position]
                    }.map { "table \(id), row \(key), column \($0.element.name)" }
                }
            }
        }
    }
}
