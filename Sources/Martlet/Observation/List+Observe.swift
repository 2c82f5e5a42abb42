public import Dispatch
import MartletEngine

extension List: ObservableCollection {
    /// What all variants of `observe` come to.
    public func _observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?, _ tell: @escaping (_CollectionEvent, List) -> Void
    ) -> NotificationToken {
        guard let core else { Misuse.observeUnmanaged("List<\(Element.self)>") }
        let context = core.context
        context.requireObservable("the list '\(core.name)'", onQueue: queue != nil)
        core.requireValid()
        let paths = core.requireKeyPaths(keyPaths)
        guard let queue else {
            let token = NotificationToken(context)
            core.observe(paths, token.registration) { [self] event, isOver in tell(event, isOver ? self : current) }
            return token
        }
        let id = core.id
        return context.observe(on: queue, { [self] in tell(.failure($0), self) }) { context, registration in
            let table = context.table(id.table)
            guard table.exists(id.owner) else { return }
            let list = List(core: context.core(table, id.property, id.owner))
            list.core?.observe(paths, registration) { event, isOver in tell(event, isOver ? list : list.current) }
        }
    }

    // This very list, unless its Realm was invalidated and shows the owner again.
    private var current: List {
        guard let core, core.isOwnerGone, core.table.exists(core.owner) else { return self }
        return List(core: core.context.core(core.table, core.property.index, core.owner))
    }
}

extension CollectionCore {
    fileprivate func requireKeyPaths(_ keyPaths: [String]?) -> [PropertyPath]? {
        guard let keyPaths else { return nil }
        guard let target = property.element.target.flatMap({ context.schema[$0] }) else {
            Misuse.unknownKeyPath(keyPaths.first ?? "", component: keyPaths.first ?? "", type: name)
        }
        return context.requireKeyPaths(keyPaths, target.id)
    }

    fileprivate func observe(
        _ paths: [PropertyPath]?, _ registration: Registration,
        _ tell: @escaping (_CollectionEvent, _ isOver: Bool) -> Void
    ) {
        let tracker = tracker(paths)
        let entry = TrackingEntry<ListTracker.State, _CollectionEvent>(
            registration, delivered: context.version, known: nil
        ) {
            known, changes, handle in
            guard let known else {
                let state = try tracker.state(handle)
                return .init(state: state, news: .initial, isLast: state.isOver)
            }
            let (state, change) = try tracker.advance(known, changes, handle)
            return .init(
                state: state, news: change.isEmpty ? nil : .update(CollectionChangeSet(change)), isLast: state.isOver)
        } tell: { event, state, _ in
            let isOver = state?.isOver ?? false
            switch event {
            case .news(let news): tell(news, isOver)
            case .quiet: break
            case .failure(let error): tell(.failure(error), isOver)
            }
        }
        context.hub.add(entry)
    }

    private func tracker(_ paths: [PropertyPath]?) -> ListTracker {
        do {
            return try ListTracker(id, keyPaths: paths, context.schema)
        } catch {
            Misuse.query("'\(error.type)' has no property '\(error.name)'")
        }
    }
}
