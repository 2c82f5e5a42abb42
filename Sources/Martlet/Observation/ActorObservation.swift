import MartletEngine

/// A value that is transferred from one executor to another.
// Sendable: the sender does not use the value after the transfer.
struct Transferred<Value>: @unchecked Sendable {
    let value: Value
}

/// The result of resolving an observed object or collection on an actor.
enum ActorResolution<Confined> {
    case resolved(Confined)
    case deleted
    case failed(any Error)
}

extension ThreadConfined {
    /// Calls `register` on an actor, to register an observer there. The observer is notified of all changes that are
    /// committed after this method returns. If the task was cancelled, the returned token is already invalidated.
    func observe<Target: Actor>(
        on actor: Target, isolation: isolated (any Actor)?,
        _ register: @escaping (Target, ActorResolution<Self>) -> NotificationToken?
    ) async -> NotificationToken {
        guard let locator = _locator(), let context = realm?.context else { Misuse.observeUnmanaged("\(Self.self)") }
        context.requireObservable(locator.name, onQueue: true)
        return await resolveOnActor(locator, on: actor, Transferred(value: register))
    }
}

private func resolveOnActor<Target: Actor, Confined>(
    _ locator: _Locator, on actor: isolated Target,
    _ register: Transferred<(Target, ActorResolution<Confined>) -> NotificationToken?>
) -> NotificationToken {
    let ended = NotificationToken(nil)
    ended.invalidate()
    if Task.isCancelled { return ended }
    let resolution: ActorResolution<Confined>
    do {
        let confined = try locator.currentContext(actor).resolve(locator) as? Confined
        resolution = confined.map { .resolved($0) } ?? .deleted
    } catch {
        resolution = .failed(error)
    }
    return register.value(actor, resolution) ?? ended
}

extension Actor {
    /// Calls a closure that is isolated to this actor. The caller must run on the actor; the compiler does not check
    /// this.
    nonisolated func run<Value>(_ value: Value, _ block: @Sendable (isolated Self, Value) -> Void) {
        let transferred = Transferred(value: value)
        assumeIsolated { block($0, transferred.value) }
    }
}

extension ObservableCollection where Self: ThreadConfined {
    /// Observes the collection on an actor. `block` is isolated to the actor, and the collection that it receives
    /// belongs to the actor.
    ///
    /// ```swift
    /// let token = await dogs.observe(on: store) { store, change in store.show(change) }
    /// ```
    ///
    /// `block` receives all changes that are committed after this method returns. If the task is cancelled or the owner
    /// of the collection is deleted before the registration, the returned token is already invalidated and `block` is
    /// never called.
    ///
    /// Key paths have the same meaning as in `observe(keyPaths:on:_:)` with a queue.
    public func observe<Target: Actor>(
        keyPaths: [String]? = nil, on actor: Target, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Target, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(on: actor, isolation: isolation) { actor, resolution in
            switch resolution {
            case .resolved(let collection):
                return collection.observe(keyPaths: keyPaths) { [unowned actor] in actor.run($0, block) }
            case .deleted: return nil
            case .failed(let error):
                actor.run(RealmCollectionChange.error(error), block)
                return nil
            }
        }
    }

    /// Observes the collection on an actor. In addition to positions, changes include moves, the new positions of
    /// modified elements, and the deleted elements as they were before the change.
    public func observeChanges<Target: Actor>(
        keyPaths: [String]? = nil, on actor: Target, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Target, DetailedCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(on: actor, isolation: isolation) { actor, resolution in
            switch resolution {
            case .resolved(let collection):
                return collection.observeChanges(keyPaths: keyPaths) { [unowned actor] in actor.run($0, block) }
            case .deleted: return nil
            case .failed(let error):
                actor.run(DetailedCollectionChange.error(error), block)
                return nil
            }
        }
    }
}

extension ObservableCollection where Self: ThreadConfined, Element: ObjectBase {
    /// Observes the collection on an actor. Typed key paths name the properties whose changes are reported as
    /// modifications.
    public func observe<Target: Actor>(
        keyPaths: [any KeyPathDescriptor<Element>], on actor: Target, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Target, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map(\.keyPath), on: actor, isolation: isolation, block)
    }

    /// Observes the collection on an actor. Swift key paths name the properties whose changes are reported as
    /// modifications.
    public func observe<Target: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: Target, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Target, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { ObjectBase.path($0) }, on: actor, isolation: isolation, block)
    }
}

extension KeyPathObservable {
    /// Observes the object on an actor. `block` is isolated to the actor, and the object that it receives belongs to
    /// the actor.
    ///
    /// `block` receives all changes that are committed after this method returns. If the task is cancelled before the
    /// registration, the returned token is already invalidated and `block` is never called. If the object is deleted
    /// before the registration, the token is invalidated too, and `block` is called with `.deleted`.
    ///
    /// Key paths have the same meaning as in `observe(keyPaths:on:_:)` with a queue.
    public func observe<Target: Actor>(
        keyPaths: [String]? = nil, on actor: Target, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Target, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(on: actor, isolation: isolation) { actor, resolution in
            switch resolution {
            case .resolved(let object):
                return object.observe(keyPaths: keyPaths) { [unowned actor] in actor.run($0, block) }
            case .deleted: actor.run(ObjectChange.deleted, block)
            case .failed(let error): actor.run(ObjectChange.error(error), block)
            }
            return nil
        }
    }

    /// Observes the properties at typed key paths on an actor.
    public func observe<Target: Actor>(
        keyPaths: [any KeyPathDescriptor<Self>], on actor: Target, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Target, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map(\.keyPath), on: actor, isolation: isolation, block)
    }

    /// Observes the properties at Swift key paths on an actor.
    public func observe<Target: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: Target, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Target, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { Self.path($0) }, on: actor, isolation: isolation, block)
    }
}
