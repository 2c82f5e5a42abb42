public import Dispatch
import MartletEngine

extension Results where Element: ObjectBase {
    /// Calls `block` with the collection once it is there, and after each change of what it holds.
    ///
    /// Calls come on the executor of the Realm: its run loop or queue, and inside `refresh()` and `beginWrite()`. The
    /// observation lasts as long as the token.
    ///
    /// - Parameters:
    ///   - keyPaths: which properties count as modifications, through links too; nil for all, up to four objects deep.
    ///   - queue: a serial queue to observe on instead; the collection given to the block then belongs to it.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, _ block: @escaping (RealmCollectionChange<Results>) -> Void
    ) -> NotificationToken {
        if let queue { return observe(keyPaths, on: queue, block) }
        let context = storage.context
        context.requireObservable("a collection of '\(storage.table.type.name)'", keyPaths, storage.table.id)
        let tracker = storage.tracker(keyPaths)
        let token = NotificationToken(context)
        let entry = ResultsEntry(tracker, storage, delivered: context.version) { [self] outcome in
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

    /// The same with typed key paths.
    public func observe(
        keyPaths: [any KeyPathDescriptor<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Results>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map(\.keyPath), on: queue, block)
    }

    private func observe(
        _ keyPaths: [String]?, on queue: DispatchQueue, _ block: @escaping (RealmCollectionChange<Results>) -> Void
    ) -> NotificationToken {
        storage.context.requireObservable("a collection of '\(storage.table.type.name)'", keyPaths, storage.table.id)
        let plan = storage.plan
        return RemoteObservation.start(storage.context, queue, block) { realm, block in
            let table = realm.context.table(plan.table)
            return Results(ResultsStorage(realm.context, table, plan)).observe(keyPaths: keyPaths, block)
        }
    }
}

extension ResultsStorage {
    func tracker(_ keyPaths: [String]?) -> ResultsTracker {
        do {
            return try ResultsTracker(plan, keyPaths: keyPaths.map { $0.map { PropertyPath($0) } }, context.schema)
        } catch {
            Misuse.query("'\(error.type)' has no property '\(error.name)'")
        }
    }
}

/// An observation that lives on another queue: begun there, ended from anywhere.
final class RemoteObservation: @unchecked Sendable {
    // Sendable: `token` is set and read on `queue`; the blocks travel there once.
    private let queue: DispatchQueue
    private var token: NotificationToken?
    private var isEnded = false

    private init(_ queue: DispatchQueue) { self.queue = queue }

    static func start<Block>(
        _ context: RealmContext, _ queue: DispatchQueue, _ block: Block,
        _ observe: @escaping (Realm, Block) -> NotificationToken?
    ) -> NotificationToken {
        let remote = RemoteObservation(queue)
        var configuration = context.configuration
        configuration.scheduler = nil
        nonisolated(unsafe) let (given, body, settings) = (block, observe, configuration)
        queue.async {
            guard !remote.isEnded, let realm = try? Realm(configuration: settings, queue: queue) else { return }
            remote.token = body(realm, given)
        }
        return NotificationToken(context) {
            queue.async {
                remote.isEnded = true
                remote.token = nil
            }
        }
    }
}
