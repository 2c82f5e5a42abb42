import MartletEngine

extension ObservableProjection where Self: ThreadConfined {
    /// Observes on an actor: `block` is isolated to it, and the projection it is given belongs to it.
    ///
    /// Key paths are those of `observe(keyPaths:on:_:)` for queues.
    public func observe<Home: Actor>(
        keyPaths: [String]? = nil, on actor: Home, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Home, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(on: actor, isolation: isolation) { actor, arrival in
            switch arrival {
            case .here(let projection):
                return projection.observe(keyPaths: keyPaths) { [unowned actor] in actor.run($0, block) }
            case .gone: actor.run(ObjectChange.deleted, block)
            case .failed(let error): actor.run(ObjectChange.error(error), block)
            }
            return nil
        }
    }

    /// The same with Swift key paths of the projection.
    public func observe<Home: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: Home, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Home, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        let labels = ProjectionLabels(Self.self)
        return await observe(
            keyPaths: keyPaths.flatMap { labels.names($0) }, on: actor, isolation: isolation, block)
    }
}
