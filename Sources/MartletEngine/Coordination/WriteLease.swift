import Dispatch
import Synchronization

/// Acquires the write lock in the background, for an executor that must not block.
///
/// When the lock is acquired, the executor is notified and has 100 milliseconds to claim the lock. The executor may be
/// unable to do so, for example because it waits for a thread that waits for this lock. The lease then releases the
/// lock, and the executor requests it again. This prevents a deadlock.
///
/// Thread safety: the mutex guards `state`.
package final class WriteLease: Sendable {
    private enum Phase {
        case none, pending
        /// The request was cancelled. The lock is released as soon as it is acquired.
        case cancelled
        case held
    }

    private struct State {
        var phase = Phase.none
        /// The number of the newest acquisition. It distinguishes this acquisition from earlier acquisitions.
        var number = 0
        var failure: EngineError?
    }

    private let coordinator: StoreCoordinator
    private let state = Mutex(State())
    private static let queue = DispatchQueue(label: "martlet.write-lease", qos: .userInitiated, attributes: .concurrent)
    private static let claimTimeout = DispatchTimeInterval.milliseconds(100)

    package init(_ coordinator: StoreCoordinator) { self.coordinator = coordinator }

    /// Waits for the lock on a background queue, and then calls `ready` on that queue. The executor then calls `claim`,
    /// and `takeFailure` if the lock could not be acquired.
    package func request(_ ready: @escaping @Sendable () -> Void) {
        let isNew = state.withLock { state in
            defer { if state.phase != .held { state.phase = .pending } }
            return state.phase == .none
        }
        if isNew { coordinator.environment.run(.writeLease, on: Self.queue) { [self] in wait(ready) } }
    }

    private func wait(_ ready: @escaping @Sendable () -> Void) {
        do {
            try coordinator.writeLock.acquire()
        } catch {
            state.withLock { $0 = State(phase: .none, number: $0.number, failure: $0.phase == .pending ? error : nil) }
            return ready()
        }
        // If the log is too long, waits on this queue, so that the executor is not blocked. If the wait fails, the
        // error is thrown again when the write begins.
        try? coordinator.waitForLogRestart(nil)
        let number = state.withLock { state -> Int? in
            let isPending = state.phase == .pending
            state.phase = isPending ? .held : .none
            state.number += 1
            return isPending ? state.number : nil
        }
        #if MARTLET_SEEDED_BUGS
            if SeededRace.isOn(.leaseKept), number == nil { return }
        #endif
        guard let number else { return coordinator.writeLock.release() }
        coordinator.environment.run(.writeLeaseExpiry, on: Self.queue, after: Self.claimTimeout) { [self] in
            expire(number)
        }
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

    /// Takes over the lock from this lease, or acquires the lock if it is free. The caller must then release the lock.
    /// Returns false if the lock is not available.
    package func claim() -> Bool {
        let isHeld = state.withLock { state in
            guard state.phase == .held else { return false }
            state.phase = .none
            return true
        }
        return isHeld || coordinator.writeLock.tryAcquire()
    }

    /// Returns the error with which the last request failed, and removes it.
    package func takeFailure() -> EngineError? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }

    /// Releases the lock if the lease holds it, and cancels a pending request. Called before the caller itself waits
    /// for the lock.
    package func releaseOrCancel() {
        let isHeld = state.withLock { state in
            defer { state.phase = state.phase == .pending || state.phase == .cancelled ? .cancelled : .none }
            return state.phase == .held
        }
        if isHeld { coordinator.writeLock.release() }
    }
}
