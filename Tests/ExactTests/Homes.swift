import Dispatch
import Foundation
import Synchronization

@testable import Martlet

/// Where observers live that are not told where the machine works: a serial queue that stands still, and an actor that
/// waits. Both go on when they are told to, and while they do the machine waits: so everybody may call it.
final class Homes {
    private let configuration: Realm.Configuration
    private let loops: LoopExecutor
    private(set) var queue: DispatchQueue?
    private(set) var listener: Listener?
    // Used on the queue only.
    nonisolated(unsafe) private var realmOfQueue: Realm?
    // Read while both stand still, and asked for what is locked.
    nonisolated(unsafe) private var contexts: [Place: RealmContext] = [:]

    enum Place { case queue, actor }

    init(_ configuration: Realm.Configuration, _ loops: LoopExecutor) {
        var configuration = configuration
        configuration.scheduler = nil
        (self.configuration, self.loops) = (configuration, loops)
    }

    /// The queue, with a Realm that stays open.
    func openQueue() throws -> DispatchQueue {
        if let queue { return queue }
        let queue = DispatchQueue(label: "elsewhere")
        let settings = configuration
        try queue.sync {
            let realm = try Realm(configuration: settings, queue: queue)
            (realmOfQueue, contexts[.queue]) = (realm, realm.context)
        }
        queue.suspend()
        self.queue = queue
        return queue
    }

    /// The actor, with a Realm that stays open.
    func openActor() throws -> Listener {
        if let listener { return listener }
        let listener = Listener()
        self.listener = listener
        let settings = configuration
        nonisolated(unsafe) let this = self
        nonisolated(unsafe) var failure: (any Error)?
        let task = Task(executorPreference: loops) {
            do {
                this.contexts[.actor] = try await listener.open(settings).value
            } catch {
                failure = error
            }
        }
        guard wait(until: { [self] in contexts[.actor] != nil || failure != nil }) else { throw Stuck() }
        withExtendedLifetime(task) {}
        if let failure { throw failure }
        return listener
    }

    struct Stuck: Error {}

    /// The version that is shown there.
    func version(_ place: Place) -> UInt64? {
        // Nobody is there now.
        contexts[place].flatMap { $0.hasSnapshot ? $0.version : nil }
    }

    /// Registers an observer elsewhere: it is told there as soon as that goes on.
    func observe(
        _ watcher: Watcher, _ place: Place, onQueue: (DispatchQueue) -> NotificationToken,
        onActor: @escaping (Listener) async -> NotificationToken
    ) {
        watcher.place = place
        guard place == .actor else {
            if let queue = try? openQueue() { watcher.tokenElsewhere = onQueue(queue) }
            return
        }
        guard let listener = try? openActor() else { return }
        nonisolated(unsafe) let (watcher, observe) = (watcher, onActor)
        nonisolated(unsafe) var isOver = false
        let task = Task(executorPreference: loops) {
            watcher.tokenElsewhere = await observe(listener)
            isOver = true
        }
        _ = wait { isOver }
        withExtendedLifetime(task) {}
    }

    /// Lets both go on until there is nothing left to do; false when that never comes.
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
            // The last turn may be under way.
            queue.sync {}
        }
        guard let hub = contexts[.actor]?.hub else { return true }
        return wait { hub.isIdle }
    }

    /// Lets what waits go on until something holds.
    func wait(until isOver: () -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: 60)
        repeat {
            loops.run()
            listener?.executor.run()
            if isOver() { return true }
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
        nonisolated(unsafe) var isOver = false
        let task = Task(executorPreference: loops) {
            await listener.close()
            isOver = true
        }
        _ = wait { isOver }
        withExtendedLifetime(task) {}
    }
}

/// An actor whose work is done when and where the machine wants it.
actor Listener {
    /// Something that is taken out of the actor, to be used while the actor waits.
    // Sendable: only one of the two works at a time.
    struct Taken<Value>: @unchecked Sendable {
        let value: Value
    }

    nonisolated let executor = HandExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var realm: Realm?

    func open(_ configuration: Realm.Configuration) throws -> Taken<RealmContext> {
        let realm = try Realm(configuration: configuration)
        self.realm = realm
        return Taken(value: realm.context)
    }

    func close() { realm = nil }
}

/// Runs the work of an actor when and where it is told to.
final class HandExecutor: SerialExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs until nothing is left.
    func run() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }
}

extension NotificationToken {
    /// The token of what was gone before it could be observed.
    static var ended: NotificationToken {
        let token = NotificationToken(nil)
        token.invalidate()
        return token
    }
}
