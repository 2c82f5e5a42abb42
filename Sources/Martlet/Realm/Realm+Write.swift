import MartletEngine

extension Realm {
    /// Runs `block` in a write transaction, commits, and returns what the block returned.
    ///
    /// When it returns, the changes are durable and visible to all who refresh. Writers of all threads and processes wait
    /// for each other. An error thrown by the block takes everything back and is thrown on. Trapping when one is already
    /// open, a transaction is never nested.
    ///
    /// - Parameters:
    ///   - tokens: observers of this Realm that are not told about this transaction.
    ///   - block: makes the changes.
    /// - Throws: what the block throws; `Realm.Error` when the disk is full or fails, another writer holds the file for too
    ///   long, two objects share values that must be unique, or a rule of the schema denies a deletion. After any of them nothing of the transaction is kept, but for `.commitOutcomeUnknown`.
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

    /// Begins a write transaction: waits for other writers, moves to the newest version and delivers what is pending.
    ///
    /// - Throws: `Realm.Error` when other writers hold the file for too long or the disk fails.
    public func beginWrite() throws { try context.beginWrite() }

    /// Makes the changes of the open transaction durable.
    ///
    /// - Throws: `Realm.Error`, as `write` does.
    public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
        for token in tokens where token.context !== context { Misuse.silencedForeignToken() }
        try context.commitWrite(silencing: Set(tokens.map { ObjectIdentifier($0.registration) }))
    }

    /// Rolls the open transaction back. Objects created in it become invalidated, objects deleted in it are live again, with
    /// their collections and embedded objects.
    public func cancelWrite() { context.cancelWrite() }

    /// Moves to the newest version and delivers its notifications; false when there was nothing new.
    @discardableResult
    public func refresh() -> Bool { context.refresh() }

    /// True when the Realm moves to newer versions by itself, on its run loop or queue.
    ///
    /// False for a frozen Realm; setting it there traps.
    public var autorefresh: Bool {
        get { context.autorefresh }
        nonmutating set {
            if isFrozen { Misuse.frozenRealm("told to refresh by itself") }
            context.autorefresh = newValue
        }
    }

    /// Lets go of the version in use: objects and collections become invalidated. The Realm itself can be used again.
    public func invalidate() { context.invalidateAll() }
}

extension RealmContext {
    /// Ends the life of all objects and collections of this Realm.
    func invalidateAll() {
        confinement.require("a Realm")
        if isFrozen { Misuse.frozenRealm("invalidated") }
        if hooks.isDelivering() || movement != .none { return }
        asyncWrites?.settle()
        if isInWrite { cancelWrite() }
        let announcement = announceEnd()
        for table in tables.values { table.accessors.forEach(invalidate) }
        for core in collections.values { core.core?.realmWasInvalidated() }
        collections = [:]
        replaceSnapshot(nil)
        endGeneration()
        announcement.didChange()
    }
}
