public import Dispatch
import MartletEngine

extension List {
    /// Calls `block` with the list once, and after each change of its elements or of what they hold.
    ///
    /// As `Results.observe`: an element that occurs several times is reported at each of its positions; deleting the owner
    /// reports all positions as deletions, once.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmCollectionChange<List>) -> Void
    ) -> NotificationToken {
        guard let core else { Misuse.observeUnmanaged("List<\(Element.self)>") }
        let context = core.context
        let target = core.property.element.target.flatMap { context.schema[$0]?.id }
        context.requireObservable("the list '\(core.name)'", keyPaths, target)
        core.requireValid()
        if let queue {
            let id = core.id
            return RemoteObservation.start(context, queue, block) { realm, block in
                let table = realm.context.table(id.table)
                guard table.exists(id.owner) else { return nil }
                return List(core: realm.context.core(table, id.property, id.owner)).observe(keyPaths: keyPaths, block)
            }
        }
        let token = NotificationToken(context)
        let entry = ListEntry(core.tracker(keyPaths), delivered: context.version) { [self] outcome in
            switch outcome {
            case .initial: block(.initial(self))
            case .update(let change):
                block(
                    .update(
                        self, deletions: change.deletions, insertions: change.insertions, modifications: change.modifications))
            case .failure(let error): block(.error(error))
            }
        }
        entry.token = token
        context.hub.add(entry)
        return token
    }
}

extension CollectionCore {
    func tracker(_ keyPaths: [String]?) -> ListTracker {
        do {
            return try ListTracker(id, keyPaths: keyPaths.map { $0.map { PropertyPath($0) } }, context.schema)
        } catch {
            Misuse.query("'\(error.type)' has no property '\(error.name)'")
        }
    }
}

extension LinkingObjects {
    /// Calls `block` with the linking objects once, and after each change of who links here or of what they hold.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Results<Element>>) -> Void
    ) -> NotificationToken {
        guard let results else { Misuse.observeUnmanaged("LinkingObjects<\(Element.self)>") }
        return results.observe(keyPaths: keyPaths, on: queue, block)
    }
}
