import MartletEngine
import MartletValues

extension RealmContext {
    /// Deletes the row of an object together with the rows it owns, and removes all links to it.
    func delete(_ object: ObjectBase) {
        confinement.require(object._described)
        if object._state == .invalidated { Misuse.invalidated(object._typeName, object._keyDescription) }
        if object._state == .unmanaged { Misuse.deletedUnmanaged(object._typeName) }
        guard object._context === self, let table = object._table else { refuse(foreign: object, isLinked: false) }
        guard exists(object) else { Misuse.invalidated(object._typeName, object._keyDescription) }
        deleteRow(object._key, table)
    }

    /// Deletes objects in the given order. Skips objects that an earlier deletion has deleted already.
    func delete(_ objects: [ObjectBase]) {
        let living = objects.filter { !$0.isInvalidated }
        for object in living {
            if object._state == .unmanaged { Misuse.deletedUnmanaged(object._typeName) }
            if object._context !== self { refuse(foreign: object, isLinked: false) }
        }
        deleteRows(
            living.compactMap { object in object._table.map { RowDeletion.Row(table: $0.id, key: object._key) } })
    }

    func deleteRow(_ key: ObjectKey, _ table: ObjectTable) {
        deleteRows([RowDeletion.Row(table: table.id, key: key)])
    }

    func deleteRows(_ rows: [RowDeletion.Row]) {
        guard let first = rows.first else { return }
        _ = requireWrite("a '\(table(first.table).type.name)'")
        var deletion = RowDeletion(self)
        deletion.run(rows)
    }

    /// Deletes one row and its collections, and removes all links to it.
    fileprivate func remove(_ key: ObjectKey, _ table: ObjectTable) {
        for incoming in table.incoming { release(RowDeletion.Row(table: table.id, key: key), incoming) }
        releaseAnyLinks(to: key, table)
        removeAnyLinks(of: key, table)
        for collection in table.layout.collections {
            let id = CollectionID(table: table.id, property: collection.property, owner: key)
            if let core = collections.removeValue(forKey: id)?.core { invalidateDeleted(core) }
            let targets = storedTargets(of: key, collection)
            storing { try handle.read { try collection.removeStored(of: key, targets: targets, $0) } }
            if targets.isEmpty { continue }
            let link = LinkID(table: table.id, property: collection.property)
            #if MARTLET_SEEDED_BUGS
                let hasInverse = schema.hasInverse(link) && !SeededBug.isOn(.linksOfDeletedRow)
            #else
                let hasInverse = schema.hasInverse(link)
            #endif
            if hasInverse { transaction?.recorder.relink(targets, link) }
        }
        storing { try handle.read { try table.rows.delete(key, $0) } }
        transaction?.recorder.delete(key, in: table.id)
        pending.denials.rowWasDeleted(RowDeletion.Row(table: table.id, key: key))
        bumpChangeCount()
        table.forEachAccessor(key, invalidateDeleted)
    }

    private func storedTargets(of key: ObjectKey, _ collection: TableLayout.Collection) -> [ObjectKey] {
        collection.targets == nil ? [] : read { try collection.storedTargets(of: key, $0) }
    }

    /// Deletes all rows, one table at a time. Links need no attention, because no row remains.
    func deleteAll() {
        _ = requireWrite("the Realm")
        let notification = notifyWillInvalidateAll()
        flushForQuery()
        for table in tables.values.sorted(by: { $0.id < $1.id }) {
            let keys = read { try table.rows.keys($0) }
            if transaction?.keepsOldRows == true { for key in keys { keepOldRow(key, table) } }
            storing { try handle.read { try table.rows.deleteAll($0) } }
            for key in keys { transaction?.recorder.delete(key, in: table.id) }
            table.accessors.forEach(invalidateDeleted)
        }
        removeAllAnyLinks()
        collections.values.compactMap(\.core).forEach(invalidateDeleted)
        collections = [:]
        pending.denials = DeletionDenials()
        bumpChangeCount()
        notification.didChange()
    }

    /// Stores the image of a row before its first change in the transaction.
    func keepOldRow(_ key: ObjectKey, _ table: ObjectTable) {
        guard let transaction, transaction.keepsOldRows, !transaction.oldRows.isFull,
            transaction.oldRows.row(key, in: table.id) == nil
        else { return }
        if let row = read({ try StoredRow(key, table.layout, $0) }) {
            transaction.oldRows.insertIfAbsent(row.image, of: key, in: table.id)
        }
    }

    /// The rows to delete after a row: its embedded objects, and the targets of its properties with `deleteRule: cascade`.
    fileprivate func ownedRows(of key: ObjectKey, _ table: ObjectTable) -> [RowDeletion.Row] {
        table.type.properties.filter { $0.element.isEmbedded || $0.deleteRule == .cascade }
            .flatMap { targets(of: $0, key, table) }
    }

    /// Records the denials of a row's deletion by `deleteRule: deny`.
    fileprivate func denyDeletion(of key: ObjectKey, _ table: ObjectTable) {
        for property in table.type.properties where property.deleteRule == .deny {
            let targets = targets(of: property, key, table)
            if targets.isEmpty { continue }
            let holder = name(of: RowDeletion.Row(table: table.id, key: key))
            for target in targets { pending.denials.deny(holder, "\(table.type.name).\(property.name)", by: target) }
        }
    }

    /// The distinct targets of a property of a row.
    private func targets(of property: PropertySchema, _ key: ObjectKey, _ table: ObjectTable) -> [RowDeletion.Row] {
        guard let target = property.element.target.flatMap(self.table(named:)) else { return [] }
        return read { try table.rows.targets(of: property, key, $0) }.map { RowDeletion.Row(table: target.id, key: $0) }
    }

    // MARK: Links to a deleted row

    private func release(_ target: RowDeletion.Row, _ incoming: DatabaseSchema.Incoming) {
        let source = table(incoming.table)
        let property = source.type.properties[incoming.property]
        let holders = holders(of: target.key, source, property)
        guard !holders.isEmpty else { return }
        deny(target, holders, source, property)
        if property.isCollection {
            for owner in holders { core(source, property.index, owner).release([.integer(target.key)]) }
            flushForQuery()
        } else {
            nullify(holders, source, property)
        }
    }

    /// Records the denials of a row's deletion by `onDelete: deny`.
    private func deny(
        _ target: RowDeletion.Row, _ holders: [ObjectKey], _ source: ObjectTable, _ property: PropertySchema
    ) {
        guard property.onDelete == .deny, !holders.isEmpty else { return }
        let name = name(of: target)
        for holder in holders {
            pending.denials.deny(name, by: RowDeletion.Row(table: source.id, key: holder), property.index)
        }
    }

    /// The rows whose link, or collection of links, refers to a row.
    private func holders(of key: ObjectKey, _ source: ObjectTable, _ property: PropertySchema) -> [ObjectKey] {
        read { try source.rows.holders(of: key, property, $0) }
    }

    /// The rows to delete because they link to a row by a property with `onDelete: cascade`.
    ///
    /// Sets their links in columns to NULL without notifying observers, because the rows are deleted next. Links in collections
    /// are deleted together with their rows.
    fileprivate func cascadingRows(to key: ObjectKey, _ table: ObjectTable) -> [RowDeletion.Row] {
        var rows: [RowDeletion.Row] = []
        for incoming in table.incoming {
            let source = self.table(incoming.table)
            let property = source.type.properties[incoming.property]
            guard property.onDelete == .cascade else { continue }
            let holders = holders(of: key, source, property)
            if !property.isCollection { nullify(holders, source, property, isSilent: true) }
            rows += holders.map { RowDeletion.Row(table: source.id, key: $0) }
        }
        return rows
    }

    private func nullify(
        _ holders: [ObjectKey], _ source: ObjectTable, _ property: PropertySchema, isSilent: Bool = false
    ) {
        for holder in holders {
            change(property.index, of: holder, source, isSilent: isSilent) {
                storing { try handle.read { try source.rows.clearLink(property.index, of: holder, $0) } }
            }
        }
    }

    /// Changes a property of a row in the file. The accessors of the row read it again.
    func change(
        _ property: PropertyIndex, of key: ObjectKey, _ table: ObjectTable, isSilent: Bool = false, _ body: () -> Void
    ) {
        #if MARTLET_SEEDED_BUGS
            if !SeededBug.isOn(.rowNotKept) { keepOldRow(key, table) }
        #else
            keepOldRow(key, table)
        #endif
        var observers: [KeyValueObservers] = []
        if !isSilent { table.forEachAccessor(key) { if let known = $0._observers { observers.append(known) } } }
        observers.forEach {
            $0.noteChange(of: property, in: self)
            $0.willChange(property)
        }
        if !isSilent, hasTrackedReads { reads.willChange(property, of: key, in: table.id) }
        flushForQuery()
        body()
        transaction?.recorder.modify(key, property, in: table.id)
        table.forEachAccessor(key, markStale)
        observers.forEach { $0.didChange(property) }
        if hasTrackedReads { reads.didChange() }
    }

    /// Removes rows that are about to be deleted from collections. Each collection is changed once.
    fileprivate func releaseElements(_ rows: [RowDeletion.Row]) {
        guard rows.count > 1 else { return }
        for (id, rows) in Dictionary(grouping: rows, by: \.table).sorted(by: { $0.key < $1.key }) {
            for incoming in table(id).incoming {
                let source = table(incoming.table)
                let property = source.type.properties[incoming.property]
                // The owners of cascading properties are deleted themselves.
                guard property.isCollection, property.onDelete != .cascade else { continue }
                var held: [ObjectKey: Set<SQLValue>] = [:]
                for row in rows {
                    let owners = holders(of: row.key, source, property)
                    deny(row, owners, source, property)
                    for owner in owners { held[owner, default: []].insert(.integer(row.key)) }
                }
                for (owner, elements) in held.sorted(by: { $0.key < $1.key }) {
                    core(source, property.index, owner).release(elements)
                }
                flushForQuery()
            }
        }
    }
}

/// The deletion of rows together with all rows that cascades and ownership include. It uses a list of steps and no recursion,
/// because chains of cascades and embedded objects may be too long for the stack.
struct RowDeletion {
    struct Row: Hashable {
        let table: TableID
        let key: ObjectKey
    }

    private enum Step {
        /// Deletes the rows that link to a row with `onDelete: cascade`.
        case begin(Row)
        /// Deletes the row, and then the rows it owns and the targets of its `deleteRule: cascade`.
        case end(Row, KeyValueNotification)
    }

    private let context: RealmContext
    /// A stack: the last step is performed next.
    private var steps: [Step] = []
    private var begun: Set<Row> = []
    /// The observers that were notified before the deletion of rows that are not deleted yet.
    private var notified: [Row: KeyValueNotification] = [:]

    init(_ context: RealmContext) { self.context = context }

    /// Deletes rows, each with all rows it includes before the next. Skips rows that are deleted already.
    mutating func run(_ rows: [Row]) {
        if rows.count > 1 {
            if context.hasKeyValueObservers {
                for row in rows where notified[row] == nil { notified[row] = notifyWillInvalidate(row) }
            }
            context.flushForQuery()
            context.releaseElements(rows)
        }
        for row in rows {
            steps = [.begin(row)]
            while let step = steps.popLast() {
                switch step {
                case .begin(let row): begin(row)
                case .end(let row, let notification): end(row, notification)
                }
            }
        }
        for row in rows { notified.removeValue(forKey: row)?.didChange() }
    }

    private func notifyWillInvalidate(_ row: Row) -> KeyValueNotification {
        context.notifyWillInvalidate(of: row.key, context.table(row.table))
    }

    private mutating func begin(_ row: Row) {
        let table = context.table(row.table)
        guard begun.insert(row).inserted, table.exists(row.key) else { return }
        let notification = notified.removeValue(forKey: row) ?? notifyWillInvalidate(row)
        context.flushForQuery()
        context.keepOldRow(row.key, table)
        let cascading = context.cascadingRows(to: row.key, table)
        if cascading.isEmpty { return remove(row, notification) }
        steps.append(.end(row, notification))
        push(cascading)
    }

    // An observer of an earlier deletion may have deleted the row already.
    private mutating func end(_ row: Row, _ notification: KeyValueNotification) {
        guard context.table(row.table).exists(row.key) else { return notification.didChange() }
        remove(row, notification)
    }

    private mutating func remove(_ row: Row, _ notification: KeyValueNotification) {
        let table = context.table(row.table)
        let owned = context.ownedRows(of: row.key, table)
        context.denyDeletion(of: row.key, table)
        context.remove(row.key, table)
        notification.didChange()
        push(owned)
    }

    private mutating func push(_ rows: [Row]) {
        context.releaseElements(rows)
        steps += rows.reversed().map { .begin($0) }
    }
}
