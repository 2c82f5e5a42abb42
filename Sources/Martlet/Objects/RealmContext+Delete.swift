import MartletEngine
import MartletSQLite

extension RealmContext {
    /// Deletes a row: what it owns goes with it, what links to it lets go.
    func delete(_ object: ObjectBase) {
        confinement.require(object._described)
        if object._state == .invalidated { Misuse.invalidated(object._typeName, object._keyDescription) }
        if object._state == .unmanaged { Misuse.deletedUnmanaged(object._typeName) }
        guard object._context === self, let table = object._table else { refuse(foreign: object) }
        guard exists(object) else { Misuse.invalidated(object._typeName, object._keyDescription) }
        deleteRow(object._key, table)
    }

    func deleteRow(_ key: ObjectKey, _ table: ObjectTable) {
        _ = requireWrite("a '\(table.type.name)'")
        let announcement = announceEnd(of: key, table)
        flushForQuery()
        keepOldRow(key, table)
        let owned = ownedRows(of: key, table)
        for incoming in table.incoming { release(key, incoming) }
        releaseAnyLinks(to: key, table)
        removeAnyLinks(of: key, table)
        for collection in table.layout.collections {
            let id = CollectionID(table: table.id, property: collection.property, owner: key)
            collections.removeValue(forKey: id)?.core?.ownerWasDeleted()
            execute("DELETE FROM \(collection.chunks) WHERE owner = ?1", [.integer(key)])
            guard let targets = collection.targets else { continue }
            let link = LinkID(table: table.id, property: collection.property)
            if schema.hasInverse(link) {
                transaction?.recorder.relink(
                    keys("SELECT target FROM \(targets) WHERE owner = ?1", [.integer(key)]), link)
            }
            execute("DELETE FROM \(targets) WHERE owner = ?1", [.integer(key)])
        }
        execute(table.layout.delete, [.integer(key)])
        for words in table.layout.words { execute(words.delete, [.integer(key)]) }
        transaction?.recorder.delete(key, in: table.id)
        touch()
        table.forEachAccessor(key, invalidate)
        announcement.didChange()
        for (ownedTable, ownedKey) in owned where ownedTable.exists(ownedKey) { deleteRow(ownedKey, ownedTable) }
    }

    /// Deletes everything: nothing is left that could link to anything, so rows go by the table.
    func deleteAll() {
        _ = requireWrite("the Realm")
        let announcement = announceEnd()
        flushForQuery()
        for table in tables.values.sorted(by: { $0.id < $1.id }) {
            let keys = keys("SELECT \(table.layout.keyColumn) FROM \(table.layout.table)", [])
            if transaction?.keepsOldRows == true { for key in keys { keepOldRow(key, table) } }
            execute("DELETE FROM \(table.layout.table)", [])
            for words in table.layout.words { execute("DELETE FROM \(words.table)", []) }
            for collection in table.layout.collections {
                execute("DELETE FROM \(collection.chunks)", [])
                if let targets = collection.targets { execute("DELETE FROM \(targets)", []) }
            }
            for key in keys { transaction?.recorder.delete(key, in: table.id) }
            table.accessors.forEach(invalidate)
        }
        removeAllAnyLinks()
        for core in collections.values { core.core?.ownerWasDeleted() }
        collections = [:]
        touch()
        announcement.didChange()
    }

    func execute(_ sql: String, _ arguments: [SQLValue]) {
        storing { try handle.read { try $0.run(sql, arguments) } }
    }

    private func keepOldRow(_ key: ObjectKey, _ table: ObjectTable) {
        guard let transaction, transaction.keepsOldRows, !transaction.oldRows.isFull else { return }
        let values = read { connection -> [SQLValue]? in
            let statement = try connection.statement(table.selectSQL)
            statement.bind(key, at: 1)
            guard try statement.step() else { return nil }
            defer { statement.reset() }
            return table.layout.columns.indices.map { statement.value($0) }
        }
        if let values { transaction.oldRows.keepFirst(values, of: key, in: table.id) }
    }

    /// The embedded objects of a row, in links and collections.
    private func ownedRows(of key: ObjectKey, _ table: ObjectTable) -> [(ObjectTable, ObjectKey)] {
        var owned: [(ObjectTable, ObjectKey)] = []
        for property in table.type.properties where property.element.isEmbedded {
            guard let target = property.element.target.flatMap(table(named:)) else { continue }
            if let column = table.layout.column(of: property.index) {
                let child = read {
                    try $0.integer(
                        "SELECT \(column.name) FROM \(table.layout.table) WHERE \(table.layout.keyColumn) = ?1",
                        [.integer(key)])
                }
                if let child { owned.append((target, child)) }
            } else if property.isCollection, let targets = table.layout.collection(of: property.index).targets {
                let children = keys("SELECT target FROM \(targets) WHERE owner = ?1", [.integer(key)])
                owned += children.map { (target, $0) }
            }
        }
        return owned
    }

    func keys(_ sql: String, _ arguments: [SQLValue]) -> [ObjectKey] {
        read { connection in
            let statement = try connection.statement(sql)
            statement.bind(arguments)
            var keys: [ObjectKey] = []
            while try statement.step() { keys.append(statement.integer(0)) }
            return keys
        }
    }

    // MARK: Links to a deleted row

    private func release(_ key: ObjectKey, _ incoming: DatabaseSchema.Incoming) {
        let source = table(incoming.table)
        let property = source.type.properties[incoming.property]
        guard let column = source.layout.column(of: incoming.property) else {
            return releaseElements(key, source, property)
        }
        let holders = keys(
            "SELECT \(source.layout.keyColumn) FROM \(source.layout.table) WHERE \(column.name) = ?1", [.integer(key)])
        guard !holders.isEmpty else { return }
        switch property.onDelete {
        case .deny: Misuse.deniedDeletion(property.element.target ?? "", by: "\(source.type.name).\(property.name)")
        case .cascade:
            for holder in holders where source.exists(holder) { cascade(holder, source, column.name, property) }
        case .nullify: nullify(holders, source, column.name, property)
        }
    }

    private func cascade(_ holder: ObjectKey, _ source: ObjectTable, _ column: String, _ property: PropertySchema) {
        // The link goes first, so that circles of cascades end. Nobody is told: its row is next.
        nullify([holder], source, column, property, isSilent: true)
        deleteRow(holder, source)
    }

    private func nullify(
        _ holders: [ObjectKey], _ source: ObjectTable, _ column: String, _ property: PropertySchema,
        isSilent: Bool = false
    ) {
        for holder in holders {
            change(property.index, of: holder, source, isSilent: isSilent) {
                execute(
                    "UPDATE \(source.layout.table) SET \(column) = NULL WHERE \(source.layout.keyColumn) = ?1",
                    [.integer(holder)])
            }
        }
    }

    /// Changes a property of a row in the file, where its accessors read it again.
    func change(
        _ property: PropertyIndex, of key: ObjectKey, _ table: ObjectTable, isSilent: Bool = false, _ body: () -> Void
    ) {
        keepOldRow(key, table)
        var observers: [KeyValueObservers] = []
        if !isSilent { table.forEachAccessor(key) { if let known = $0._observers { observers.append(known) } } }
        observers.forEach { $0.willChange(property) }
        flushForQuery()
        body()
        transaction?.recorder.modify(key, property, in: table.id)
        table.forEachAccessor(key, markStale)
        observers.forEach { $0.didChange(property) }
    }

    private func releaseElements(_ key: ObjectKey, _ source: ObjectTable, _ property: PropertySchema) {
        guard property.isCollection, let targets = source.layout.collection(of: property.index).targets else { return }
        for owner in keys("SELECT owner FROM \(targets) WHERE target = ?1", [.integer(key)]) {
            core(source, property.index, owner).release(.integer(key))
        }
        flushForQuery()
    }
}
