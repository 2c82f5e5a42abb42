import MartletEngine

// Locators that find collections in other Realms of the same file.

extension Results: ThreadConfined {
    public func _locator() -> _Locator? { storage.locator { Results($0) } }
}

extension LinkingObjects: ThreadConfined {
    public func _locator() -> _Locator? { results?.storage.locator { LinkingObjects(results: Results($0)) } }
}

extension List: ThreadConfined {
    public func _locator() -> _Locator? { core?.locator { List(core: $0) } }
}

extension MutableSet: ThreadConfined {
    public func _locator() -> _Locator? { core?.locator { MutableSet(core: $0) } }
}

extension Map: ThreadConfined {
    public func _locator() -> _Locator? { core?.locator { Map(core: $0) } }
}

extension ResultsStorage {
    func locator(_ make: @escaping (ResultsStorage) -> Any?) -> _Locator {
        let name = "a collection of '\(table.type.name)'"
        context.confinement.require(name)
        if isInvalidated { Misuse.invalidatedResults(table.type.name) }
        let (plan, owner) = (plan, owner.map { (table: $0._table?.id ?? 0, key: $0._key) })
        return _Locator(context, name, row: owner.map { RowID(table: $0.table, key: $0.key) }) { context in
            guard let table = context.tables[plan.table] else { return nil }
            guard let owner else { return make(ResultsStorage(context, table, plan)) }
            return context.object(owner.key, owner.table).flatMap {
                make(ResultsStorage(context, table, plan, owner: $0))
            }
        }
    }
}

extension CollectionCore {
    func locator(_ make: @escaping (CollectionCore) -> Any?) -> _Locator {
        requireValid()
        let id = id
        return _Locator(context, "the collection '\(name)'", row: RowID(table: id.table, key: id.owner)) { context in
            guard context.object(id.owner, id.table) != nil, let table = context.tables[id.table] else { return nil }
            return make(context.core(table, id.property, id.owner))
        }
    }
}
