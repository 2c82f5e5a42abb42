import MartletEngine

extension RealmContext {
    /// The hub of this Realm, made when it is opened or first observed.
    var hub: ObservationHub {
        if let known = hooks.hub as? ObservationHub { return known }
        let hub = ObservationHub(self)
        let coordinator = coordinator
        let id = ObjectIdentifier(self)
        hooks.hub = hub
        hooks.deliverBeforeWrite = { [unowned self] before in hub.deliverBeforeWrite(self, movedFrom: before) }
        hooks.committed = { [unowned self] tokens in hub.committed(self, silencing: tokens) }
        hooks.closed = { coordinator.stopListening(hub) }
        coordinator.listen(hub) { [weak hub] _, committer in
            if committer != id { hub?.signal() }
        }
        return hub
    }

    func refresh() -> Bool {
        confinement.require("a Realm")
        // Key-value observers are being told of a step that is not over.
        if movement != .none { return false }
        return hub.refresh(self)
    }

    /// The checks before anything is observed.
    func requireObservable(_ what: String, _ keyPaths: [String]?, _ table: TableID?) {
        confinement.require(what)
        if configuration.readOnly { Misuse.observeReadOnly() }
        if let transaction, transaction.recorder.hasChanges { Misuse.observeInsideWrite() }
        if scheduler == nil { Misuse.noRunLoop(what) }
        guard let table, let keyPaths else { return }
        for path in keyPaths { requireKeyPath(path, table) }
    }

    private func requireKeyPath(_ path: String, _ table: TableID) {
        var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if names.last == "*" { names.removeLast() }
        do {
            _ = try ResolvedPath(PropertyPath(names), from: table, in: schema)
        } catch {
            Misuse.unknownKeyPath(path, component: error.name, type: error.type)
        }
    }
}
