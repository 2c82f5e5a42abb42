import MartletEngine

extension Realm {
    /// Runs `block` in a write transaction, commits the transaction, and returns the result of the block.
    ///
    /// When this method returns, the changes are durable and visible to every Realm that refreshes. Only one thread of
    /// one process writes at a time; all other writers wait. If the block throws, the transaction is rolled back and
    /// the error is rethrown. Transactions cannot be nested: the call traps inside a write transaction.
    ///
    /// - Parameters:
    ///   - tokens: The observers of this Realm that are not notified of this transaction.
    ///   - block: Makes the changes.
    /// - Throws: Any error of the block. `Realm.Error` if the disk is full or fails, if another writer holds the lock
    ///   longer than the timeout, if two objects have equal values that must be unique, or if a rule of the schema
    ///   denies a deletion. After `.commitOutcomeUnknown`, the transaction may be committed or rolled back. After any
    ///   other error, the transaction is rolled back.
    @discardableResult
    public func write<Result>(
        withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> Result
    ) throws -> Result {
        try beginWrite()
        let result: Result
        do {
            result = try block()
        } catch {
            if isInWriteTransaction { cancelWrite() }
            throw error
        }
        if isInWriteTransaction { try commitWrite(withoutNotifying: tokens) }
        return result
    }

    /// Begins a write transaction: waits for other writers, moves to the newest version and delivers pending
    /// notifications.
    ///
    /// - Throws: `Realm.Error` if another writer holds the lock longer than the timeout, or if the disk fails.
    public func beginWrite() throws { try context.beginWrite() }

    /// Commits the open write transaction. When this method returns, the changes are durable.
    ///
    /// - Parameter tokens: The observers of this Realm that are not notified of this transaction.
    /// - Throws: `Realm.Error`, as `write` does.
    public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
        for token in tokens where token.context !== context { Misuse.silencedForeignToken() }
        try context.commitWrite(silencing: Set(tokens.map { ObjectIdentifier($0.registration) }))
    }

    /// Rolls back the open write transaction. Objects that the transaction has created are invalidated. Objects that
    /// the transaction has deleted become valid again, together with their collections and embedded objects.
    public func cancelWrite() { context.cancelWrite() }

    /// Moves to the newest version and delivers the notifications of the changes. Returns false if there was no newer
    /// version.
    ///
    /// Inside a write or a callback of an observer, this method does nothing and returns false. There is one exception:
    /// inside a callback for `.refreshRequired`, this method refreshes the Realm.
    @discardableResult
    public func refresh() -> Bool { context.refresh() }

    /// True if the Realm moves to newer versions automatically, on its run loop, queue or actor.
    ///
    /// False for a frozen Realm. Setting this property of a frozen Realm traps.
    public var autorefresh: Bool {
        get { context.autorefresh }
        nonmutating set {
            if isFrozen { Misuse.frozenRealm("set to refresh automatically") }
            let begins = newValue && !context.autorefresh
            context.autorefresh = newValue
            if begins { (context.hooks.hub as? ObservationHub)?.followNewest(context) }
        }
    }

    /// Releases the current version and invalidates all objects and collections. The Realm itself can still be used.
    ///
    /// An open write is rolled back. Inside an observer, this method does nothing.
    public func invalidate() { context.invalidateAll() }
}

extension RealmContext {
    /// Invalidates all objects and collections of this Realm, and releases its version.
    func invalidateAll() {
        confinement.require("a Realm")
        if isFrozen { Misuse.frozenRealm("invalidated") }
        if hooks.isDelivering() || keyValue.phase != .none { return }
        asyncWrites?.commitSealedWrites()
        if isInWrite { cancelWrite() }
        let notification = notifyWillInvalidateAll()
        // The cursors of loops read their members now, because collections cannot be read after their invalidation.
        loadCursors()
        for table in tables.values { table.accessors.forEach(invalidate) }
        for core in collections.values { core.core?.realmWasInvalidated() }
        collections = [:]
        replaceSnapshot(nil)
        endGeneration()
        notifyDidChange(notification)
    }
}
