package import MartletSQLite
import MartletValues

/// The difference of one row between two versions.
package struct RowDifference {
    /// The properties whose values or elements differ. If the special floating-point values of the row differ, all
    /// properties with columns are included.
    package private(set) var properties = ColumnSet()
    /// True if the newer version has no such row.
    package private(set) var isDeleted = false

    /// A difference in all properties. It is used if the newer version cannot be read.
    package static var unknown: RowDifference {
        var difference = RowDifference()
        difference.properties = .all
        return difference
    }

    private init() {}

    package init(_ old: RowState, _ new: RowState) {
        guard let newValues = new.values else {
            isDeleted = true
            return
        }
        guard let oldValues = old.values else { return }
        for (position, column) in new.layout.columns.enumerated()
        where oldValues[position] != newValues[position] || old.specials != new.specials {
            properties.insert(column.property)
        }
        for (position, collection) in new.layout.collections.enumerated()
        where old.collections[position] != new.collections[position] {
            properties.insert(collection.property)
        }
    }
}

/// The values and collections of a row in one version.
package struct RowState {
    fileprivate let layout: TableLayout
    /// The values of the columns. Nil if the row does not exist.
    fileprivate var values: [SQLValue]?
    fileprivate var specials: SQLValue?
    fileprivate var collections: [[SQLValue]] = []

    package init(_ key: ObjectKey, _ layout: TableLayout, _ connection: Connection) throws {
        self.layout = layout
        let statement = try connection.statement(layout.selectByKey)
        statement.bind(key, at: 1)
        guard try statement.step() else { return }
        values = layout.columns.indices.map { statement.value($0) }
        if layout.hasSpecials { specials = statement.value(layout.columns.count) }
        statement.reset()
        for collection in layout.collections {
            var elements = try ChunkedElements(owner: key, table: collection.chunkTable, connection)
            collections.append(
                try elements.all { ordinal, count in
                    try ChunkedElements.load(
                        owner: key, ordinal: ordinal, count: count, table: collection.chunkTable, connection)
                })
        }
    }
}
