import MartletEngine
import MartletTestSupport

@testable import Martlet

// Asynchronous writes, alone or in groups. Some of them are cancelled or fail.
extension ModelRunner {
    private struct Failed: Error {}

    /// Whether the asynchronous write that is beginning will be rolled back. Callbacks must not write into it.
    var nextAsyncWriteRollsBack: Bool {
        testRealm.realm.context.asyncWrites?.runningID != nil && endings.first.map { !$0.endsInCommit } ?? false
    }

    /// Queues an asynchronous write.
    func queueWrite(_ operations: [Operation], _ ending: Step.Ending) {
        let realm = testRealm.realm
        endings.append(ending)
        let body = { [unowned self] () throws in
            addToTrace("an asynchronous write runs, and ends by \(ending)")
            endings.removeFirst()
            guard ending.endsInCommit else { return try rollBack(operations, ending) }
            realmWatchers.forEach { $0.expectCommit() }
            applyInWrite(operations, realm)
            showsUncommitted = false
            // Each write of a group has its own version, even though one commit contains the whole group.
            if let base = realm.context.transaction?.baseVersion { modelStates[base + 1] = model }
        }
        let complete = { [unowned self] (error: (any Error)?) in
            keyValueWatchers.forEach { $0.isRolledBack = false }
            if (error is Failed) != (ending == .failure) || ending.endsInCommit && error != nil {
                fail("a write that ends by \(ending) completes with \(error.map { "\($0)" } ?? "success")")
            }
        }
        let nonThrowingBody = { [unowned self] in
            do { try body() } catch { fail("\(error)") }
        }
        switch ending {
        case .commit, .cancel: realm.writeAsync(nonThrowingBody, onComplete: complete)
        case .leaveOpen: realm.beginAsyncWrite(nonThrowingBody)
        case .commitGrouped, .commitAlone:
            realm.beginAsyncWrite {
                nonThrowingBody()
                realm.commitAsyncWrite(allowGrouping: ending == .commitGrouped, complete)
            }
        case .failure:
            // Makes the same calls as `asyncWrite`, the only asynchronous write whose block may throw.
            let writes = realm.context.asyncWrites ?? AsyncWrites(realm.context)
            realm.context.asyncWrites = writes
            _ = writes.canRun()
            writes.add(
                AsyncWrite(
                    id: writes.nextID(), body: body, isCommittedByBody: false, complete: complete, refuse: complete,
                    context: realm.context,
                    actor: nil))
        }
    }

    private func rollBack(_ operations: [Operation], _ ending: Step.Ending) throws {
        let realm = testRealm.realm
        let (kept, count) = (model, furtherAccessors.count)
        let held = RetainedNode.all(model, realm)
        apply(operations, realm)
        keyValueWatchers.forEach { $0.isRolledBack = true }
        model = kept
        furtherAccessors.drop(after: count, kept)
        keyValueWatchers.forEach { $0.allowNeedlessCalls() }
        // If the block does not cancel the write, the runtime rolls the write back after the block has ended.
        if ending == .failure { throw Failed() }
        if ending != .cancel { return }
        realm.cancelWrite()
        keyValueWatchers.forEach { $0.isRolledBack = false }
        if let failure = held.lazy.compactMap({ $0.mismatch(kept) }).first { fail(failure) }
    }

    /// Runs the scheduler until all asynchronous writes have ended.
    func finishWrites() {
        while testRealm.realm.isPerformingAsynchronousWriteOperations, outcome.failure == nil {
            guard testRealm.scheduler.waitForWork() else { return fail("no work was scheduled for a write") }
            _ = testRealm.scheduler.run()
        }
        checkKeyValues(isRefresh: false)
        checkRealmWatchers()
    }

    // MARK: Checks after every step

    func checkFurtherAccessors() {
        let context = testRealm.realm.context
        guard outcome.failure == nil, context.hasSnapshot, let shown = modelStates[context.version] else { return }
        if let failure = furtherAccessors.mismatch(shown) { fail(failure) }
    }

    /// Compares half of the observed collections with the model. Some of their observers may not have been notified of
    /// the current version yet.
    func checkCollections() {
        let context = testRealm.realm.context
        guard outcome.failure == nil, context.hasSnapshot, !context.isInWrite, let shown = modelStates[context.version]
        else { return }
        for (index, watcher) in watchers.enumerated() where (index + outcome.changes).isMultiple(of: 2) {
            if !watcher.isLoop, watcher.executor == nil, !watcher.hasEnded { compare(watcher, shown) }
        }
    }

    func checkKeys() {
        if let failure = Self.invalidKeys(testRealm.realm) { fail(failure) }
    }

    /// Checks the keys that are stored for observed results, independent of deliveries. Returns the first error.
    static func invalidKeys(_ realm: Realm) -> String? {
        for known in realm.context.hub.states {
            // `known` contains a state and its version. States of lists have another type, and may contain a row twice.
            guard let state = Mirror(reflecting: known).descendant("state") as? ResultsTracker.State else { continue }
            let keys = Array(state.keys)
            if Set(keys).count != keys.count { return "an observed result contains a key twice: \(keys)" }
            state.keys.checkInvariants()
        }
        return nil
    }
}
