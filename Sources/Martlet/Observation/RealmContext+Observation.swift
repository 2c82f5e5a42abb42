import Dispatch
import MartletEngine

extension RealmContext {
    /// The hub of this Realm, made when it is opened or first observed.
    var hub: ObservationHub {
        if let known = hooks.hub as? ObservationHub { return known }
        let hub = ObservationHub(self, scheduler)
        let coordinator = coordinator
        let id = ObjectIdentifier(self)
        hooks.hub = hub
        hooks.deliverBeforeWrite = { [unowned self] _ in hub.deliverBeforeWrite(self) }
        hooks.willCommit = { [unowned self] tokens in hub.willCommit(self, silencing: tokens) }
        hooks.committed = { [unowned self] tokens in hub.committed(self, silencing: tokens) }
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
        // Committed between the first look at the file and the moment from which on it is told.
        if coordinator.hasNews(after: version) { hub.signal() }
        return hub
    }

    /// From now on the Realm follows commits of others, where its executor takes turns.
    func follow() {
        if scheduler != nil { _ = hub }
    }

    func refresh() -> Bool {
        confinement.require("a Realm")
        // Key-value observers are being told of a step that is not over.
        if movement != .none || isFrozen { return false }
        asyncWrites?.settle()
        return hub.refresh(self)
    }

    /// True when what it shows is exactly a version, without changes of an open write.
    func shows(_ version: Version) -> Bool {
        if let transaction { return transaction.baseVersion == version && !transaction.recorder.hasChanges }
        return hasSnapshot && self.version == version
    }

    // MARK: Registration

    /// The checks before anything is observed.
    func requireObservable(_ what: @autoclosure () -> String, onQueue: Bool = false) {
        confinement.require(what())
        if access.isOfMigration { Misuse.observeInMigration(what()) }
        if access == .readOnly { Misuse.observeReadOnly(what()) }
        if isFrozen { Misuse.observeFrozen(what()) }
        if let transaction, transaction.recorder.hasChanges { Misuse.observeInsideWrite(what()) }
        if !onQueue && !hub.canDeliver() { Misuse.noRunLoop(what()) }
    }

    /// Traps on a key path that does not exist, naming the component.
    func requireKeyPaths(_ keyPaths: [String]?, _ table: TableID) -> [PropertyPath]? {
        keyPaths?.map { requireKeyPath($0, table) }
    }

    private func requireKeyPath(_ path: String, _ table: TableID) -> PropertyPath {
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let isStar = names.last == "*"
        do {
            let resolved = try ResolvedPath(
                PropertyPath(isStar ? Array(names.dropLast()) : names), from: table, in: schema)
            if isStar, let end = resolved.end {
                let type = schema[end.table].type
                let property = type.properties[end.property]
                if ResolvedPath.step(property, of: end.table, in: schema) == nil {
                    Misuse.unknownKeyPath(path, component: "*", type: "\(type.name).\(property.name)")
                }
            }
        } catch {
            Misuse.unknownKeyPath(path, component: error.name, type: error.type)
        }
        return PropertyPath(names)
    }

    /// Registers on another queue: `body` runs there with that queue's Realm and the token's registration. A token that
    /// ends before that is never heard of there.
    func observe(
        on queue: DispatchQueue, _ fail: @escaping (any Error) -> Void,
        _ body: @escaping (RealmContext, Registration) -> Void
    ) -> NotificationToken {
        // Commits of this Realm cannot silence it: it belongs to the queue's.
        let token = NotificationToken(nil)
        let registration = token.registration
        var configuration = configuration
        configuration.scheduler = nil
        let (settings, version) = (configuration, version)
        nonisolated(unsafe) let (begin, refuse) = (body, fail)
        queue.async {
            guard !registration.isEnded else { return }
            do {
                let context = try Realm(configuration: settings, queue: queue).context
                // A Realm that is open there may not have heard yet of what is to be observed.
                if !context.isInWrite, context.version < version { _ = context.refresh() }
                begin(context, registration)
            } catch {
                refuse(error)
            }
        }
        return token
    }
}
