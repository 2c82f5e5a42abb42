import MartletSQLite
import MartletValues

/// Writes and deletes the elements of one collection property during a migration.
struct CollectionRows {
    private let layout: TableLayout.Collection
    private let property: PropertySchema
    private let connection: Connection

    init(_ property: PropertySchema, _ layout: TableLayout, _ connection: Connection) {
        self.property = property
        self.layout = layout.collection(of: property.index)
        self.connection = connection
    }

    /// Writes the elements of a row that has no stored elements.
    func write(_ elements: [SQLValue], owner: ObjectKey) throws {
        guard !elements.isEmpty else { return }
        var chunks = ChunkedElements()
        for element in elements {
            try chunks.insert(FloatingSpecials.encodedElement(element), at: chunks.count) { _, _ in [] }
        }
        try chunks.write(owner: owner, table: layout.chunkTable, connection)
        guard let targets = layout.targetTable else { return }
        for (target, count) in Self.targets(elements, property) {
            try connection.run(
                "INSERT INTO \(targets) VALUES (?1, ?2, ?3)", [.integer(target), .integer(owner), .integer(count)])
        }
    }

    /// Deletes the elements of a row.
    func clear(owner: ObjectKey) throws {
        try layout.removeStored(of: owner, targets: layout.storedTargets(of: owner, connection), connection)
    }

    // Counts the links to each target. The keys of maps are strings, so all integers among the elements are targets.
    private static func targets(_ elements: [SQLValue], _ property: PropertySchema) -> [(ObjectKey, Int64)] {
        var counts: [ObjectKey: Int64] = [:]
        for case .integer(let target) in elements { counts[target, default: 0] += 1 }
        return counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
