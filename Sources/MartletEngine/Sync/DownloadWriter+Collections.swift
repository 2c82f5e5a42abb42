import MartletSQLite
package import MartletValues

/// One edit of a collection. Its indices refer to the collection after the previous edits. In a map, keys and values
/// alternate.
package enum ElementEdit: Sendable {
    case insert([SQLValue], at: Int)
    case remove(at: Int, count: Int)
    case replace(at: Int, SQLValue)
}

extension DownloadWriter {
    /// The elements of a collection. In a map, keys and values alternate.
    package func elements(of row: RowID, _ property: PropertyIndex) throws -> [SQLValue] {
        let table = schema[row.table]
        let elements = try transaction.handle.read {
            try table.layout.collection(of: property).storedElements(of: row.key, $0)
        }
        guard table.type.properties[property].element.isFloating else { return elements }
        return elements.map(FloatingSpecials.decodedElement)
    }

    /// Changes a collection, and records the changes for observers.
    package func edit(_ row: RowID, _ property: PropertyIndex, _ edits: [ElementEdit]) throws {
        if edits.isEmpty { return }
        let table = schema[row.table]
        var writer = ElementsWriter(table.type.properties[property], table.layout.collection(of: property), row)
        let limit = transaction.coordinator.environment.chunkLimit
        try transaction.handle.read { connection in
            try writer.load(limit: limit, connection)
            for edit in edits { transaction.recorder.edit(writer.id, try writer.apply(edit, connection)) }
            let targets = try writer.write(connection)
            transaction.recorder.recordChangedTargets(targets, LinkID(table: row.table, property: property))
            guard !writer.anyLinks.isEmpty else { return }
            try transaction.createAnyLinks(connection).addCounts(
                writer.anyLinks, of: AnyLinkIndex.Source(row.table, property, row.key))
        }
    }
}

/// The elements of one collection that are being changed.
private struct ElementsWriter {
    let id: CollectionID
    private let property: PropertySchema
    private let layout: TableLayout.Collection
    private var elements = ChunkedElements()
    private var targets = TargetCounts()
    /// For each target of a link in an `AnyRealmValue`, the number of added links minus the number of removed links.
    private(set) var anyLinks: [AnyLink: Int] = [:]

    init(_ property: PropertySchema, _ layout: TableLayout.Collection, _ row: RowID) {
        (self.property, self.layout) = (property, layout)
        id = CollectionID(table: row.table, property: property.index, owner: row.key)
    }

    mutating func load(limit: Int, _ connection: Connection) throws {
        elements = try ChunkedElements(owner: id.owner, table: layout.chunkTable, connection, limit: limit)
    }

    mutating func apply(_ edit: ElementEdit, _ connection: Connection) throws -> ListEdit {
        let (owner, table) = (id.owner, layout.chunkTable)
        func load(_ ordinal: Int64, _ count: Int) throws -> [SQLValue] {
            try ChunkedElements.load(owner: owner, ordinal: ordinal, count: count, table: table, connection)
        }
        switch edit {
        case .insert(let new, let position):
            let new = new.map(stored)
            try elements.insert(contentsOf: new, at: position, load)
            for element in new { try count(element, 1) }
            return .insert(at: position, count: new.count)
        case .remove(let position, let count):
            for element in try elements.remove(position..<position + count, load) { try self.count(element, -1) }
            return .remove(at: position, count: count)
        case .replace(let position, let element):
            let element = stored(element)
            try count(try elements.replace(at: position, with: element, load), -1)
            try count(element, 1)
            return .replace(at: position)
        }
    }

    private func stored(_ element: SQLValue) -> SQLValue {
        property.element.isFloating ? FloatingSpecials.encodedElement(element) : element
    }

    private mutating func count(_ element: SQLValue, _ change: Int) throws {
        if property.isAny {
            for (link, number) in try AnyLink.counts(in: element) { anyLinks[link, default: 0] += change * number }
        }
        guard layout.targetTable != nil, case .integer(let target) = element else { return }
        if change > 0 { targets.link(target) } else { targets.unlink(target) }
    }

    /// Writes the changed chunks. Returns the targets whose number of links has changed.
    mutating func write(_ connection: Connection) throws -> [ObjectKey] {
        try elements.write(owner: id.owner, table: layout.chunkTable, connection)
        return try layout.write(targets, of: id.owner, connection)
    }
}
