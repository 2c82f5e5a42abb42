import MartletTestSupport

@testable import Martlet

// Compares the calls of observers with the model.
extension ModelRunner {
    func receiveCall(_ watcher: Watcher, _ call: CallRecord, _ findError: (ModelState, ModelState) -> String?) {
        outcome.calls += 1
        outcome.reported += call.size
        watcher.callsInRun += 1
        guard outcome.failure == nil else { return }
        // On a queue or an actor, a notification of a deletion does not show at which version the object was deleted.
        let hasUnknownVersion = watcher.executor != nil && watcher.version?() == nil
        let newest = modelStates.keys.max() ?? 0
        let shown = watcher.executor == nil ? testRealm.realm.context.version : watcher.version?() ?? newest
        addToTrace("    \(watcher.name): \(call.text())")
        if watcher.hasEnded { return fail("\(watcher.name) is called after its end") }
        guard let now = modelStates[shown] else {
            return fail("\(watcher.name) is called at a version that no write made")
        }
        if watcher.executor == nil, !watcher.isLoop, !testRealm.realm.context.hasNoOpenChanges {
            return fail("\(watcher.name) is called while the Realm shows an uncommitted state")
        }
        let oldest = watcher.known.map(\.time).min() ?? 0
        let isLate = watcher.isLoop || hasUnknownVersion
        let candidates =
            isLate
            ? modelStates.filter { $0.key <= shown && $0.value.time >= oldest }.map(\.value)
            : [now] + watcher.basesDeliveredLate(now)
        if watcher.known.isEmpty {
            watcher.known = candidates
        } else {
            let possible = candidates.filter { new in
                watcher.known.contains { known in
                    !watcher.isSilenced(known, new) && error(from: known, to: new, findError) == nil
                }
            }
            if possible.isEmpty, let known = watcher.known.last {
                return fail("\(watcher.name): \(error(from: known, to: now, findError) ?? "")")
            }
            watcher.known = possible
        }
        watcher.skipSilenced()
        // A loop receives changes later than the Realm shows them.
        if !watcher.isLoop && !hasUnknownVersion { compare(watcher, now) }
        if let read = watcher.readsInCalls, read.executor == nil, watcher.executor == nil, !watcher.isLoop {
            compare(read, now)
        }
        performActions(watcher)
    }

    private func error(
        from old: ModelState, to new: ModelState, _ find: (ModelState, ModelState) -> String?
    ) -> String? {
        Item.$allowsExtraChanges.withValue(allowsExtraChanges(after: old.time, through: new.time)) { find(old, new) }
    }

    func compare(_ watcher: Watcher, _ now: ModelState) {
        if let (actual, expected) = watcher.live(now), actual != expected {
            fail("\(watcher.name) shows \(actual) instead of \(expected)")
        }
    }

    /// Performs the actions that the watcher has been given for its next callback.
    private func performActions(_ watcher: Watcher) {
        let actions = watcher.actions
        watcher.actions = []
        for action in actions {
            switch action {
            case .end(let victim):
                addToTrace("    and ends \(victim.name)")
                end(victim)
            case .watch(let plan) where !showsUncommitted && watcher.executor == nil:
                // The new observer is called for the first time in the next delivery.
                needsDelivery = true
                watch(plan, isInside: true)
            case .watch: break
            case _ where watcher.executor != nil: break
            case .queueWrite(let operations, let ending):
                addToTrace("    and queues an asynchronous write")
                queueWrite(operations, ending)
            case .write(let operations, let silenced): writeInside(operations, silencing: silenced)
            }
        }
    }

    func writeInside(_ operations: [Operation], silencing watcher: Watcher?) {
        addToTrace("    and writes\(watcher.map { " without notifying \($0.name)" } ?? "")")
        if testRealm.realm.isInWriteTransaction {
            if !willRollBack && !nextAsyncWriteRollsBack { writeIntoOpenWrite(operations) }
            return
        }
        needsDelivery = true
        do {
            // If another Realm has written in the meantime, the write first delivers these changes, inside this
            // callback.
            try write(operations, silencing: watcher)
        } catch {
            fail("\(error)")
        }
    }

    /// Checks that no change is missing after everything was delivered.
    func check() {
        guard outcome.failure == nil else { return }
        guard let now = modelStates[testRealm.realm.context.version] else {
            return fail("the Realm shows a version that no write made")
        }
        for watcher in watchers where !watcher.isLate { check(watcher, now) }
    }

    private func check(_ watcher: Watcher, _ now: ModelState) {
        watcher.skipSilenced()
        // If an object was deleted before its observation on a queue or an actor began, its observer may have had no
        // first call.
        if watcher.executor != nil, watcher.known.isEmpty, let owner = watcher.owner, now.rows[owner] == nil { return }
        guard let known = watcher.known.last else { return fail("\(watcher.name) has had no first call") }
        if watcher.known.allSatisfy({ watcher.missing($0, now) != nil }), let missing = watcher.missing(known, now) {
            fail("\(watcher.name): \(missing)")
        }
        if watcher.executor == nil { compare(watcher, now) }
        watcher.acknowledge(now)
    }

    // MARK: Loops

    /// Runs the asynchronous loops. Each loop receives at most one change, because nothing is delivered while the loops
    /// run.
    func runLoops() {
        for watcher in watchers { watcher.callsInRun = 0 }
        needsDelivery = false
        if let executors, !executors.run() {
            return fail("the observers on the queue and the actor do not become idle")
        }
        loopExecutor.run()
        if needsDelivery { return }
        for watcher in watchers where watcher.isLoop && watcher.callsInRun > 1 {
            fail("\(watcher.name) received a second change while it was busy")
        }
    }

    /// Alternates between loops and deliveries until nothing is left to deliver.
    func deliverEverything() {
        // In each round, a loop receives the changes that were delivered in the round before.
        var (calls, quietRounds) = (0, 0)
        while quietRounds < 3, outcome.failure == nil {
            calls = outcome.calls
            runLoops()
            finishWrites()
            refresh()
            quietRounds = outcome.calls == calls ? quietRounds + 1 : 0
        }
        guard outcome.failure == nil, let now = modelStates[testRealm.realm.context.version] else { return }
        for watcher in watchers where watcher.isLate { check(watcher, now) }
    }

    // MARK: Observers of the Realm

    func checkRealmWatchers() {
        guard outcome.failure == nil else { return }
        let context = testRealm.realm.context
        for watcher in realmWatchers {
            outcome.calls += watcher.calls
            outcome.reported += watcher.calls
            if let failure = watcher.check(context.hasSnapshot ? context.version : nil) {
                fail("the watcher of the Realm \(failure)")
            }
        }
    }

    // MARK: Key-value observers

    /// - Parameter isRefresh: Whether the step was a single refresh without writes.
    func checkKeyValues(isRefresh: Bool) {
        keyValueWatchers.forEach { $0.isRolledBack = false }
        guard outcome.failure == nil, !keyValueWatchers.isEmpty else { return }
        let context = testRealm.realm.context
        let shown = context.hasSnapshot ? modelStates[context.version] : nil
        for watcher in keyValueWatchers {
            outcome.calls += watcher.calls
            outcome.reported += watcher.calls
            if let failure = watcher.check(shown, isRefresh: isRefresh, allowsExtraChanges(after:through:)) {
                fail("\(watcher.name): \(failure)")
            }
        }
        keyValueWatchers.removeAll { $0.isInvalidated() }
    }
}
