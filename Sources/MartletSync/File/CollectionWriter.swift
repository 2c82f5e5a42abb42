import MartletEngine
import MartletSyncProtocol
import MartletValues

/// Writes whole collections to the rows of a file.
///
/// The elements of a list of an object have positions. The elements of a list inside an embedded object have no
/// positions, so they are compared by their indices.
///
/// The target of a link may be missing in the file. A list or set of links then has no element for the link. A map of
/// links has the value nil for its key. An `AnyRealmValue` has nil in the place of the link. The table
/// `martlet_unresolved` stores the value of the whole collection. When the target arrives, the collection is written
/// again from the stored value.
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
        try writeElements(value, property, row) { element, _ in try elements.stored(element, targets) }
        return elements.missing
    }

    /// Changes the collection of a row as `write` does, and deletes embedded objects that are not elements any more.
    ///
    /// - Parameter stored: returns the stored form of an element; nil if the collection must not show the element. For
    ///   a collection of embedded objects, the second argument is the current element with the same position or key.
    ///   The closure changes this embedded object, or creates one.
    func writeElements(
        _ value: SyncValue, _ property: PropertySchema, _ row: RowID,
        _ stored: (_ element: SyncValue, _ current: SQLValue?) throws -> SQLValue?
    ) throws {
        let current = try writer.elements(of: row, property.index)
        let isEmbedded = property.element.isEmbedded
        switch property.kind {
        case .list where isInside(row):
            let members = try members(value, property)
            let new = try members.enumerated().compactMap { try stored($1, $0 < current.count ? current[$0] : nil) }
            try writer.edit(row, property.index, Self.edits(fromList: current, to: new))
        case .list:
            guard let whole = value.elements else { throw Self.malformed(property) }
            let known = isEmbedded ? try elements(current, property, row) : [:]
            let new = try whole.map { (position: $0.position, element: try stored($0.value, known[$0.position])) }
            try writeList(new, current, property, row)
        case .set:
            let new = try members(value, property).compactMap { try stored($0, nil) }
            try writer.edit(row, property.index, Self.edits(from: current, to: Self.unique(new, property)))
        default:
            guard let entries = value.entries else { throw Self.malformed(property) }
            let known = isEmbedded ? Self.dictionary(current) : [:]
            let new = try entries.map { entry in
                let key = SQLValue.text(entry.key)
                return (key: key, value: try stored(entry.value, known[key]) ?? .null)
            }
            try writer.edit(row, property.index, Self.edits(fromMap: current, to: new))
        }
        if isEmbedded { try deleteObjects(current, property, row) }
    }

    /// True if the row is an embedded object. Lists inside of embedded objects have no positions.
    private func isInside(_ row: RowID) -> Bool { writer.schema[row.table].type.isEmbedded }

    private func members(_ value: SyncValue, _ property: PropertySchema) throws -> [SyncValue] {
        guard let members = value.members else { throw Self.malformed(property) }
        return members
    }

    /// Deletes the embedded objects that were elements, and are not elements any more.
    private func deleteObjects(_ former: [SQLValue], _ property: PropertySchema, _ row: RowID) throws {
        guard let table = property.element.target.flatMap({ writer.schema[$0]?.id }) else { return }
        let kept = Set(try writer.elements(of: row, property.index))
        let rows = former.compactMap { element -> RowID? in
            guard case .integer(let key) = element, !kept.contains(element) else { return nil }
            return RowID(table: table, key: key)
        }
        if !rows.isEmpty { try writer.delete(rows) }
    }

    static func malformed(_ property: PropertySchema) -> MalformedMessage {
        MalformedMessage("a value of '\(property.name)' does not have the type \(property.typeDescription)")
    }

    /// Reads the collection of a row as a value in which each link is the address of its target.
    func whole(_ property: PropertySchema, _ row: RowID) throws -> SyncValue {
        let stored = try writer.elements(of: row, property.index)
        switch property.kind {
        case .list where !isInside(row):
            var positions = try positions(property, row).filter(\.isShown).map(\.position)
            // For a type with `sync: upload`, positions are stored only when an object is created. Later edits of the
            // list change the number of elements, but not the stored positions.
            if positions.count != stored.count {
                positions = ListPosition.between(nil, nil, count: stored.count, client: 0)
            }
            return .elements(
                try zip(positions, stored).map { ListElement(position: $0, value: try value($1, property)) })
        case .list, .set: return .list(try stored.map { try value($0, property) })
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

    /// The current elements of a list by their positions.
    private func elements(
        _ current: [SQLValue], _ property: PropertySchema, _ row: RowID
    ) throws -> [ListPosition: SQLValue] {
        let shown = try positions(property, row).filter(\.isShown).map(\.position)
        return Dictionary(zip(shown, current), uniquingKeysWith: { first, _ in first })
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

    /// Returns the edits that change a list without positions.
    private static func edits(fromList old: [SQLValue], to new: [SQLValue]) -> [ElementEdit] {
        let shorter = min(old.count, new.count)
        let start = zip(old, new).prefix { $0 == $1 }.count
        let end = zip(old.reversed(), new.reversed()).prefix(shorter - start).prefix { $0 == $1 }.count
        let replaced = shorter - end
        var edits = (start..<replaced).filter { old[$0] != new[$0] }.map { ElementEdit.replace(at: $0, new[$0]) }
        if old.count > shorter { edits.append(.remove(at: replaced, count: old.count - shorter)) }
        if new.count > shorter {
            edits.append(.insert(Array(new[replaced..<new.count - end]), at: replaced))
        }
        return edits
    }

    // MARK: Sets and maps

    /// The values of a map by their keys.
    private static func dictionary(_ entries: [SQLValue]) -> [SQLValue: SQLValue] {
        let pairs = stride(from: 0, to: entries.count - 1, by: 2).map { (entries[$0], entries[$0 + 1]) }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    // Removes each member that equals an earlier member. In a set of `AnyRealmValue`, PostgreSQL can store members that
    // are equal in Swift, such as 1 and 1.0.
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
