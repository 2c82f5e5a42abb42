import CMartletRuntime
import Dispatch
package import Foundation

/// Gets work onto the executor of a Realm: its run loop, its queue, its actor, or, in tests, by hand.
final class Scheduler: Sendable {
    // Sendable: run loops take blocks from any thread; the others lock by themselves, and confinements do not change.
    private enum Target: @unchecked Sendable {
        case runLoop(WakingRunLoop)
        case queue(DispatchQueue)
        case actor(Confinement)
        case byHand(ManualScheduler)
    }

    private let target: Target

    private init(_ target: Target) { self.target = target }

    static func queue(_ queue: DispatchQueue) -> Scheduler { Scheduler(.queue(queue)) }

    /// Takes turns as long as the actor lives.
    static func actor(_ home: Confinement) -> Scheduler { Scheduler(.actor(home)) }

    static func byHand(_ scheduler: ManualScheduler) -> Scheduler { Scheduler(.byHand(scheduler)) }

    /// The run loop of this thread; nil for a background thread that does not run one.
    static func currentRunLoop() -> Scheduler? {
        guard Thread.isMainThread || RunLoop.current.currentMode != nil else { return nil }
        return Scheduler(.runLoop(WakingRunLoop()))
    }

    /// The main queue for the main actor, where that has left the main thread, whose run loop does not run any more.
    static func mainQueue(_ isolation: (any Actor)?) -> DispatchQueue? {
        isolation is MainActor && !Thread.isMainThread ? .main : nil
    }

    /// Keeps the run loop of this thread running as long as the scheduler lives: a run loop without a source ends, and
    /// notifications that are to be delivered on it are lost.
    func stay() {
        if case .runLoop(let loop) = target { loop.keepRunning() }
    }

    /// Runs `body` on the executor, soon and once.
    func schedule(_ body: @escaping @Sendable () -> Void) {
        switch target {
        case .runLoop(let loop): loop.perform(body)
        case .queue(let queue): queue.async(execute: body)
        case .actor(let home):
            guard let actor = home.actor else { return }
            Task.detached(priority: .userInitiated) { await Self.run(body, on: actor) }
        case .byHand(let scheduler): scheduler.append(body)
        }
    }

    private static func run(_ body: @Sendable () -> Void, on actor: isolated any Actor) { body() }
}

/// A scheduler whose turns are taken by hand: delivery becomes a list of steps, which tests can order.
// Sendable: `pending` is used under the lock.
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

    /// Waits until a turn can be taken; false when none came for a long time.
    package func waitForTurn(seconds: TimeInterval = 30) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        lock.lock()
        defer { lock.unlock() }
        while pending.isEmpty {
            guard lock.wait(until: deadline) else { return !pending.isEmpty }
        }
        return true
    }

    /// The number of turns that wait.
    package var count: Int {
        lock.lock()
        defer { lock.unlock() }
        return pending.count
    }

    /// Takes the turns that wait now; returns how many there were.
    @discardableResult
    package func turn() -> Int {
        lock.lock()
        let bodies = pending
        pending = []
        lock.unlock()
        for body in bodies { body() }
        return bodies.count
    }
}
