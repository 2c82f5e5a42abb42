import MartletEngine

extension ObservableProjection where Self: ThreadConfined {
    /// Observes on an actor. `block` is isolated to the actor, and the projection passed to it belongs to the actor.
    ///
    /// Key paths work as in `observe(keyPaths:on:_:)` for queues.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(on: actor, isolation: isolation) { actor, resolution in
            switch resolution {
            case .resolved(let projection):
                return projection.observe(keyPaths: keyPaths) { [unowned actor] in actor.run($0, block) }
            case .deleted: actor.run(ObjectChange.deleted, block)
            case .failed(let error): actor.run(ObjectChange.error(error), block)
            }
            return nil
        }
    }

    /// Observes on an actor, with Swift key paths of the projection.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        let labels = ProjectionLabels(Self.self)
        return await observe(
            keyPaths: keyPaths.flatMap { labels.names($0) }, on: actor, isolation: isolation, block)
    }
}
