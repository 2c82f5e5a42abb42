import MartletEngine
import MartletSyncProtocol
import MartletValues

extension SyncApplier {
    func unresolved<R>(_ body: (UnresolvedLinks) throws -> R) throws -> R {
        try writer.transaction.handle.read { try body(UnresolvedLinks($0)) }
    }

    /// Restores the links to an object that has arrived.
    mutating func resolveLinks(to address: ObjectAddress) throws {
        guard let target = rows[address]?.row else { return }
        for holder in try unresolved({ try $0.holders(of: address.key, in: target.table) }) {
            let type = writer.schema.tables[holder.row.table]?.type
            guard let property = type?[holder.property] else { continue }
            if property.isCollection {
                var reader = try MessageReader(try unresolved { try $0.whole(holder) }, limits: .forServiceMessages)
                try write(try reader.syncValue(), property, holder.row)
                continue
            }
            guard property.isAny else {
                try writer.update(holder.row, [property.index: .integer(target.key)])
                try unresolved { try $0.forget(holder) }
                continue
            }
            // The whole value is written again, because other links in it may still be unresolved.
            var reader = try MessageReader(try unresolved { try $0.whole(holder) }, limits: .forServiceMessages)
            try update(holder.row, [(property.index, reader.syncValue())])
        }
    }
}
