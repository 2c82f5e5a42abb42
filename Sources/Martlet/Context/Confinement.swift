import CMartletRuntime
import Dispatch
import Foundation
import MartletEngine
import Synchronization

/// Where a Realm lives: the thread it was opened on, a serial queue, or an actor; what is frozen lives anywhere.
///
/// The main thread, the main queue and the main actor are one home: only one of them runs at a time. On Linux the main
/// queue may leave the main thread for good, so none of the three stands for the others when asked who runs.
// Sendable: nothing of it changes, but for the actor's weak reference, which may be read anywhere.
final class Confinement: CustomStringConvertible, @unchecked Sendable {
    enum Home {
        case thread(word: UInt, number: UInt64, name: String)
        case main
        case queue(DispatchQueue)
        case actor(executor: UInt, name: String)
        case anywhere
    }

    let home: Home
    /// The actor that is the home. It may own the Realm, so it is not kept alive by it.
    private(set) weak var actor: (any Actor)?
    private static let queueKey = DispatchSpecificKey<UInt64>()

    private init(_ home: Home, _ actor: (any Actor)? = nil) {
        self.home = home
        self.actor = actor
    }

    // MARK: Homes

    static let anywhere = Confinement(.anywhere)
    private static let mainHome = Confinement(.main)

    static func currentThread() -> Confinement {
        if isMain { return mainHome }
        let name = Thread.current.name ?? ""
        // Threads of global queues are called after these.
        let isNamed = !name.isEmpty && !name.contains("-qos")
        return Confinement(
            .thread(
                word: UInt(cmartlet_thread()), number: cmartlet_thread_number(),
                name: isNamed ? "the thread '\(name)'" : "a background thread"))
    }

    static func queue(_ queue: DispatchQueue) -> Confinement {
        // Another instance may stand for the main queue each time.
        if queue.label == DispatchQueue.main.label { return mainHome }
        if queue.getSpecific(key: queueKey) == nil, !isSerial(queue) { Misuse.concurrentQueue(queue.label) }
        mark(queue)
        return Confinement(.queue(queue))
    }

    static func actor(_ actor: any Actor) -> Confinement {
        if actor === MainActor.shared { return mainHome }
        let executor = unsafeBitCast(actor.unownedExecutor, to: (UInt, UInt).self).0
        return Confinement(.actor(executor: executor, name: "\(type(of: actor))"), actor)
    }

    /// The home that code of an isolation belongs to: its actor, or else its thread.
    static func of(_ isolation: (any Actor)?) -> Confinement { isolation.map { actor($0) } ?? currentThread() }

    // Numbers tell queues apart; a queue keeps its number.
    private static func mark(_ queue: DispatchQueue) {
        if queue.getSpecific(key: queueKey) == nil { queue.setSpecific(key: queueKey, value: nextQueueNumber()) }
    }

    // MARK: Kinds of queues

    private static let concurrentQueue = DispatchQueue(label: "martlet.concurrent", attributes: .concurrent)

    /// False for queues that run several blocks at once. Dispatch has no function that says so.
    private static func isSerial(_ queue: DispatchQueue) -> Bool {
        if queue.label.hasPrefix("com.apple.root.") { return false }
        #if canImport(ObjectiveC)
            return type(of: queue) != type(of: concurrentQueue)
        #else
            guard let queue = pointer(queue), let concurrent = pointer(concurrentQueue) else { return true }
            return !cmartlet_are_queues_of_one_kind(queue, concurrent)
        #endif
    }

    // The Swift class of Linux holds the object of Dispatch.
    private static func pointer(_ queue: DispatchQueue) -> UnsafeRawPointer? {
        (Mirror(reflecting: queue).descendant("__wrapped") as? OpaquePointer).map { UnsafeRawPointer($0) }
    }

    private static let numberLock = NSLock()
    nonisolated(unsafe) private static var lastNumber: UInt64 = 0
    private static func nextQueueNumber() -> UInt64 {
        numberLock.lock()
        defer { numberLock.unlock() }
        lastNumber += 1
        return lastNumber
    }

    // MARK: Asking

    /// What an accessor compares the thread's word with; zero where every access must look further.
    var guardWord: UInt {
        if case .thread(let word, _, _) = home { return word }
        let word = UInt(cmartlet_thread())
        return home.isMain && word == Self.mainWord.load(ordering: .relaxed) ? word : 0
    }

    var isCurrent: Bool {
        switch home {
        case .thread(let word, let number, _):
            Self.isByAddress ? word == UInt(cmartlet_thread()) : number == cmartlet_thread_number()
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

    // The word of the main thread; zero until it has been seen here.
    private static let mainWord = Atomic<UInt>(0)

    private static var isMain: Bool {
        let word = UInt(cmartlet_thread())
        if word == mainWord.load(ordering: .relaxed) { return true }
        guard Thread.isMainThread else { return cmartlet_is_on_main_queue() }
        mainWord.store(word, ordering: .relaxed)
        return true
    }

    /// The same for all Realms of one executor: used to find the instance that is open there already.
    var identity: UInt64 {
        switch home {
        case .thread(let word, let number, _): Self.isByAddress ? UInt64(word) : number
        case .main: .max
        case .queue(let queue): (queue.getSpecific(key: Self.queueKey) ?? 0) | 1 << 63
        case .actor(let executor, _): UInt64(executor) | 1 << 62
        case .anywhere: 0
        }
    }

    /// False for the home of an actor that has gone: another may lie at its address by now.
    func isSame(as other: Confinement) -> Bool { identity == other.identity && actor === other.actor }

    /// Higher for the homes that code knows best: an actor's code runs on some queue, and a queue's on some thread.
    var precedence: Int {
        switch home {
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
        Misuse.wrongExecutor(what, home: description, here: here == description ? "another thread" : here)
    }

    var description: String {
        switch home {
        case .thread(_, _, let name): name
        case .main: "the main thread"
        case .queue(let queue): "the queue '\(queue.label)'"
        case .actor(_, let name): "the actor '\(name)'"
        case .anywhere: "every thread"
        }
    }

    // Where code runs that does not run at home.
    private var here: String {
        if Self.isMain { return "the main thread" }
        let label = cmartlet_current_queue_label().map { String(cString: $0) } ?? ""
        if !label.isEmpty, !label.hasPrefix("com.apple.root"), !label.hasPrefix("Swift global") {
            return "the queue '\(label)'"
        }
        return withUnsafeCurrentTask { $0 != nil } ? "another task" : Self.currentThread().description
    }
}

extension Confinement.Home {
    fileprivate var isMain: Bool {
        if case .main = self { return true }
        return false
    }
}
