import MartletEngine

/// Something on its way from one executor to another.
// Sendable: whoever hands it over does not use it any more.
struct Handed<Value>: @unchecked Sendable {
    let value: Value
}

/// What an observer on an actor is told first: the thing as it is there, or why there is none.
enum ActorArrival<Confined> {
    case here(Confined)
    case gone
    case failed(any Error)
}

extension ThreadConfined {
    /// Observes on an actor: `register` is called there, and from then on nothing is lost. A task that is cancelled before
    /// gets a token that has ended.
    func observe<Home: Actor>(
        on actor: Home, isolation: isolated (any Actor)?,
        _ register: @escaping (Home, ActorArrival<Self>) -> NotificationToken?
    ) async -> NotificationToken {
        guard let locator = _locator(), let context = realm?.context else { Misuse.observeUnmanaged("\(Self.self)") }
        context.requireObservable(locator.name, onQueue: true)
        return await arrive(locator, on: actor, Handed(value: register))
    }
}

private func arrive<Home: Actor, Confined>(
    _ locator: _Locator, on actor: isolated Home,
    _ register: Handed<(Home, ActorArrival<Confined>) -> NotificationToken?>
) -> NotificationToken {
    let ended = NotificationToken(nil)
    ended.invalidate()
    if Task.isCancelled { return ended }
    let arrival: ActorArrival<Confined>
    do {
        let thing = try locator.currentContext(actor).resolve(locator) as? Confined
        arrival = thing.map { .here($0) } ?? .gone
    } catch {
        arrival = .failed(error)
    }
    return register.value(actor, arrival) ?? ended
}

extension Actor {
    /// Calls what belongs to this actor from code that runs on it without the compiler's knowledge.
    nonisolated func run<Value>(_ value: Value, _ block: @Sendable (isolated Self, Value) -> Void) {
        let handed = Handed(value: value)
        assumeIsolated { block($0, handed.value) }
    }
}

extension ObservableCollection where Self: ThreadConfined {
    /// Observes on an actor: `block` is isolated to it, and the collection it is given belongs to it.
    ///
    /// ```swift
    /// let token = await dogs.observe(on: store) { store, change in store.show(change) }
    /// ```
    ///
    /// Nothing that is committed after this returns is lost. In a task that is cancelled, and when what the collection belongs
    /// to is gone by the time the actor gets to it, the token has ended and `block` is never called.
    ///
    /// Key paths are those of `observe(keyPaths:on:_:)` for queues.
    public func observe<Home: Actor>(
        keyPaths: [String]? = nil, on actor: Home, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Home, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(on: actor, isolation: isolation) { actor, arrival in
            switch arrival {
            case .here(let collection):
                return collection.observe(keyPaths: keyPaths) { [unowned actor] in actor.run($0, block) }
            case .gone: return nil
            case .failed(let error):
                actor.run(RealmCollectionChange.error(error), block)
                return nil
            }
        }
    }

    /// As `observe`, with moves and the new positions of modified elements.
    public func observeChanges<Home: Actor>(
        keyPaths: [String]? = nil, on actor: Home, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Home, DetailedCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(on: actor, isolation: isolation) { actor, arrival in
            switch arrival {
            case .here(let collection):
                return collection.observeChanges(keyPaths: keyPaths) { [unowned actor] in actor.run($0, block) }
            case .gone: return nil
            case .failed(let error):
                actor.run(DetailedCollectionChange.error(error), block)
                return nil
            }
        }
    }
}

extension ObservableCollection where Self: ThreadConfined, Element: ObjectBase {
    /// The same with typed key paths.
    public func observe<Home: Actor>(
        keyPaths: [any KeyPathDescriptor<Element>], on actor: Home, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Home, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map(\.keyPath), on: actor, isolation: isolation, block)
    }

    /// The same with Swift key paths.
    public func observe<Home: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: Home, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Home, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { ObjectBase.path($0) }, on: actor, isolation: isolation, block)
    }
}

extension KeyPathObservable {
    /// Observes on an actor: `block` is isolated to it, and the object it is given belongs to it.
    ///
    /// Nothing that is committed after this returns is lost. In a task that is cancelled the token has ended and `block` is
    /// never called.
    ///
    /// Key paths are those of `observe(keyPaths:on:_:)` for queues.
    public func observe<Home: Actor>(
        keyPaths: [String]? = nil, on actor: Home, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Home, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(on: actor, isolation: isolation) { actor, arrival in
            switch arrival {
            case .here(let object):
                return object.observe(keyPaths: keyPaths) { [unowned actor] in actor.run($0, block) }
            case .gone: actor.run(ObjectChange.deleted, block)
            case .failed(let error): actor.run(ObjectChange.error(error), block)
            }
            return nil
        }
    }

    /// The same with typed key paths.
    public func observe<Home: Actor>(
        keyPaths: [any KeyPathDescriptor<Self>], on actor: Home, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Home, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map(\.keyPath), on: actor, isolation: isolation, block)
    }

    /// The same with Swift key paths.
    public func observe<Home: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: Home, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Home, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { Self.path($0) }, on: actor, isolation: isolation, block)
    }
}
