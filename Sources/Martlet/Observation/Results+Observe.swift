public import Dispatch
import MartletEngine

extension Results: ObservableCollection {
    /// What all variants of `observe` come to.
    public func _observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ tell: @escaping (_CollectionEvent, Results) -> Void
    ) -> NotificationToken {
        storage.observe(keyPaths, queue) { event, storage in
            // The same collection for as long as it is observed here; on another queue one that belongs to it.
            tell(event, Results(storage))
        }
    }
}

extension LinkingObjects: ObservableCollection {
    /// What all variants of `observe` come to.
    public func _observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ tell: @escaping (_CollectionEvent, LinkingObjects) -> Void
    ) -> NotificationToken {
        guard let results else { Misuse.observeUnmanaged("LinkingObjects<\(Element.self)>") }
        if results.isInvalidated { Misuse.observeInvalidated("LinkingObjects<\(Element.self)>") }
        return results._observe(keyPaths, queue) { event, results in tell(event, LinkingObjects(results: results)) }
    }
}

extension ResultsStorage {
    private struct News {
        let keys: KeySequence
        /// Nil for the first call.
        let change: CollectionChange?
    }

    func observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ tell: @escaping (_CollectionEvent, ResultsStorage) -> Void
    ) -> NotificationToken {
        context.requireObservable("a collection of '\(table.type.name)'", onQueue: queue != nil)
        let paths = context.requireKeyPaths(keyPaths, table.id)
        guard let queue else {
            let token = NotificationToken(context)
            observe(paths, token.registration) { [self] in tell($0, self) }
            return token
        }
        let (plan, owner) = (plan, owner.map { (table: $0._table?.id ?? 0, key: $0._key) })
        return context.observe(on: queue, { [self] in tell(.failure($0), self) }) { context, registration in
            let origin = owner.map { context.table($0.table).object($0.key) }
            let storage = ResultsStorage(context, context.table(plan.table), plan, owner: origin)
            storage.observe(paths, registration) { tell($0, storage) }
        }
    }

    private func observe(
        _ paths: [PropertyPath]?, _ registration: Registration, _ tell: @escaping (_CollectionEvent) -> Void
    ) {
        requirePossible()
        let tracker = tracker(paths)
        let entry = TrackingEntry<KeySequence, News>(registration, delivered: context.version, known: nil) {
            known, changes, handle in
            guard let known else {
                let keys = try tracker.keys(handle)
                return .init(state: keys, news: News(keys: keys, change: nil))
            }
            let (keys, change) = try tracker.advance(known, changes, handle)
            return .init(state: keys, news: change.isEmpty ? nil : News(keys: keys, change: change))
        } tell: { [self] event, keys, version in
            if let keys, context.shows(version) { install(keys) }
            switch event {
            case .news(let news): tell(news.change.map { .update(CollectionChangeSet($0)) } ?? .initial)
            case .quiet: break
            case .failure(let error): tell(.failure(error))
            }
        }
        context.hub.add(entry)
    }

    private func tracker(_ paths: [PropertyPath]?) -> ResultsTracker {
        do {
            return try ResultsTracker(plan, keyPaths: paths, context.schema)
        } catch {
            Misuse.query("'\(error.type)' has no property '\(error.name)'")
        }
    }
}
