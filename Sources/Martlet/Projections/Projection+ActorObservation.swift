import MartletEngine

extension ObservableProjection where Self: ThreadConfined {
    /// Observes the projection on an actor. `block` is isolated to the actor, and the projection that it receives
    /// belongs to the actor.
    ///
    /// Key paths have the same meaning as in `observe(keyPaths:on:_:)` with a queue.
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

    /// Observes the values at Swift key paths of the projection on an actor.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: A, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        let labels = ProjectionLabels(Self.self)
        return await observe(
            keyPaths: keyPaths.flatMap { labels.names($0) }, on: actor, isolation: isolation, block)
    }
}
