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
            let key = try integerKey(of: object, table) ?? transaction.nextKey(in: table.id)
            let collections = table.model?.hasReferences == true ? RowEncoder.collections(of: object) : []
            // Managed from here on, so that objects that link back to it find its key.
            table.bind(object, key)
            object._state = .live
            if table.model?.hasReferences == true { RowEncoder.adoptLinks(of: object, self, policy) }
            try insert(object, key, table, transaction)
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

    private func insert(_ object: ObjectBase, _ key: ObjectKey, _ table: ObjectTable, _ transaction: WriteTransaction) throws {
        try transaction.handle.read { connection in
            let statement = try connection.statement(table.insertSQL)
            let parameter = RowEncoder.bind(object, statement, arena, mask: .max, table.layout)
            if !table.layout.keyIsProperty { statement.bind(key, at: parameter) }
            try statement.run()
        }
        transaction.recorder.insert(key, in: table.id)
        touch()
    }

    /// The primary key as the object key, where it is an integer.
    private func integerKey(of object: ObjectBase, _ table: ObjectTable) throws -> ObjectKey? {
        guard table.layout.keyIsProperty, let property = table.type.primaryKey,
            case .integer(let key) = RowEncoder.values(of: object)[property]
        else { return nil }
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
