import CMartletRuntime
import Dispatch
package import Foundation

/// Schedules work on the executor of a Realm: a run loop, a queue, an actor, or, in tests, a manual scheduler.
final class Scheduler: Sendable {
    // Sendable: run loops and queues accept blocks from any thread, a manual scheduler has a lock, and a confinement
    // does not change.
    private enum Target: @unchecked Sendable {
        case runLoop(WakeableRunLoop)
        case queue(DispatchQueue)
        case actor(Confinement)
        case manual(ManualScheduler)
    }

    private let target: Target

    private init(_ target: Target) { self.target = target }

    static func queue(_ queue: DispatchQueue) -> Scheduler { Scheduler(.queue(queue)) }

    /// A scheduler for an actor. After the actor was deallocated, the scheduler discards all blocks.
    static func actor(_ confinement: Confinement) -> Scheduler { Scheduler(.actor(confinement)) }

    static func manual(_ scheduler: ManualScheduler) -> Scheduler { Scheduler(.manual(scheduler)) }

    /// A scheduler for the run loop of the current thread; nil on a background thread that is not running its run loop.
    static func currentRunLoop() -> Scheduler? {
        guard Thread.isMainThread || RunLoop.current.currentMode != nil else { return nil }
        return Scheduler(.runLoop(WakeableRunLoop()))
    }

    /// The main queue if `isolation` is the main actor and the current thread is not the main thread; otherwise nil. On
    /// Linux the main actor can run on a thread that is not the main thread. The run loop of the main thread then does
    /// not run, so the main queue must run the blocks.
    static func mainQueue(_ isolation: (any Actor)?) -> DispatchQueue? {
        isolation is MainActor && !Thread.isMainThread ? .main : nil
    }

    /// Keeps the run loop of this thread running while the scheduler is alive. Without this call, the run loop would
    /// return because it has no source, and later notifications would be lost.
    func keepRunning() {
        if case .runLoop(let loop) = target { loop.keepRunning() }
    }

    /// Runs `body` once on the executor. Returns without waiting for `body`.
    func schedule(_ body: @escaping @Sendable () -> Void) {
        switch target {
        case .runLoop(let loop): loop.perform(body)
        case .queue(let queue): queue.async(execute: body)
        case .actor(let confinement):
            guard let actor = confinement.actor else { return }
            Task.detached(priority: .userInitiated) { await Self.run(body, on: actor) }
        case .manual(let scheduler): scheduler.append(body)
        }
    }

    private static func run(_ body: @Sendable () -> Void, on actor: isolated any Actor) { body() }
}

/// A scheduler that runs blocks only when a test calls `run()`. The test thus controls the order of deliveries.
// Sendable: `pending` is guarded by the lock.
package final class ManualScheduler: @unchecked Sendable {
    private let lock = NSCondition()
    private var pending: [@Sendable () -> Void] = []

    package init() {}

    func append(_ body: @escaping @Sendable () -> Void) {
        lock.lock()
        pending.append(body)
        lock.broadcast()
        lock.unlock()
    }

    /// Waits until a block is pending. Returns false if no block is pending at the timeout.
    package func waitForWork(seconds: TimeInterval = 30) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        lock.lock()
        defer { lock.unlock() }
        while pending.isEmpty {
            guard lock.wait(until: deadline) else { return !pending.isEmpty }
        }
        return true
    }

    /// The number of pending blocks.
    package var count: Int {
        lock.lock()
        defer { lock.unlock() }
        return pending.count
    }

    /// Runs the blocks that are pending now. Returns their number.
    @discardableResult
    package func run() -> Int {
        lock.lock()
        let bodies = pending
        pending = []
        lock.unlock()
        for body in bodies { body() }
        return bodies.count
    }
}
