import MartletSQLite
import MartletValues

/// The deletion of rows, together with their embedded objects and all rows to which deletions cascade.
///
/// The deletion uses a stack of steps instead of recursion, because a chain of cascades and embedded objects may be too
/// long for the call stack. Key-value observers are called between the steps. These observers may change the file and
/// delete rows, but must not end the write.
package struct RowDeletion {
    private enum Step {
        /// Deletes the rows that link to the row with `onDelete: cascade`, and then performs `end`.
        case begin(RowID)
        /// Deletes the row, and then its embedded objects and the targets of its properties with `deleteRule: cascade`.
        case end(RowID)
    }

    let host: any RowDeletionHost
    let transaction: WriteTransaction
    /// False to ignore the rules `onDelete` and `deleteRule`. In that case, links to the deleted rows become nil, and
    /// only the given rows and their embedded objects are deleted.
    let appliesRules: Bool
    /// The steps to perform. The last step is performed next.
    private var steps: [Step] = []
    private var visited: Set<RowID> = []

    package init(_ host: any RowDeletionHost, _ transaction: WriteTransaction, appliesRules: Bool = true) {
        (self.host, self.transaction, self.appliesRules) = (host, transaction, appliesRules)
    }

    /// Deletes rows in the given order. The rows to which the deletion of one row cascades are deleted before the next
    /// given row. Skips rows that are already deleted.
    package mutating func run(_ rows: [RowID]) throws {
        if rows.count > 1 {
            for row in rows { host.willDelete(row) }
            try host.flush()
            try removeFromCollections(rows)
        }
        for row in rows {
            steps = [.begin(row)]
            while let step = steps.popLast() {
                switch step {
                case .begin(let row): try begin(row)
                case .end(let row): try end(row)
                }
            }
        }
    }

    private mutating func begin(_ row: RowID) throws {
        guard visited.insert(row).inserted, try exists(row) else { return }
        host.willDelete(row)
        try host.flush()
        try transaction.keepOldRow(row.key, host.schema[row.table].layout, in: row.table)
        let cascading = try cascadingRows(to: row)
        if cascading.isEmpty { return try remove(row) }
        steps.append(.end(row))
        try push(cascading)
    }

    // If an observer has already deleted the row, this method only notifies observers that the row was deleted.
    private mutating func end(_ row: RowID) throws {
        guard try exists(row) else { return host.didDelete(row) }
        try remove(row)
    }

    private mutating func remove(_ row: RowID) throws {
        try denyDeletion(of: row)
        try removeLinks(to: row)
        if host.callsObservers {
            try host.flush()
            // An observer may have deleted the row.
            guard try exists(row) else { return host.didDelete(row) }
        }
        let owned = try cascadeTargets(of: row)
        try removeContents(of: row)
        host.didDelete(row)
        try push(owned)
    }

    private mutating func push(_ rows: [RowID]) throws {
        try removeFromCollections(rows)
        steps += rows.reversed().map { .begin($0) }
    }

    // MARK: Rows of the deletion

    /// The rows to delete after a row: its embedded objects, and the targets of its properties with the delete rule
    /// `cascade`.
    private func cascadeTargets(of row: RowID) throws -> [RowID] {
        let properties = host.schema[row.table].type.properties
        return try properties.filter { $0.element.isEmbedded || (appliesRules && $0.deleteRule == .cascade) }
            .flatMap { try targets(of: $0, row) }
    }

    /// The distinct targets of a property of a row.
    func targets(of property: PropertySchema, _ row: RowID) throws -> [RowID] {
        guard let target = property.element.target.flatMap({ host.schema[$0] }) else { return [] }
        return try read { try host.rows(of: row.table).targets(of: property, row.key, $0) }
            .map { RowID(table: target.id, key: $0) }
    }

    /// The rows that link to a row by a property with `onDelete: cascade`. These rows are deleted together with the
    /// row.
    ///
    /// The method sets their links in columns to NULL. Observers are not notified of this change, because the rows are
    /// deleted next. Links in collections are deleted together with their rows.
    private func cascadingRows(to row: RowID) throws -> [RowID] {
        guard appliesRules else { return [] }
        var rows: [RowID] = []
        for incoming in host.schema[row.table].incoming {
            let source = Source(incoming, host.schema)
            guard source.property.onDelete == .cascade else { continue }
            let holders = try holders(of: row.key, source)
            if !source.property.isCollection { try clearLinks(to: row, of: holders, source, isSilent: true) }
            rows += holders
        }
        return rows
    }

    func exists(_ row: RowID) throws -> Bool {
        try read { try host.rows(of: row.table).exists(row.key, $0) }
    }

    // MARK: The row itself

    /// Deletes a row and its collections.
    private func removeContents(of row: RowID) throws {
        let store = host.rows(of: row.table)
        if store.hasAnyRealmValues { try transaction.withAnyLinks { try $0.removeLinks(of: row.key, in: row.table) } }
        for collection in store.layout.collections {
            host.willDeleteCollection(CollectionID(table: row.table, property: collection.property, owner: row.key))
            let targets =
                collection.targetTable == nil ? [] : try read { try collection.storedTargets(of: row.key, $0) }
            try read { try collection.removeStored(of: row.key, targets: targets, $0) }
            if targets.isEmpty { continue }
            let link = LinkID(table: row.table, property: collection.property)
            #if MARTLET_SEEDED_BUGS
                let hasInverse = host.schema.hasInverse(link) && !SeededBug.isOn(.linksOfDeletedRow)
            #else
                let hasInverse = host.schema.hasInverse(link)
            #endif
            if hasInverse { transaction.recorder.recordChangedTargets(targets, link) }
        }
        try read { try store.delete(row.key, $0) }
        transaction.recordDeletion(of: row)
        host.denials.rowWasDeleted(row)
        host.rowWasDeleted(row)
    }

    /// Records the denials of a row's deletion by `deleteRule: deny`.
    private func denyDeletion(of row: RowID) throws {
        guard appliesRules else { return }
        let type = host.schema[row.table].type
        for property in type.properties where property.deleteRule == .deny {
            let targets = try targets(of: property, row)
            if targets.isEmpty { continue }
            let holder = try name(of: row)
            for target in targets { host.denials.denyByDeleteRule(holder, "\(type.name).\(property.name)", by: target) }
        }
    }

    func name(of row: RowID) throws -> String { try read { try host.schema[row.table].name(of: row.key, $0) } }

    /// Reads or changes the file in the open write.
    func read<R>(_ body: (Connection) throws -> R) throws -> R {
        try transaction.handle.read(body)
    }
}
