import CMartletRuntime
import Dispatch
import Foundation
import MartletEngine
import Synchronization

/// The isolation to which a Realm is confined: a thread, a serial queue or an actor. A frozen Realm is not confined and
/// has the isolation `anywhere`.
///
/// The main thread, the main queue and the main actor are one isolation, because only one of them runs at a time. On
/// Linux the main queue and the main actor may run on a thread other than the main thread. `isMain` therefore checks
/// the thread and the queue.
// Sendable: only the weak reference to the actor changes, and any thread can read a weak reference.
final class Confinement: CustomStringConvertible, @unchecked Sendable {
    enum Isolation {
        case thread(pointer: UInt, number: UInt64, name: String)
        case main
        case queue(DispatchQueue)
        case actor(executor: UInt, name: String)
        case anywhere
    }

    let isolation: Isolation
    /// The actor of the isolation. The reference is weak, because the actor may own the Realm.
    private(set) weak var actor: (any Actor)?
    /// The key of the numbers by which queues are compared.
    private static let queueKey = DispatchSpecificKey<UInt64>()

    private init(_ isolation: Isolation, _ actor: (any Actor)? = nil) {
        self.isolation = isolation
        self.actor = actor
    }

    // MARK: Isolations

    static let anywhere = Confinement(.anywhere)
    // The main queue is recognized by its number, because every access to `DispatchQueue.main` may return another
    // instance, and another queue may have the same label.
    private static let mainConfinement: Confinement = {
        DispatchQueue.main.setSpecific(key: queueKey, value: .max)
        return Confinement(.main)
    }()

    static func currentThread() -> Confinement {
        if isMain { return mainConfinement }
        let name = Thread.current.name ?? ""
        // A thread that runs a block of a global queue has the name of that queue. This name does not identify the
        // thread.
        let isNamed = !name.isEmpty && !name.contains("-qos")
        return Confinement(
            .thread(
                pointer: UInt(cmartlet_thread()), number: cmartlet_thread_number(),
                name: isNamed ? "the thread '\(name)'" : "a background thread"))
    }

    static func queue(_ queue: DispatchQueue) -> Confinement {
        let main = mainConfinement
        if queue.getSpecific(key: queueKey) == .max { return main }
        if queue.getSpecific(key: queueKey) == nil, !isSerial(queue) { Misuse.concurrentQueue(queue.label) }
        mark(queue)
        return Confinement(.queue(queue))
    }

    static func actor(_ actor: any Actor) -> Confinement {
        if actor === MainActor.shared { return mainConfinement }
        let executor = unsafeBitCast(actor.unownedExecutor, to: (UInt, UInt).self).0
        return Confinement(.actor(executor: executor, name: "\(type(of: actor))"), actor)
    }

    /// The confinement to the actor `isolation` or, if `isolation` is nil, to the current thread.
    static func of(_ isolation: (any Actor)?) -> Confinement { isolation.map { actor($0) } ?? currentThread() }

    private static let lastQueueNumber = Mutex<UInt64>(0)

    // Assigns a unique number to a queue that has no number yet. Two threads may do so at the same time, and the number
    // of a queue must not change.
    private static func mark(_ queue: DispatchQueue) {
        lastQueueNumber.withLock { last in
            if queue.getSpecific(key: queueKey) != nil { return }
            last += 1
            queue.setSpecific(key: queueKey, value: last)
        }
    }

    // MARK: Kinds of queues

    private static let concurrentQueue = DispatchQueue(label: "martlet.concurrent", attributes: .concurrent)

    /// False for concurrent and global queues. Dispatch has no API that returns the kind of a queue, so the function
    /// compares the class of the queue with the class of a concurrent queue.
    private static func isSerial(_ queue: DispatchQueue) -> Bool {
        if queue.label.hasPrefix("com.apple.root.") { return false }
        #if canImport(ObjectiveC)
            return type(of: queue) != type(of: concurrentQueue)
        #else
            guard let queue = pointer(queue), let concurrent = pointer(concurrentQueue) else { return true }
            return !cmartlet_are_queues_of_one_kind(queue, concurrent)
        #endif
    }

    // On Linux the Swift class is a wrapper around the C object.
    private static func pointer(_ queue: DispatchQueue) -> UnsafeRawPointer? {
        (Mirror(reflecting: queue).descendant("__wrapped") as? OpaquePointer).map { UnsafeRawPointer($0) }
    }

    // MARK: Checks

    /// The guard word of the accessors of a Realm: the pointer of the Realm's thread, or zero if every access must
    /// check `isCurrent`.
    var guardWord: UInt {
        if case .thread(let pointer, _, _) = isolation { return pointer }
        let pointer = UInt(cmartlet_thread())
        return isolation.isMain && pointer == Self.mainThreadPointer.load(ordering: .relaxed) ? pointer : 0
    }

    var isCurrent: Bool {
        switch isolation {
        case .thread(let pointer, let number, _):
            Self.isByAddress ? pointer == UInt(cmartlet_thread()) : number == cmartlet_thread_number()
        case .main: Self.isMain
        case .queue(let queue): DispatchQueue.getSpecific(key: Self.queueKey) == queue.getSpecific(key: Self.queueKey)
        case .actor(let executor, _): UInt(bitPattern: cmartlet_current_executor()) == executor
        case .anywhere: true
        }
    }

    #if MARTLET_SEEDED_BUGS
        private static var isByAddress: Bool { SeededRace.isOn(.threadByAddress) }
    #else
        private static var isByAddress: Bool { false }
    #endif

    // The pointer of the main thread. It is zero until `isMain` is called on the main thread for the first time.
    private static let mainThreadPointer = Atomic<UInt>(0)

    private static var isMain: Bool {
        let pointer = UInt(cmartlet_thread())
        if pointer == mainThreadPointer.load(ordering: .relaxed) { return true }
        guard Thread.isMainThread else { return cmartlet_is_on_main_queue() }
        mainThreadPointer.store(pointer, ordering: .relaxed)
        return true
    }

    /// A number that identifies the isolation. It is used to find the Realm that is already open in the isolation.
    var identity: UInt64 {
        switch isolation {
        case .thread(let pointer, let number, _): Self.isByAddress ? UInt64(pointer) : number
        case .main: .max
        case .queue(let queue): (queue.getSpecific(key: Self.queueKey) ?? 0) | 1 << 63
        case .actor(let executor, _): UInt64(executor) | 1 << 62
        case .anywhere: 0
        }
    }

    /// True if both confinements have the same isolation. The actors are compared, too, because a new actor may have
    /// the address of a deallocated actor.
    func isSame(as other: Confinement) -> Bool { identity == other.identity && actor === other.actor }

    /// Higher for a more specific isolation. Code of an actor may run on a queue, and code of a queue runs on a thread,
    /// so several isolations can be current at the same time.
    var specificity: Int {
        switch isolation {
        case .actor: 3
        case .queue: 2
        case .main: 1
        case .thread, .anywhere: 0
        }
    }

    // MARK: Misuse

    @inline(__always)
    func require(_ what: @autoclosure () -> String) {
        if !isCurrent { fail(what()) }
    }

    private func fail(_ what: String) -> Never {
        let here = here
        Misuse.wrongExecutor(what, isolation: description, here: here == description ? "another thread" : here)
    }

    var description: String {
        switch isolation {
        case .thread(_, _, let name): name
        case .main: "the main thread"
        case .queue(let queue): "the queue '\(queue.label)'"
        case .actor(_, let name): "the actor '\(name)'"
        case .anywhere: "every thread"
        }
    }

    // The current executor, for messages about a Realm that is used on the wrong executor.
    private var here: String {
        if Self.isMain { return "the main thread" }
        let label = cmartlet_current_queue_label().map { String(cString: $0) } ?? ""
        if !label.isEmpty, !label.hasPrefix("com.apple.root"), !label.hasPrefix("Swift global") {
            return "the queue '\(label)'"
        }
        return withUnsafeCurrentTask { $0 != nil } ? "another task" : Self.currentThread().description
    }
}

extension Confinement.Isolation {
    fileprivate var isMain: Bool {
        if case .main = self { return true }
        return false
    }
}
