import Dispatch
import MartletEngine

extension RealmContext {
    /// The hub of this Realm, created when the Realm is opened or first observed.
    var hub: ObservationHub {
        if let known = hooks.hub as? ObservationHub { return known }
        let hub = ObservationHub(self, scheduler)
        let coordinator = coordinator
        let id = ObjectIdentifier(self)
        hooks.hub = hub
        hooks.deliverBeforeWrite = { [unowned self] in hub.deliverBeforeWrite(self) }
        hooks.releaseUnneeded = { hub.releaseUnneeded() }
        hooks.willCommit = { [unowned self] tokens in hub.willCommit(self, silencing: tokens) }
        hooks.committed = { [unowned self] in hub.committed(self, silencing: $0, $1) }
        hooks.endedUnchanged = { [unowned self] in hub.endedUnchanged(self, silencing: $0) }
        hooks.cancelled = { [unowned self] in hub.cancelled(self) }
        hooks.isDelivering = { hub.isInCallback }
        hooks.hasObservers = { hub.observerCount > 0 }
        hooks.closed = { coordinator.stopListening(hub) }
        coordinator.listen(hub) { [weak hub] _, committer in
            if committer != id { hub?.signal() }
        }
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.listensTooLate) { return hub }
        #endif
        // A commit may have occurred after the Realm's version was opened and before the hub was registered as a
        // listener.
        if coordinator.hasNewerVersion(than: version) { hub.signal() }
        return hub
    }

    /// Starts to listen for commits of other Realms, if this Realm has a scheduler.
    func startListening() {
        if scheduler != nil { _ = hub }
    }

    /// True if the Realm shows exactly `version`, without changes of an open write.
    func shows(_ version: Version) -> Bool {
        if let transaction { return transaction.baseVersion == version && hasNoOpenChanges }
        return hasSnapshot && self.version == version
    }

    /// True if no write is open, or if the open write has changed nothing.
    var hasNoOpenChanges: Bool { !(transaction?.recorder.hasChanges ?? false) }

    // MARK: Registration

    /// Traps if a value of this Realm cannot be observed now. `what` names the value in the message.
    func requireObservable(_ what: @autoclosure () -> String, onQueue: Bool = false) {
        confinement.require(what())
        if access.isOfMigration { Misuse.observeInMigration(what()) }
        if access == .readOnly { Misuse.observeReadOnly(what()) }
        if isFrozen { Misuse.observeFrozen(what()) }
        if let transaction, transaction.recorder.hasChanges { Misuse.observeInsideWrite(what()) }
        if !onQueue && !hub.findExecutor() { Misuse.noRunLoop(what()) }
        // Without this call, the initial state of the observer could contain sealed writes, which may still be rolled
        // back.
        makeGroupDurable()
    }

    /// Resolves key paths to properties. Traps on a key path that does not exist. The message names the unknown
    /// component.
    func requireKeyPaths(_ keyPaths: [String]?, _ table: TableID) -> [PropertyPath]? {
        keyPaths?.flatMap { path -> [PropertyPath] in
            do throws(ResolvedPath.Failure) {
                return try PropertyPath.observed(Self.names(path), from: table, in: schema)
            } catch {
                Misuse.unknownKeyPath(path, component: error.name, type: error.type)
            }
        }
    }

    /// Resolves key paths for a collection of `AnyRealmValue` elements. Traps on a key path that exists in no object
    /// type.
    func requireAnyKeyPaths(_ keyPaths: [String]?, _ collection: String) -> [PropertyPath]? {
        keyPaths?.map { path -> PropertyPath in
            let names = Self.names(path)
            let isKnown = schema.tables.values.contains { table in
                !table.type.isEmbedded && (try? PropertyPath.observed(names, from: table.id, in: schema)) != nil
            }
            if !isKnown { Misuse.unknownKeyPath(path, component: names[0], type: collection) }
            return PropertyPath(names)
        }
    }

    private static func names(_ path: String) -> [String] {
        path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// Registers an observer on another queue. `body` runs on `queue` with the Realm of that queue and the token's
    /// registration. `body` is not called if the token is invalidated earlier.
    func observe(
        on queue: DispatchQueue, _ fail: @escaping (any Error) -> Void,
        _ body: @escaping (RealmContext, Registration) -> Void
    ) -> NotificationToken {
        // The token has no context, because the observer belongs to the Realm of the queue. Commits of this Realm
        // cannot silence the observer.
        let token = NotificationToken(nil)
        let registration = token.registration
        var configuration = configuration
        configuration.scheduler = nil
        let (settings, version) = (configuration, version)
        nonisolated(unsafe) let (begin, refuse) = (body, fail)
        let start = {
            queue.async {
                guard !registration.isEnded else { return }
                do {
                    let context = try Realm(configuration: settings, queue: queue).context
                    // A Realm that is already open on that queue may show an older version, in which the observed
                    // object does not exist.
                    if !context.isInWrite, context.version < version { _ = context.refresh() }
                    begin(context, registration)
                } catch {
                    refuse(error)
                }
            }
        }
        // Writes that are not durable yet are not visible on the queue, so the registration waits for them.
        if let transaction, transaction.sealedCount > 0, let asyncWrites {
            asyncWrites.whenGroupEnds(start)
        } else {
            start()
        }
        return token
    }
}
