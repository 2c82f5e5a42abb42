import CMartletRuntime
import Dispatch
import Foundation

/// Where a Realm lives: the thread it was opened on, or a serial queue.
final class Confinement {
    enum Home {
        case thread(word: UInt, name: String)
        case queue(DispatchQueue)
    }

    let home: Home
    private static let queueKey = DispatchSpecificKey<UInt64>()

    private init(_ home: Home) { self.home = home }

    static func currentThread() -> Confinement {
        let thread = Thread.current
        let name =
            thread.isMainThread
            ? "the main thread"
            : thread.name.map { $0.isEmpty ? "a background thread" : "the thread '\($0)'" } ?? "a background thread"
        return Confinement(.thread(word: UInt(cmartlet_thread()), name: name))
    }

    static func queue(_ queue: DispatchQueue) -> Confinement {
        if queue.getSpecific(key: queueKey) == nil { queue.setSpecific(key: queueKey, value: nextQueueNumber()) }
        return Confinement(.queue(queue))
    }

    // Numbers tell queues apart; a queue keeps its number.
    private static let numberLock = NSLock()
    nonisolated(unsafe) private static var lastNumber: UInt64 = 0
    private static func nextQueueNumber() -> UInt64 {
        numberLock.lock()
        defer { numberLock.unlock() }
        lastNumber += 1
        return lastNumber
    }

    /// What an accessor compares the thread's word with; zero where every access must look at the queue.
    var guardWord: UInt {
        if case .thread(let word, _) = home { word } else { 0 }
    }

    var isCurrent: Bool {
        switch home {
        case .thread(let word, _): word == UInt(cmartlet_thread())
        case .queue(let queue):
            DispatchQueue.getSpecific(key: Self.queueKey) == queue.getSpecific(key: Self.queueKey)
        }
    }

    /// The same for all Realms of one executor: used to find the instance that is open there already.
    var identity: UInt64 {
        switch home {
        case .thread(let word, _): UInt64(word)
        case .queue(let queue): (queue.getSpecific(key: Self.queueKey) ?? 0) | 1 << 63
        }
    }

    @inline(__always)
    func require(_ what: @autoclosure () -> String) {
        if !isCurrent { fail(what()) }
    }

    private func fail(_ what: String) -> Never {
        let here = Self.here
        Misuse.wrongExecutor(what, home: description, here: here == description ? "another thread" : here)
    }

    var description: String {
        switch home {
        case .thread(_, let name): name
        case .queue(let queue): "the queue '\(queue.label)'"
        }
    }

    private static var here: String { currentThread().description }
}
