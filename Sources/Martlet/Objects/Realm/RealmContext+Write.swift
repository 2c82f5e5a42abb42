import MartletEngine
import MartletValues

extension RealmContext {
    var isInWrite: Bool { transaction != nil && !hasOnlySealedWrites }

    /// The open write transaction. Traps if no write is open, or if an observer that is called before a change tries to
    /// make another change.
    func requireWrite(_ what: @autoclosure () -> String, property: String? = nil) -> WriteTransaction {
        if callsBeforeChange > 0 { Misuse.changedByPriorObserver(what()) }
        if let transaction, !hasOnlySealedWrites { return transaction }
        switch access {
        case .readOnly: Misuse.readOnly(what())
        case .frozen: Misuse.frozen(what())
        case .beforeMigration: Misuse.changeBeforeMigration(what())
        case .migration: Misuse.invalidatedInMigration(what())
        case .readWrite: Misuse.notInWrite(what(), property)
        }
    }

    // MARK: Begin, commit, cancel

    /// Begins a write transaction and delivers pending notifications.
    ///
    /// - Parameter holdsLock: true if an asynchronous write holds the write lock already.
    func beginWrite(holdsLock: Bool = false) throws {
        confinement.require("a Realm")
        if isInWrite { Misuse.alreadyInWrite() }
        if keyValue.phase == .willChange { Misuse.writeByPriorObserver() }
        if access == .readOnly { Misuse.readOnly("the Realm") }
        if access == .frozen { Misuse.frozen("the Realm") }
        if !holdsLock {
            asyncWrites?.commitSealedWrites()
            asyncWrites?.releaseLock()
        }
        let before = hasSnapshot ? version : nil
        do {
            try translating { try beginTransaction(holdsLock: holdsLock, after: before) }
        } catch {
            // The asynchronous writes have released the lock for this write. This write could not begin, so the
            // asynchronous writes continue now.
            asyncWrites?.resume()
            throw error
        }
        hooks.deliverBeforeWrite()
    }

    // Begins a transaction, and moves from the version `before` to the version from which the transaction begins.
    private func beginTransaction(holdsLock: Bool, after before: Version?) throws {
        var notification = KeyValueNotification()
        try beginTransaction(holdsLock: holdsLock) { begun in
            notification = notifyWillChange(changes(after: before, begun), next: begun.handle)
        }
        guard let transaction, let before, transaction.baseVersion != before else { return }
        advance(to: transaction, after: before, notification)
    }

    func commitWrite(silencing tokens: Set<ObjectIdentifier> = []) throws {
        confinement.require("a Realm")
        guard let transaction, !hasOnlySealedWrites else { Misuse.noWriteToEnd("committed") }
        requireNoChange(before: "committed")
        if transaction.sealedCount > 0 {
            try sealWrite()
            return try commitSealed(silencing: tokens)
        }
        hooks.willCommit(tokens)
        do {
            try flush()
            try requireAllowedDeletions()
            if transaction.isUnchanged { return endUnchangedWrite(transaction, silencing: tokens) }
            let (handle, _) = try transaction.commit()
            self.transaction = nil
            pending.deleted.removeAll()
            moveToCommitted(handle, after: transaction)
        } catch let error as EngineError {
            abandon(transaction, isReadable: [.deletionDenied, .uniqueViolation].contains(error.code))
            throw Realm.Error(error)
        }
        reportCommits(transaction.sealedVersions, silencing: tokens)
        asyncWrites?.resume()
    }

    // Ends a write that has changed nothing. The file gets no new version, and nothing is written to it.
    private func endUnchangedWrite(_ transaction: WriteTransaction, silencing tokens: Set<ObjectIdentifier>) {
        self.transaction = nil
        pending.deleted.removeAll()
        let handle = try? transaction.cancel()
        replaceSnapshot(handle)
        moveToNewest(handle, from: transaction.baseVersion)
        reportCommits()
        hooks.endedUnchanged(tokens)
        asyncWrites?.resume()
    }

    // Notifies the Realm's observers of the writes that `makeGroupDurable` has committed, and then of other committed
    // writes.
    private func reportCommits(_ versions: [Version] = [], silencing tokens: Set<ObjectIdentifier> = []) {
        let versions = (asyncWrites?.takeUnreportedCommits() ?? []) + versions
        if !versions.isEmpty { hooks.committed(tokens, versions) }
    }

    func cancelWrite() {
        confinement.require("a Realm")
        guard let transaction, !hasOnlySealedWrites else { Misuse.noWriteToEnd("cancelled") }
        requireNoChange(before: "cancelled")
        let changes = transaction.recorder.finish()
        let undone = takeUndoneDeletions(since: pending.number, changes)
        let notification = notifyWillChange(changes, inverted: true, undone: undone)
        pending.discard()
        if transaction.sealedCount > 0 { return cancelCurrentWrite(transaction, changes, undone, notification) }
        self.transaction = nil
        let handle = try? transaction.cancel()
        replaceSnapshot(handle)
        bumpChangeCount()
        apply(changes, inverted: true)
        restore(undone)
        notifyDidChange(notification)
        moveToNewest(handle, from: transaction.baseVersion)
        hooks.cancelled()
        reportCommits()
        asyncWrites?.resume()
    }

    // Traps if an observer ends the write while a change is not complete. Otherwise the rest of the change would be
    // made outside the write.
    private func requireNoChange(before end: String) {
        if callsBeforeChange > 0 || keyValue.changesInProgress > 0 { Misuse.endedDuringChange(end) }
    }

    // Makes the Realm show the snapshot of the commit. If the lock file was deleted while this Realm held the lock,
    // another process may have committed in the meantime. In this case the snapshot is newer than the version of the
    // transaction, and the accessors are also updated for the commits of the other process.
    private func moveToCommitted(_ handle: SnapshotHandle, after transaction: WriteTransaction) {
        if handle.version == transaction.baseVersion {
            replaceSnapshot(handle)
        } else {
            advance(from: transaction.baseVersion, to: handle)
        }
    }

    // Rolls back a failed transaction and updates the accessors. `isReadable` is true if a rule rejected the
    // transaction: its state can still be read. In this case, key-value observers are notified before the rollback, and
    // can read the values that the rollback undoes. Otherwise they are notified after the rollback.
    private func abandon(_ transaction: WriteTransaction, isReadable: Bool = false) {
        let changes = transaction.allChanges()
        let undone = takeUndoneDeletions(since: pending.firstNumber, changes)
        let readable = isReadable ? notifyWillChange(changes, inverted: true, undone: undone) : nil
        pending.discard()
        self.transaction = nil
        hasOnlySealedWrites = false
        // The write lock is released before observers are notified, because an observer may wait for another writer.
        transaction.abandon()
        let handle = transaction.takeHandleAfterRollback()
        replaceSnapshot(handle)
        bumpChangeCount()
        let notification = readable ?? notifyWillChange(changes, inverted: true, undone: undone)
        apply(changes, inverted: true)
        restore(undone)
        #if MARTLET_SEEDED_BUGS
            if !SeededBug.isOn(.denialNotNotified) { notifyDidChange(notification) }
        #else
            notifyDidChange(notification)
        #endif
        moveToNewest(handle, from: transaction.firstVersion)
        hooks.cancelled()
        reportCommits()
        asyncWrites?.resume()
    }

    // MARK: Several writes in one transaction

    /// Begins an asynchronous write. The first write of a group takes over the write lock. The other writes begin after
    /// a sealed write, in the same transaction.
    func beginAsyncWrite(isFirst: Bool) throws {
        if isFirst { return try beginWrite(holdsLock: true) }
        try translating { try transaction?.beginNextWrite() }
        pending.begin(isFirst: false)
        hasOnlySealedWrites = false
    }

    /// Seals the open write, which becomes durable together with other writes. If sealing fails, the write is rolled
    /// back. If SQLite has then ended the whole transaction, the earlier writes of the group are rolled back, too.
    func sealWrite() throws {
        guard let transaction else { return }
        requireNoChange(before: "committed")
        do {
            try flush()
            try requireAllowedDeletions()
            try transaction.seal()
            hasOnlySealedWrites = true
            bumpChangeCount()
        } catch let error as EngineError {
            if transaction.isStillInTransaction {
                cancelWrite()
            } else {
                abandon(transaction)
                asyncWrites?.groupEnded(Realm.Error(error))
            }
            throw Realm.Error(error)
        }
    }

    /// Makes the sealed writes durable.
    func commitSealed(silencing tokens: Set<ObjectIdentifier> = []) throws {
        guard let transaction else { return }
        do throws(EngineError) {
            try commitSealed(transaction)
        } catch {
            throw Realm.Error(error)
        }
        reportCommits(transaction.sealedVersions, silencing: tokens)
        asyncWrites?.resume()
    }

    private func commitSealed(_ transaction: WriteTransaction, keepsLock: Bool = false) throws(EngineError) {
        do throws(EngineError) {
            let handle = try transaction.commitSealed(keepsLock: keepsLock)
            self.transaction = nil
            hasOnlySealedWrites = false
            pending.deleted.removeAll()
            moveToCommitted(handle, after: transaction)
        } catch {
            abandon(transaction)
            asyncWrites?.groupEnded(Realm.Error(error))
            throw error
        }
        asyncWrites?.groupEnded(nil)
    }

    /// Makes the sealed writes durable, so that other threads can see them. An open write begins again after the sealed
    /// writes, and no other writer can commit in between. If the open write has changed something, this method does
    /// nothing, because SQLite cannot commit the sealed writes without the open write.
    ///
    /// The observers of the Realm are notified at the end of the open write. If the sealed writes cannot be committed,
    /// the open write cannot be committed either.
    func makeGroupDurable() {
        guard let transaction, transaction.sealedCount > 0 else { return }
        if hasOnlySealedWrites {
            asyncWrites?.commitSealedWrites()
            return
        }
        let isUnchanged = !transaction.recorder.hasChanges && pending.failure == nil
        guard isUnchanged, callsBeforeChange == 0, keyValue.changesInProgress == 0 else { return }
        do {
            do throws(EngineError) {
                try transaction.cancelCurrentWrite()
                hasOnlySealedWrites = true
                try commitSealed(transaction, keepsLock: true)
            } catch {
                if let failed = self.transaction {
                    abandon(failed)
                    asyncWrites?.groupEnded(Realm.Error(error))
                }
                try translating { try beginTransaction(holdsLock: false, after: hasSnapshot ? version : nil) }
                pending.failure = error
                return
            }
            asyncWrites?.addUnreportedCommits(transaction.sealedVersions)
            try translating { try beginTransaction(holdsLock: true, after: version) }
        } catch {
            readFailed(error)
        }
    }

    // Rolls back the open write and keeps the sealed writes of the group.
    private func cancelCurrentWrite(
        _ transaction: WriteTransaction, _ changes: ChangeSet, _ undone: UndoneDeletions,
        _ notification: KeyValueNotification
    ) {
        do {
            try transaction.cancelCurrentWrite()
        } catch {
            restore(undone)
            abandon(transaction)
            notifyDidChange(notification)
            asyncWrites?.groupEnded(Realm.Error(error))
            return
        }
        hasOnlySealedWrites = true
        bumpChangeCount()
        apply(changes, inverted: true)
        restore(undone)
        notifyDidChange(notification)
        hooks.cancelled()
    }

    // After a rollback, the Realm shows the version before the transaction, which `rolledBack` pins. If this version
    // could not be pinned, this method moves the Realm to the newest version. If the lock file was deleted and another
    // process has committed in the meantime, `rolledBack` has a newer version. In this case the method moves the Realm
    // to that version.
    private func moveToNewest(_ rolledBack: SnapshotHandle?, from before: Version) {
        if rolledBack?.version == before { return }
        if let newest = rolledBack ?? (try? coordinator.openSnapshot()) { advance(from: before, to: newest) }
    }

    // MARK: Recording

    /// Called before an assignment to a managed object. Checks that a write is open, and keeps the old row.
    func willModify(_ object: ObjectBase, _ table: ObjectTable, _ property: Int) {
        if transaction == nil || hasOnlySealedWrites || callsBeforeChange > 0 {
            _ = requireWrite("a '\(object._typeName)'", property: table.type.properties[property].name)
        }
        if !pending.denials.isEmpty { recordAssignment(property, of: object) }
        if object._dirty == 0, let transaction, transaction.keepsOldRows, !transaction.oldRows.isFull {
            // The old row is read from the file, because an accessor does not contain unknown raw values of enums.
            if table.hasEnumColumns { return keepOldRow(object._key, table) }
            transaction.oldRows.insertIfAbsent(RowEncoder.columnValues(of: object), of: object._key, in: table.id)
        }
    }

    /// Called when the program assigns a property, even if its value does not change. Deletions that were denied
    /// because of the previous value of the property are no longer denied.
    func recordAssignment(_ property: Int, of object: ObjectBase) {
        guard let table = object._table else { return }
        pending.denials.propertyWasAssigned(property, of: RowID(table: table.id, key: object._key))
    }

    func record(_ object: ObjectBase, _ property: Int, _ table: ObjectTable) {
        transaction?.recorder.modify(object._key, property, in: table.id)
        bumpChangeCount(of: table)
    }

    // MARK: Flushing

    /// Writes the pending changes of accessors and collections to the file. Called before any query, and at the commit.
    func flush() throws {
        if let failure = pending.failure { throw failure }
        guard let transaction, !pending.isEmpty else { return }
        if !pending.objects.isEmpty {
            let (objects, furtherProperties) = pending.takeObjects()
            // If a row cannot be stored, the rows after it are not stored, either, and the whole write is rolled back.
            defer { for object in objects { object._dirty = 0 } }
            try wrappingErrors {
                try transaction.handle.read { connection in
                    for object in objects {
                        let further = furtherProperties.isEmpty ? nil : furtherProperties[ObjectIdentifier(object)]
                        let mask = PropertyMask(word: object._dirty, highProperties: further)
                        try write(object, mask, transaction, connection)
                    }
                }
            }
        }
        let cores = pending.collections
        pending.collections = []
        try wrappingErrors {
            try transaction.handle.read { connection in
                for core in cores { try core.write(connection) }
            }
        }
    }

    private func wrappingErrors(_ body: () throws -> Void) throws(EngineError) {
        do {
            try body()
        } catch {
            throw EngineError.wrap(error, path: coordinator.path)
        }
    }

    private func write(
        _ object: ObjectBase, _ mask: PropertyMask, _ transaction: WriteTransaction, _ connection: StoreConnection
    ) throws {
        guard !mask.isEmpty, object._state == .live, let table = object._table else { return }
        try table.rows.update(object._key, mask: mask, in: transaction, connection) { binder in
            RowEncoder.bind(object, binder, mask: mask, table).parameter
        } values: {
            RowEncoder.values(of: object)
        }
    }

    /// Called after a row was changed through `object`. Makes the other accessors of the row read the row again.
    func markOtherAccessorsStale(_ object: ObjectBase, _ table: ObjectTable) {
        var others: [ObjectBase] = []
        table.forEachAccessor(object._key) { if $0 !== object { others.append($0) } }
        guard !others.isEmpty else { return }
        flushForQuery()
        others.forEach(markStale)
    }

    /// Called before a query. If a write is open, writes its pending changes to the file.
    func flushForQuery() {
        guard isInWrite, pending.failure == nil else { return }
        recordingFailure { try flush() }
    }

    /// Runs a part of the open write. If `body` throws, the error is stored, and later parts do not run. The commit
    /// then rolls back the whole write and throws the error.
    func recordingFailure(_ body: () throws -> Void) {
        guard pending.failure == nil else { return }
        do {
            try body()
        } catch {
            pending.failure = EngineError.wrap(error, path: coordinator.path)
        }
    }
}
