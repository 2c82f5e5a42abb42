import MartletValues

// The removal of the links to rows that are deleted.
extension RowDeletion {
    /// A property whose target is the table of a deleted row, and the table that has the property.
    struct Source {
        let table: TableID
        let property: PropertySchema

        init(_ incoming: DatabaseSchema.Incoming, _ schema: DatabaseSchema) {
            table = incoming.table
            property = schema[incoming.table].type.properties[incoming.property]
        }
    }

    /// Removes all links to a row: from link properties, collections, and `AnyRealmValue` values.
    func removeLinks(to row: RowID) throws {
        for incoming in host.schema[row.table].incoming { try removeLinks(to: row, Source(incoming, host.schema)) }
        try removeAnyLinks(to: row)
    }

    private func removeLinks(to row: RowID, _ source: Source) throws {
        let holders = try holders(of: row.key, source)
        if holders.isEmpty { return }
        for holder in holders { try denyDeletion(of: [row], by: holder, source) }
        guard source.property.isCollection else { return try clearLinks(to: row, of: holders, source) }
        for holder in holders {
            guard try stillExists(holder) else { continue }
            try host.remove([.integer(row.key)], from: collection(of: holder, source.property))
        }
        try host.flush()
    }

    /// If the property has the rule `onDelete: deny`, records that `holder` denies the deletion of each of `targets`.
    private func denyDeletion(of targets: [RowID], by holder: RowID, _ source: Source) throws {
        guard appliesRules, source.property.onDelete == .deny, let first = targets.first else { return }
        let index = source.property.index
        guard source.property.kind == .map else { return host.denials.deny(try name(of: first), by: holder, index) }
        let names = try Dictionary(
            targets.map { (SQLValue.integer($0.key), try name(of: $0)) }, uniquingKeysWith: { first, _ in first })
        let collection = host.rows(of: source.table).layout.collection(of: index)
        let stored = try read { try collection.storedElements(of: holder.key, $0) }
        // The stored elements of a map are its keys and values in alternation.
        for position in stride(from: 0, to: stored.count - 1, by: 2) {
            guard let name = names[stored[position + 1]] else { continue }
            host.denials.deny(name, by: holder, index, key: stored[position])
        }
    }

    /// The rows whose link, or collection of links, refers to a row.
    func holders(of key: ObjectKey, _ source: Source) throws -> [RowID] {
        try read { try host.rows(of: source.table).holders(of: key, source.property, $0) }
            .map { RowID(table: source.table, key: $0) }
    }

    // True if a row still exists. Only an observer that was called earlier in this deletion can have deleted the row,
    // so without observers the row is not looked up.
    private func stillExists(_ row: RowID) throws -> Bool {
        guard host.callsObservers else { return true }
        return try exists(row)
    }

    func clearLinks(to row: RowID, of holders: [RowID], _ source: Source, isSilent: Bool = false) throws {
        let rows = host.rows(of: source.table)
        for holder in holders {
            if host.callsObservers {
                // An observer that was called earlier in this deletion may have assigned another link.
                try host.flush()
                guard try targets(of: source.property, holder).contains(row) else { continue }
            }
            try host.change(source.property.index, of: holder, isSilent: isSilent) {
                try read { try rows.clearLink(source.property.index, of: holder.key, $0) }
            }
        }
    }

    /// Removes from all collections the rows that are about to be deleted. Each collection is changed once for all rows
    /// of a type. If there is only one row, this method does nothing, because `removeLinks(to:)` removes it.
    func removeFromCollections(_ rows: [RowID]) throws {
        guard rows.count > 1 else { return }
        for (table, rows) in Dictionary(grouping: rows, by: \.table).sorted(by: { $0.key < $1.key }) {
            for incoming in host.schema[table].incoming {
                let source = Source(incoming, host.schema)
                // If the property cascades, the owners of the collections are deleted, too.
                let cascades = appliesRules && source.property.onDelete == .cascade
                guard source.property.isCollection, !cascades else { continue }
                try removeFromCollections(rows, source)
            }
        }
    }

    private func removeFromCollections(_ rows: [RowID], _ source: Source) throws {
        var held: [RowID: [RowID]] = [:]
        for row in rows {
            for holder in try holders(of: row.key, source) { held[holder, default: []].append(row) }
        }
        let holders = held.sorted { $0.key.key < $1.key.key }
        for (holder, targets) in holders { try denyDeletion(of: targets, by: holder, source) }
        for (holder, targets) in holders {
            guard try stillExists(holder) else { continue }
            try host.remove(Set(targets.map { .integer($0.key) }), from: collection(of: holder, source.property))
        }
        try host.flush()
    }

    private func collection(of owner: RowID, _ property: PropertySchema) -> CollectionID {
        CollectionID(table: owner.table, property: property.index, owner: owner.key)
    }

    // MARK: Links in AnyRealmValue values

    /// Replaces links to a row by `none` in all `AnyRealmValue` values. From a set, the element is removed instead.
    private func removeAnyLinks(to row: RowID) throws {
        guard host.hasAnyValues else { return }
        let link = AnyLink(row.table, row.key)
        var holders: [AnyLinkIndex.Source] = []
        try transaction.withAnyLinks { holders = try $0.sources(of: link) }
        for holder in holders {
            let owner = RowID(table: holder.table, key: holder.owner)
            guard try stillExists(owner) else { continue }
            let property = try property(of: holder)
            if property.isCollection {
                try host.remove(link, from: collection(of: owner, property))
                continue
            }
            try host.change(property.index, of: owner, isSilent: false) {
                try read { [rows = host.rows(of: owner.table)] connection in
                    try rows.remove(link, from: property, of: owner.key, in: transaction, connection)
                }
            }
        }
        if !holders.isEmpty { try host.flush() }
    }

    private func property(of holder: AnyLinkIndex.Source) throws -> PropertySchema {
        let type = host.schema.tables[holder.table]?.type
        if let type, type.properties.indices.contains(holder.property) { return type.properties[holder.property] }
        throw EngineError.damaged(
            "the table 'martlet_any_links' refers to the property \(holder.property) of the type "
                + "\(type?.name ?? "number \(holder.table)"), in the row with the key \(holder.owner), but there is no such "
                + "property", path: transaction.coordinator.path)
    }
}
