import Dispatch
import Foundation
import Synchronization

@testable import Martlet

/// A serial queue and an actor on which observers can be registered, each with a separate Realm.
///
/// The queue is suspended and the actor has a manual executor, so callbacks run only in `run()`. The thread of the test
/// waits while callbacks run, so callbacks may use the state of the test.
final class ObserverExecutors {
    private let configuration: Realm.Configuration
    private let loopExecutor: ManualTaskExecutor
    private(set) var queue: DispatchQueue?
    private(set) var listener: Listener?
    // This property is used only on the queue.
    nonisolated(unsafe) private var realmOfQueue: Realm?
    // This property is not read while the queue or the actor runs.
    nonisolated(unsafe) private var contexts: [Executor: RealmContext] = [:]

    enum Executor { case queue, actor }

    init(_ configuration: Realm.Configuration, _ loopExecutor: ManualTaskExecutor) {
        var configuration = configuration
        configuration.scheduler = nil
        (self.configuration, self.loopExecutor) = (configuration, loopExecutor)
    }

    /// Opens a Realm on the queue if none is open there yet, and returns the queue.
    func openQueue() throws -> DispatchQueue {
        if let queue { return queue }
        let queue = DispatchQueue(label: "observers")
        let settings = configuration
        try queue.sync {
            let realm = try Realm(configuration: settings, queue: queue)
            (realmOfQueue, contexts[.queue]) = (realm, realm.context)
        }
        queue.suspend()
        self.queue = queue
        return queue
    }

    /// Opens a Realm on the actor if none is open there yet, and returns the actor.
    func openActor() throws -> Listener {
        if let listener { return listener }
        let listener = Listener()
        self.listener = listener
        let settings = configuration
        nonisolated(unsafe) let this = self
        nonisolated(unsafe) var failure: (any Error)?
        let task = Task(executorPreference: loopExecutor) {
            do {
                this.contexts[.actor] = try await listener.open(settings).value
            } catch {
                failure = error
            }
        }
        guard wait(until: { [self] in contexts[.actor] != nil || failure != nil }) else { throw SetupFailed() }
        withExtendedLifetime(task) {}
        if let failure { throw failure }
        return listener
    }

    struct SetupFailed: Error {}

    /// The version that the Realm of the queue or the actor shows; nil if this Realm shows no version.
    func version(_ executor: Executor) -> UInt64? {
        // This access is safe, because neither the queue nor the actor runs at this time.
        contexts[executor].flatMap { $0.hasSnapshot ? $0.version : nil }
    }

    /// Registers an observer on the queue or the actor. Its callbacks run there in the next `run()`.
    func observe(
        _ watcher: Watcher, _ executor: Executor, onQueue: (DispatchQueue) -> NotificationToken,
        onActor: @escaping (Listener) async -> NotificationToken
    ) {
        watcher.executor = executor
        guard executor == .actor else {
            if let queue = try? openQueue() { watcher.tokenOnExecutor = onQueue(queue) }
            return
        }
        guard let listener = try? openActor() else { return }
        nonisolated(unsafe) let (watcher, observe) = (watcher, onActor)
        nonisolated(unsafe) var isDone = false
        let task = Task(executorPreference: loopExecutor) {
            watcher.tokenOnExecutor = await observe(listener)
            isDone = true
        }
        _ = wait { isDone }
        withExtendedLifetime(task) {}
    }

    /// Runs the queue and the actor until no delivery is pending. Returns false if a delivery is still pending after 60
    /// s.
    func run() -> Bool {
        let deadline = Date(timeIntervalSinceNow: 60)
        if let queue, let hub = contexts[.queue]?.hub {
            queue.resume()
            defer { queue.suspend() }
            repeat {
                queue.sync {}
                sched_yield()
                if Date() > deadline { return false }
            } while !hub.isIdle
            // The last delivery may still be running. This call waits for its end.
            queue.sync {}
        }
        guard let hub = contexts[.actor]?.hub else { return true }
        return wait { hub.isIdle }
    }

    /// Runs pending tasks until a condition holds. Returns false if it does not hold after 60 s.
    func wait(until isDone: () -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: 60)
        repeat {
            loopExecutor.run()
            listener?.executor.run()
            if isDone() { return true }
            sched_yield()
        } while Date() < deadline
        return false
    }

    func close() {
        contexts = [:]
        if let queue {
            queue.resume()
            queue.sync { realmOfQueue = nil }
        }
        guard let listener else { return }
        nonisolated(unsafe) var isDone = false
        let task = Task(executorPreference: loopExecutor) {
            await listener.close()
            isDone = true
        }
        _ = wait { isDone }
        withExtendedLifetime(task) {}
    }
}

/// An actor whose jobs run only when the test runs its executor.
actor Listener {
    /// A value of the actor that the test uses while the actor does not run.
    // Sendable: the actor and the test never run at the same time.
    struct SendableBox<Value>: @unchecked Sendable {
        let value: Value
    }

    nonisolated let executor = ManualExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var realm: Realm?

    func open(_ configuration: Realm.Configuration) throws -> SendableBox<RealmContext> {
        let realm = try Realm(configuration: configuration)
        self.realm = realm
        return SendableBox(value: realm.context)
    }

    func close() { realm = nil }
}

/// Runs the jobs of an actor in `run()`, on the thread that calls `run()`.
final class ManualExecutor: SerialExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs jobs until none is left.
    func run() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }
}

extension NotificationToken {
    /// An invalidated token, for an object that was deleted before it could be observed.
    static var ended: NotificationToken {
        let token = NotificationToken(nil)
        token.invalidate()
        return token
    }
}
