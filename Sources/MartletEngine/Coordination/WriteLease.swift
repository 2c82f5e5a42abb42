import Dispatch
import Synchronization

/// The write lock, waited for in the background on behalf of an executor that must not wait.
///
/// Once the lock is there, the executor is told and has a moment to claim it. An executor that takes no turn, perhaps because
/// it waits for somebody who waits for this very lock, loses it again and asks anew: so nobody can be locked out for good.
///
/// Ledger: `state` under its mutex.
package final class WriteLease: Sendable {
    private enum Phase {
        case none, wanted
        /// Nobody wants it any more: it is given back as soon as it comes.
        case unwanted
        case held
    }

    private struct State {
        var phase = Phase.none
        /// Tells one time of holding it from the next.
        var number = 0
        var failure: EngineError?
    }

    private let coordinator: StoreCoordinator
    private let state = Mutex(State())
    private static let queue = DispatchQueue(label: "martlet.write-lease", qos: .userInitiated, attributes: .concurrent)
    private static let patience = DispatchTimeInterval.milliseconds(100)

    package init(_ coordinator: StoreCoordinator) { self.coordinator = coordinator }

    /// Waits for the lock in the background and calls `ready` there: to claim it, or to learn why it did not come.
    package func request(_ ready: @escaping @Sendable () -> Void) {
        let isNew = state.withLock { state in
            defer { if state.phase != .held { state.phase = .wanted } }
            return state.phase == .none
        }
        if isNew { coordinator.environment.run(.lease, on: Self.queue) { [self] in wait(ready) } }
    }

    private func wait(_ ready: @escaping @Sendable () -> Void) {
        do {
            try coordinator.writeLock.acquire()
        } catch {
            state.withLock { $0 = State(phase: .none, number: $0.number, failure: $0.phase == .wanted ? error : nil) }
            return ready()
        }
        // Waited for here, where nobody is kept from other work. What did not help is thrown where the write begins.
        try? coordinator.makeRoomInLog(nil)
        let number = state.withLock { state -> Int? in
            let isWanted = state.phase == .wanted
            state.phase = isWanted ? .held : .none
            state.number += 1
            return isWanted ? state.number : nil
        }
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.leaseKept), number == nil { return }
        #endif
        guard let number else { return coordinator.writeLock.release() }
        coordinator.environment.run(.leaseEnd, on: Self.queue, after: Self.patience) { [self] in expire(number) }
        ready()
    }

    private func expire(_ number: Int) {
        let isHeld = state.withLock { state in
            #if MARTLET_SEEDED_BUGS
                if SeededRace.isOn(.leaseOfAnother) { return state.number == number }
            #endif
            guard state.phase == .held, state.number == number else { return false }
            state.phase = .none
            return true
        }
        if isHeld { coordinator.writeLock.release() }
    }

    /// Takes the lock over, which from then on is the caller's to release; false when it is not there.
    package func claim() -> Bool {
        let isHeld = state.withLock { state in
            guard state.phase == .held else { return false }
            state.phase = .none
            return true
        }
        return isHeld || coordinator.writeLock.tryAcquire()
    }

    /// Why the lock did not come, told once.
    package func takeFailure() -> EngineError? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }

    /// The caller is about to wait for the lock itself: what is held is given back, and what comes is not kept.
    package func giveUp() {
        let isHeld = state.withLock { state in
            defer { state.phase = state.phase == .wanted || state.phase == .unwanted ? .unwanted : .none }
            return state.phase == .held
        }
        if isHeld { coordinator.writeLock.release() }
    }
}
