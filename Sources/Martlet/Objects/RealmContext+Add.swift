import MartletEngine
import MartletSQLite

extension RealmContext {
    /// Adds an object and what it links to; returns its key. A managed object of this Realm is left as it is.
    func adopt(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) -> ObjectKey {
        if object._state != .unmanaged {
            guard object._context === self else { Misuse.foreignObject(object._typeName) }
            if object._state == .invalidated { Misuse.invalidated(object._typeName, object._keyDescription) }
            return object._key
        }
        return add(object, policy)
    }

    /// Adds an unmanaged embedded object on behalf of its owner.
    func adoptEmbedded(_ object: ObjectBase) -> ObjectKey {
        if object._state != .unmanaged { Misuse.embeddedOwned(object._typeName) }
        return add(object, .error)
    }

    /// Adds an unmanaged object. Returns the key of the row that holds it now.
    func add(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) -> ObjectKey {
        let table = table(type(of: object))
        let transaction = requireWrite("a '\(table.type.name)'")
        if object._observers?.isEmpty == false { Misuse.addObserved(table.type.name) }
        if policy != .error, let existing = existingRow(for: object, table) {
            update(existing, from: object, policy, table)
            return existing._key
        }
        do {
            guard table.model?.hasReferences == true else { return try addPlain(object, table, transaction) }
            let key =
                table.integerKey >= 0 ? RowEncoder.integerKey(of: object, table) : try transaction.nextKey(in: table.id)
            let collections = RowEncoder.collections(of: object)
            // Managed from here on, so that objects that link back to it find its key.
            table.bind(object, key)
            object._state = .live
            RowEncoder.adoptLinks(of: object, self, policy)
            _ = try insert(object, key, table, transaction)
            object._guard = confinement.guardWord
            for (property, collection) in collections { collection._manage(object, property, policy) }
            return key
        } catch let error as SQLiteError {
            if error.primary == .constraint, let primaryKey = table.type.primaryKey {
                Misuse.duplicatePrimaryKey(table.type.name, "\(RowEncoder.values(of: object)[primaryKey])")
            }
            Misuse.failedFlush(EngineError(error, path: coordinator.path))
        } catch {
            Misuse.failedFlush(error)
        }
    }

    // Objects that lead nowhere need no look at what comes with them.
    private func addPlain(_ object: ObjectBase, _ table: ObjectTable, _ transaction: WriteTransaction) throws -> ObjectKey {
        let chosen = table.integerKey >= 0 ? 0 : try transaction.nextKey(in: table.id)
        let key = try insert(object, chosen, table, transaction)
        table.bind(object, key)
        object._state = .live
        object._guard = confinement.guardWord
        return key
    }

    /// Returns the key of the new row: the given one, or the integer primary key.
    private func insert(
        _ object: ObjectBase, _ chosen: ObjectKey, _ table: ObjectTable, _ transaction: WriteTransaction
    ) throws -> ObjectKey {
        let key = try transaction.handle.read { connection in
            let statement = try table.insertStatement(connection)
            let bound = RowEncoder.bind(object, statement, arena, mask: .max, table)
            if table.integerKey < 0 { statement.bind(chosen, at: bound.parameter) }
            try statement.run()
            return table.integerKey < 0 ? chosen : bound.key
        }
        transaction.recorder.insert(key, in: table.id)
        touch()
        return key
    }

    // MARK: Update

    private func existingRow(for object: ObjectBase, _ table: ObjectTable) -> ObjectBase? {
        guard let property = table.type.primaryKey else { Misuse.noPrimaryKey(table.type.name) }
        return key(primaryKey: RowEncoder.values(of: object)[property], table).map { table.object($0) }
    }

    /// The row with a primary key; nil when there is none.
    func key(primaryKey value: SQLValue, _ table: ObjectTable) -> ObjectKey? {
        guard let property = table.type.primaryKey, let column = table.layout.column(of: property) else {
            Misuse.noPrimaryKey(table.type.name)
        }
        if table.layout.keyIsProperty, case .integer(let key) = value, table.identity.object(key) != nil { return key }
        flushForQuery()
        return read {
            try $0.integer(
                "SELECT \(table.layout.keyColumn) FROM \(table.layout.table) WHERE \(column.name) = ?1", [value])
        }
    }

    /// Gives an existing row the values of an unmanaged object: only those that differ, or all of them.
    private func update(_ existing: ObjectBase, from object: ObjectBase, _ policy: Realm.UpdatePolicy, _ table: ObjectTable) {
        prepare(existing)
        let old = RowEncoder.values(of: existing)
        let new = RowEncoder.values(of: object)
        for property in table.type.properties where property.index != table.type.primaryKey {
            if property.isCollection || property.element.isEmbedded || property.isLink || policy == .all
                || !old[property.index].isIdentical(to: new[property.index])
            {
                object.copyProperty(property, to: existing, policy)
            }
        }
    }
}

extension SQLValue {
    /// Equality of bits: NaN equals itself, negative zero differs from zero.
    func isIdentical(to other: SQLValue) -> Bool {
        if case .real(let a) = self, case .real(let b) = other { return a.bitPattern == b.bitPattern }
        return self == other
    }
}
