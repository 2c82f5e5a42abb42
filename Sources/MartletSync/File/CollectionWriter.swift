import MartletEngine
import MartletSyncProtocol
import MartletValues

/// Writes whole collections to the rows of a file.
///
/// A link to an object that is not in the file is not shown. A list or set of links has no element for the object, and
/// a map of links has the value nil. An `AnyRealmValue` has nil in the place of the link. The table
/// `martlet_unresolved` then stores the value of the whole collection. The collection is written again from that value
/// when the object arrives.
struct CollectionWriter {
    let schema: SyncSchema
    let writer: DownloadWriter

    /// Returns the row of an object; nil if the collection must not show a link to the object.
    typealias Targets = (ObjectAddress) throws -> RowID?

    /// Changes the collection of a row so that it equals the value. Writes only the elements that differ, and removes
    /// the elements that the value does not contain.
    ///
    /// - Returns: The targets of the links that are not shown.
    /// - Throws: `MalformedMessage` if the value does not fit the property.
    func write(
        _ value: SyncValue, _ property: PropertySchema, _ row: RowID, _ targets: Targets
    ) throws -> Set<ObjectAddress> {
        var elements = ElementConversion(property)
        let current = try writer.elements(of: row, property.index)
        switch property.kind {
        case .list:
            guard let whole = value.elements else { throw Self.malformed(property) }
            try writeList(whole.map { ($0.position, try elements.stored($0.value, targets)) }, current, property, row)
        case .set:
            guard let members = value.members else { throw Self.malformed(property) }
            let new = try members.compactMap { try elements.stored($0, targets) }
            try writer.edit(row, property.index, Self.edits(from: current, to: Self.unique(new, property)))
        default:
            guard let entries = value.entries else { throw Self.malformed(property) }
            let new = try entries.map { (SQLValue.text($0.key), try elements.stored($0.value, targets) ?? .null) }
            try writer.edit(row, property.index, Self.edits(fromMap: current, to: new))
        }
        return elements.missing
    }

    static func malformed(_ property: PropertySchema) -> MalformedMessage {
        MalformedMessage("a value of '\(property.name)' does not have the type \(property.typeDescription)")
    }

    /// Reads the collection of a row as a value in which each link is the address of its target.
    func whole(_ property: PropertySchema, _ row: RowID) throws -> SyncValue {
        let stored = try writer.elements(of: row, property.index)
        switch property.kind {
        case .list:
            var positions = try positions(property, row).filter(\.isShown).map(\.position)
            // For a type with `sync: upload`, only the creation of an object is recorded. So the stored positions may
            // not fit the elements any more.
            if positions.count != stored.count {
                positions = ListPosition.between(nil, nil, count: stored.count, client: 0)
            }
            return .elements(
                try zip(positions, stored).map { ListElement(position: $0, value: try value($1, property)) })
        case .set: return .list(try stored.map { try value($0, property) })
        default:
            return .map(
                MapEntry.sorted(
                    try stride(from: 0, to: stored.count - 1, by: 2).compactMap { index in
                        guard case .text(let key) = stored[index] else { return nil }
                        return MapEntry(key: key, value: try value(stored[index + 1], property))
                    }))
        }
    }

    private func value(_ stored: SQLValue, _ property: PropertySchema) throws -> SyncValue {
        if property.isAny { return try AnyConversion.value(stored) { try address($0.table, $0.key) } }
        guard case .integer(let key) = stored, let target = property.element.target.flatMap({ writer.schema[$0] })
        else { return .scalar(stored) }
        return try address(target.id, key).map(SyncValue.link) ?? .null
    }

    private func address(_ table: TableID, _ key: ObjectKey) throws -> ObjectAddress? {
        guard let type = writer.schema.tables[table]?.type, let number = schema.number(of: type.name),
            let property = type.primaryKey, let row = try writer.row(RowID(table: table, key: key))
        else { return nil }
        return ObjectAddress(type: number, key: row.value(property))
    }

    // MARK: Unresolved links

    /// Removes the value that `martlet_unresolved` contains for this collection. Then stores the new value there if
    /// some of its links are not shown.
    ///
    /// - Parameter missing: the targets of the links that are not shown.
    /// - Returns: True if `missing` is not empty.
    @discardableResult
    func remember(
        _ missing: Set<ObjectAddress>, _ value: SyncValue, _ property: PropertySchema, _ row: RowID
    ) throws -> Bool {
        let holder = UnresolvedLinks.Holder(row, property: property.name)
        var message = MessageWriter()
        message.value(value)
        try writer.transaction.handle.read { connection in
            let links = UnresolvedLinks(connection)
            try links.forget(holder)
            for address in missing {
                guard let table = schema[address.type].flatMap({ writer.schema[$0.name] }) else { continue }
                try links.add(holder, target: address.key, in: table.id, whole: message.bytes)
            }
        }
        return !missing.isEmpty
    }

    // MARK: Lists

    private func positions(_ property: PropertySchema, _ row: RowID) throws -> [StoredPosition] {
        try writer.transaction.handle.read { try ListPositions($0).stored(of: row, property) }
    }

    private func writeList(
        _ new: [(position: ListPosition, element: SQLValue?)], _ current: [SQLValue], _ property: PropertySchema,
        _ row: RowID
    ) throws {
        let known = try positions(property, row)
        let shown = known.filter(\.isShown).map(\.position)
        let elements = new.compactMap { new in new.element.map { (position: new.position, element: $0) } }
        let old = zip(shown, current).map { (position: $0, element: $1) }
        try writer.edit(row, property.index, Self.edits(from: old, to: elements, removing: current.count - old.count))
        let positions = new.map { StoredPosition(position: $0.position, isShown: $0.element != nil) }
        guard positions != known else { return }
        try writer.transaction.handle.read { try ListPositions($0).write(positions, of: row, property) }
    }

    typealias Positioned = (position: ListPosition, element: SQLValue)

    /// Returns the edits that change a list from `old` to `new`. Both lists are in ascending order of their positions.
    ///
    /// - Parameter surplus: the number of stored elements that follow `old` and have no position. It is zero, except if
    ///   the stored positions do not fit the elements (see `whole`).
    private static func edits(from old: [Positioned], to new: [Positioned], removing surplus: Int) -> [ElementEdit] {
        var edits: [ElementEdit] = surplus > 0 ? [.remove(at: old.count, count: surplus)] : []
        // `index` is the index in the edited list.
        var (oldIndex, newIndex, index) = (0, 0, 0)
        while oldIndex < old.count || newIndex < new.count {
            if newIndex == new.count || (oldIndex < old.count && old[oldIndex].position < new[newIndex].position) {
                edits.append(.remove(at: index, count: 1))
                oldIndex += 1
            } else if oldIndex == old.count || new[newIndex].position < old[oldIndex].position {
                edits.append(.insert([new[newIndex].element], at: index))
                (newIndex, index) = (newIndex + 1, index + 1)
            } else {
                if old[oldIndex].element != new[newIndex].element {
                    edits.append(.replace(at: index, new[newIndex].element))
                }
                (oldIndex, newIndex, index) = (oldIndex + 1, newIndex + 1, index + 1)
            }
        }
        return edits
    }

    // MARK: Sets and maps

    // Removes members that are equal to an earlier member. In a set of `AnyRealmValue`, members that are equal in the
    // program may differ in PostgreSQL, such as 1 and 1.0.
    private static func unique(_ members: [SQLValue], _ property: PropertySchema) -> [SQLValue] {
        var seen: Set<SQLValue> = []
        return members.filter { seen.insert(property.isAny ? AnyValue.sortKey($0) : $0).inserted }
    }

    private static func edits(from old: [SQLValue], to new: [SQLValue]) -> [ElementEdit] {
        let (before, now) = (Set(old), Set(new))
        var edits: [ElementEdit] = old.indices.reversed().filter { !now.contains(old[$0]) }
            .map { .remove(at: $0, count: 1) }
        let added = new.filter { !before.contains($0) }
        if !added.isEmpty { edits.append(.insert(added, at: old.count - edits.count)) }
        return edits
    }

    private static func edits(fromMap old: [SQLValue], to new: [(key: SQLValue, value: SQLValue)]) -> [ElementEdit] {
        var values = Dictionary(new.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
        var edits: [ElementEdit] = []
        var count = old.count
        for index in stride(from: old.count - 2, through: 0, by: -2) {
            guard let value = values.removeValue(forKey: old[index]) else {
                edits.append(.remove(at: index, count: 2))
                count -= 2
                continue
            }
            if value != old[index + 1] { edits.append(.replace(at: index + 1, value)) }
        }
        let added = new.filter { values[$0.key] != nil }.flatMap { [$0.key, $0.value] }
        if !added.isEmpty { edits.append(.insert(added, at: count)) }
        return edits
    }
}

/// Converts the elements of one collection to their stored form.
private struct ElementConversion {
    private let property: PropertySchema
    /// The targets of links that are not shown.
    private(set) var missing: Set<ObjectAddress> = []

    init(_ property: PropertySchema) { self.property = property }

    /// The stored form of an element; nil if the element is a link that is not shown.
    mutating func stored(_ value: SyncValue, _ targets: CollectionWriter.Targets) throws -> SQLValue? {
        switch property.element {
        case .link: return try link(value, targets)
        case .scalar(.any):
            var missing: [ObjectAddress] = []
            let stored = try AnyConversion.stored(value) { address in
                if let row = try targets(address) { return AnyLink(row.table, row.key) }
                missing.append(address)
                return nil
            }
            self.missing.formUnion(missing)
            return stored
        default:
            guard case .scalar(let scalar) = value, property.accepts(scalar) else {
                throw CollectionWriter.malformed(property)
            }
            return scalar
        }
    }

    private mutating func link(_ value: SyncValue, _ targets: CollectionWriter.Targets) throws -> SQLValue? {
        switch value {
        case .null where property.accepts(.null): return .null
        case .link(let address):
            if let row = try targets(address) { return .integer(row.key) }
            missing.insert(address)
            return nil
        default: throw CollectionWriter.malformed(property)
        }
    }
}
