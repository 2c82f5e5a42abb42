import MartletEngine
import MartletSQLite

// The index of links in `AnyRealmValue` values, and the removal of these links when their target is deleted.
extension RealmContext {
    /// Updates the index for the properties of a row in `mask`.
    func writeAnyLinks(
        of object: ObjectBase, _ key: ObjectKey, _ table: ObjectTable, mask: UInt64, _ connection: Connection
    ) throws {
        guard let transaction, !table.anyColumns.isEmpty else { return }
        var values: [SQLValue]?
        for property in table.anyColumns where mask & (1 << UInt64(min(property, 63))) != 0 {
            let row = values ?? RowEncoder.values(of: object)
            values = row
            let links = try AnyLink.counts(in: row[property])
            let holder = AnyLinkIndex.Holder(table.id, property, key)
            if try transaction.hasAnyLinks(connection) { try AnyLinkIndex(connection).remove(holder) }
            if !links.isEmpty { try transaction.createAnyLinks(connection).addCounts(links, of: holder) }
        }
    }

    /// Removes the links in the values of a row from the index, because the row is being deleted.
    func removeAnyLinks(of key: ObjectKey, _ table: ObjectTable) {
        guard table.holdsAny else { return }
        withAnyLinks { try $0.removeLinks(of: key, in: table.id) }
    }

    func removeAllAnyLinks() { withAnyLinks { try $0.removeAll() } }

    /// Replaces links to a row that is being deleted by `none` in all `AnyRealmValue` values. Sets lose the element.
    func releaseAnyLinks(to key: ObjectKey, _ table: ObjectTable) {
        let link = AnyLink(table.id, key)
        var holders: [AnyLinkIndex.Holder] = []
        withAnyLinks { holders = try $0.holders(of: link) }
        for holder in holders {
            guard let source = tables[holder.table], source.type.properties.indices.contains(holder.property) else {
                refuseHolder(holder)
                continue
            }
            let property = source.type.properties[holder.property]
            if property.isCollection {
                core(source, property.index, holder.owner).release(link)
            } else {
                release(link, in: property, holder.owner, source)
            }
        }
        if !holders.isEmpty { flushForQuery() }
    }

    private func release(_ link: AnyLink, in property: PropertySchema, _ holder: ObjectKey, _ source: ObjectTable) {
        guard let column = source.layout.column(of: property.index) else { return }
        change(property.index, of: holder, source) {
            let layout = source.layout
            let value = read {
                try $0.value(
                    "SELECT \(column.name) FROM \(layout.table) WHERE \(layout.keyColumn) = ?1", [.integer(holder)])
            }
            guard let rest = try? link.removed(from: value ?? .null) else {
                let damage = DamagedValue(source.type.name, property, holder, holds: value ?? .null)
                return storing { throw damage.error(path: coordinator.path) }
            }
            execute(
                "UPDATE \(layout.table) SET \(column.name) = ?2 WHERE \(layout.keyColumn) = ?1",
                [.integer(holder), rest])
            withAnyLinks { index in
                let place = AnyLinkIndex.Holder(source.id, property.index, holder)
                try index.remove(place)
                try index.addCounts(AnyLink.counts(in: rest), of: place)
            }
        }
    }

    // Makes the write fail, because the index is damaged.
    private func refuseHolder(_ holder: AnyLinkIndex.Holder) {
        let type = tables[holder.table]?.type.name ?? "number \(holder.table)"
        storing {
            throw EngineError.damaged(
                "the table 'martlet_any_links' has a link of the property \(holder.property) of the type \(type), "
                    + "in the row with the key \(holder.owner), and there is no such property", path: coordinator.path)
        }
    }

    private func withAnyLinks(_ body: (AnyLinkIndex) throws -> Void) {
        guard let transaction, hasAnyProperties else { return }
        storing {
            try transaction.handle.read { connection in
                if try transaction.hasAnyLinks(connection) { try body(AnyLinkIndex(connection)) }
            }
        }
    }
}
