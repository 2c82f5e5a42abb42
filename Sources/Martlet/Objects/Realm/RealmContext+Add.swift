import MartletEngine
import MartletValues

extension RealmContext {
    /// Returns the key of an object. An unmanaged object is added first, together with the objects to which it links. A
    /// managed object of this Realm is not changed.
    func addIfUnmanaged(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) -> ObjectKey {
        if object._state != .unmanaged {
            if object._state == .invalidated { Misuse.invalidated(object._typeName, object._keyDescription) }
            guard object._context === self else { refuse(foreign: object) }
            if let table = object._table, pending.rowsBeingDeleted.contains(RowID(table: table.id, key: object._key)) {
                Misuse.linkedDuringDeletion(object._typeName, object._keyDescription)
            }
            return object._key
        }
        if !additions.updating.isEmpty, let key = additions.updating[ObjectIdentifier(object)] { return key }
        return add(object, policy)
    }

    /// Returns the key of an embedded object that is being assigned to its owner. An unmanaged object is added first. A
    /// managed object must not have an owner yet; otherwise this method traps.
    func addEmbeddedIfUnmanaged(_ object: ObjectBase, _ policy: Realm.UpdatePolicy = .error) -> ObjectKey {
        if object._state != .unmanaged {
            guard additions.ownerless.remove(ObjectIdentifier(object)) != nil else {
                Misuse.embeddedOwned(object._typeName)
            }
            return object._key
        }
        return add(object, policy)
    }

    /// Adds an unmanaged object and returns the key of its row. An object without a primary key is always added as a
    /// new row.
    func add(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) -> ObjectKey {
        let table = object._table(in: self)
        let transaction = requireWrite("a '\(table.type.name)'")
        if object._observers?.isEmpty == false { Misuse.addObserved(table.type.name) }
        let reads = object._observers?.reads
        object._observers = nil
        // The tracked reads end after the object has become managed. If an observer reads the object again, it reads
        // the row.
        defer { reads?.end() }
        additions.depth += 1
        defer { additions.depth -= 1 }
        if policy != .error, let property = table.type.primaryKey,
            let key = key(primaryKey: RowEncoder.value(of: object, property), table)
        {
            additions.updating[ObjectIdentifier(object)] = key
            if additions.mustDeferLinks {
                deferAddition(of: object, key, policy)
            } else {
                update(key, from: object, policy, table)
                addDeferred()
            }
            return key
        }
        guard table.anyModel.hasReferences else { return addPlain(object, table, transaction) }
        let key = newKey(of: object, table, transaction)
        // The object is bound to its row before its links are added. An object that links back to this object then
        // finds the key.
        table.bind(object, key)
        object._state = .live
        if additions.mustDeferLinks {
            _ = insert(object, key, table, transaction)
            deferAddition(of: object, key, policy)
            return key
        }
        let collections = RowEncoder.collections(of: object)
        addTargets(of: object, policy, table)
        _ = insert(object, key, table, transaction)
        object._guard = guardWord
        for (property, collection) in collections { collection._manage(object, property, policy) }
        addDeferred()
        return key
    }

    private func deferAddition(of object: ObjectBase, _ key: ObjectKey, _ policy: Realm.UpdatePolicy) {
        additions.deferred.append(
            Additions.DeferredAddition(
                object: object, key: key, policy: policy, deletionCount: pending.deletionCount))
    }

    /// Adds the links of the deferred objects in the order in which the objects were deferred. If adding the links of
    /// an object defers further objects, these come before the remaining objects.
    private func addDeferred() {
        guard additions.depth == 1, !additions.deferred.isEmpty else { return }
        var batches: [ArraySlice<Additions.DeferredAddition>] = []
        while true {
            if !additions.deferred.isEmpty { batches.append(additions.deferred[...]) }
            additions.deferred = []
            while batches.last?.isEmpty == true { batches.removeLast() }
            guard !batches.isEmpty, let next = batches[batches.count - 1].popFirst() else { return }
            addDeferred(next)
        }
    }

    private func addDeferred(_ next: Additions.DeferredAddition) {
        let table = next.object._table(in: self)
        // If the object is embedded, a later assignment to its owner's property may have replaced and deleted it.
        if next.deletionCount != pending.deletionCount,
            !read({ [rows = table.rows] in try rows.exists(next.key, $0) })
        {
            additions.updating[ObjectIdentifier(next.object)] = nil
            return
        }
        if next.object._state == .unmanaged {
            update(next.key, from: next.object, next.policy, table)
        } else if additions.updating.removeValue(forKey: ObjectIdentifier(next.object)) == nil {
            addLinks(of: next.object, next.policy, table)
        }
    }

    // Adds the links of an object whose row was inserted without them.
    private func addLinks(of object: ObjectBase, _ policy: Realm.UpdatePolicy, _ table: ObjectTable) {
        let collections = RowEncoder.collections(of: object)
        addTargets(of: object, policy, table)
        for property in table.type.properties where property.isColumn && (property.isLink || property.isAny) {
            pending.add(object, property.index)
        }
        object._guard = guardWord
        for (property, collection) in collections { collection._manage(object, property, policy) }
    }

    // Adds the objects that an object links to. This may update existing objects, and their observers may delete an
    // object that was added before. After such a deletion, the links are checked.
    private func addTargets(of object: ObjectBase, _ policy: Realm.UpdatePolicy, _ table: ObjectTable) {
        let deletionCount = pending.deletionCount
        RowEncoder.addLinks(of: object, self, policy)
        if pending.deletionCount == deletionCount { return }
        let values = RowEncoder.values(of: object)
        for property in table.type.properties where property.isColumn {
            requireTargets(values[property.index], property)
        }
    }

    // The fast path for types without links, collections and `AnyRealmValue` properties.
    private func addPlain(_ object: ObjectBase, _ table: ObjectTable, _ transaction: WriteTransaction) -> ObjectKey {
        let key = insert(
            object, table.integerKey >= 0 ? nil : newKey(of: object, table, transaction), table, transaction)
        table.bind(object, key)
        object._state = .live
        object._guard = guardWord
        return key
    }

    private func newKey(of object: ObjectBase, _ table: ObjectTable, _ transaction: WriteTransaction) -> ObjectKey {
        if pending.failure != nil { return pending.placeholderKey(table) }
        if table.integerKey >= 0 {
            let key = RowEncoder.integerKey(of: object, table)
            // A duplicate key is detected before the object is bound. Otherwise the object would replace the living
            // accessor of the existing row.
            if table.identity.object(key) != nil, table.exists(key) { refuseDuplicate(.integer(key), table) }
            return key
        }
        do {
            return try transaction.nextKey(in: table.id)
        } catch {
            readFailed(error)
        }
    }

    /// Inserts a row and returns its key: `chosen` or, if `chosen` is nil, the integer primary key.
    private func insert(
        _ object: ObjectBase, _ chosen: ObjectKey?, _ table: ObjectTable, _ transaction: WriteTransaction
    ) -> ObjectKey {
        if hasTrackedReads { callingBeforeChange { reads.willInsert(in: table.id) } }
        var stored = chosen
        recordingFailure {
            do {
                stored = try table.rows.insert(in: transaction) { binder in
                    let bound = RowEncoder.bind(object, binder, mask: .all, table)
                    guard table.integerKey < 0 else { return bound.key }
                    let key = chosen ?? 0
                    binder.bind(key, at: bound.parameter)
                    return key
                } values: {
                    RowEncoder.values(of: object)
                }
            } catch  where EngineError.isConstraint(error) {
                requireNoDuplicate(of: object, table)
                throw error
            }
        }
        // If the insertion has failed, the commit throws and invalidates the object.
        let key = stored ?? pending.placeholderKey(table)
        transaction.recorder.insert(key, in: table.id)
        bumpChangeCount(of: table)
        if hasTrackedReads { reads.didChange() }
        return key
    }

    // Traps if another row has the primary key of the object.
    private func requireNoDuplicate(of object: ObjectBase, _ table: ObjectTable) {
        guard let property = table.type.primaryKey else { return }
        let value = RowEncoder.values(of: object)[property]
        if key(primaryKey: value, table, usesIdentityMap: false) != nil { refuseDuplicate(value, table) }
    }

    private func refuseDuplicate(_ key: SQLValue, _ table: ObjectTable) -> Never {
        let text =
            switch key {
            case .integer(let number): "\(number)"
            case .text(let text): "'\(text)'"
            default:
                table.type.primaryKey.flatMap { UntypedValue.swift(key, table.type.properties[$0].element) }.map {
                    "\($0)"
                } ?? ""
            }
        Misuse.duplicatePrimaryKey(table.type.name, text)
    }

    // MARK: Update

    /// The key of the row with the given primary key; nil if there is none.
    func key(primaryKey value: SQLValue, _ table: ObjectTable, usesIdentityMap: Bool = true) -> ObjectKey? {
        if table.type.primaryKey == nil { Misuse.noPrimaryKey(table.type.name) }
        if usesIdentityMap, table.layout.keyIsProperty, case .integer(let key) = value,
            table.identity.object(key)?._state == .live
        {
            return key
        }
        return read { try table.rows.key(primaryKey: value, $0) }
    }

    /// Assigns the values of an unmanaged object to an existing row. The object then becomes a further accessor of the
    /// row.
    private func update(_ key: ObjectKey, from object: ObjectBase, _ policy: Realm.UpdatePolicy, _ table: ObjectTable) {
        copyValues(from: object, to: table.object(key), policy)
        additions.updating[ObjectIdentifier(object)] = nil
        bindAsFurtherAccessor(object, key, table)
    }

    /// Assigns the values of an embedded object to an existing embedded object, which keeps its identity. `object` then
    /// becomes a further accessor of the existing row.
    func updateEmbedded(
        _ key: ObjectKey, from object: ObjectBase, _ policy: Realm.UpdatePolicy, _ table: ObjectTable
    ) {
        additions.depth += 1
        defer { additions.depth -= 1 }
        if additions.mustDeferLinks && object._state == .unmanaged {
            deferAddition(of: object, key, policy)
        } else {
            update(key, from: object, policy, table)
            addDeferred()
        }
    }

    /// Assigns the values of an unmanaged object to `target`. With the policy `.modified`, assigns only the values that
    /// differ.
    private func copyValues(from source: ObjectBase, to target: ObjectBase, _ policy: Realm.UpdatePolicy) {
        prepare(target, nil)
        let (old, new) = (RowEncoder.values(of: target), RowEncoder.values(of: source))
        let schema = target._model.schema
        for property in schema.properties where property.index != schema.primaryKey {
            let isPlain = !property.isCollection && !property.isLink && !property.isAny
            if !isPlain || policy == .all || old[property.index] != new[property.index] {
                source.copyProperty(property, to: target, policy)
            }
        }
    }

    /// Makes an unmanaged object a further accessor of a row. Its values were already assigned to the row.
    private func bindAsFurtherAccessor(_ object: ObjectBase, _ key: ObjectKey, _ table: ObjectTable) {
        guard object._state == .unmanaged else { return }
        let collections = RowEncoder.collections(of: object)
        table.bindFurtherAccessor(object, key)
        for (property, collection) in collections { collection._attach(object, property) }
        markStale(object)
    }
}
