import MartletEngine
import MartletValues

// The index of links in `AnyRealmValue` values, and the removal of these links when their target is deleted.
extension RealmContext {
    /// Removes the links in the values of a row from the index, because the row is being deleted.
    func removeAnyLinks(of key: ObjectKey, _ table: ObjectTable) {
        guard table.rows.holdsAny else { return }
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
        change(property.index, of: holder, source) {
            guard let transaction else { return }
            storing {
                try transaction.handle.read {
                    try source.rows.remove(link, from: property, of: holder, in: transaction, $0)
                }
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
        storing { try transaction.withAnyLinks(body) }
    }
}
