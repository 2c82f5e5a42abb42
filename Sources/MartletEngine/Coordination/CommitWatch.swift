import CMartletRuntime
import Dispatch
import Foundation

/// Hears from the system when a writer of any process has let go of a file, so that nobody has to look again and again.
///
/// What is watched is the lock file beside the database: a writer leaves the number of its version there before it lets go
/// of the lock, and of one that is killed before it could, the system closes the file. Either wakes those who listen. Where the
/// lock file is deleted or replaced, the new one is watched. The database itself is never touched.
///
/// Ledger: `members` under `lock`; events are read on `queue`.
// Sendable by the ledger above.
final class CommitWatch: @unchecked Sendable {
    private struct Member {
        weak var monitor: ExternalCommitMonitor?
    }

    /// Nil where the system has no such thing, or no more of it to give.
    static let shared = CommitWatch()

    static let queue = DispatchQueue(label: "martlet.commit-watch", qos: .userInitiated)
    private static let beginnings = NSLock()
    // Guarded by `beginnings`.
    nonisolated(unsafe) private static var waiting: [@Sendable () -> Void] = []
    private let descriptor: Int32
    private let lock = NSLock()
    private let forks = cmartlet_fork_count()
    /// By the number that the system gives each watched file.
    private var members: [Int32: [Member]] = [:]
    private var source: (any DispatchSourceRead)?

    /// Does `begin` a moment later, on the queue, with all that others want begun: to open a file waits for no watch, and one
    /// that is closed again at once has none.
    static func soon(_ begin: @escaping @Sendable () -> Void) {
        beginnings.lock()
        waiting.append(begin)
        let isFirst = waiting.count == 1
        beginnings.unlock()
        if isFirst { queue.asyncAfter(deadline: .now() + .milliseconds(5)) { beginAll() } }
    }

    private static func beginAll() {
        beginnings.lock()
        let all = waiting
        waiting = []
        beginnings.unlock()
        for begin in all { begin() }
    }

    /// Waits until all has begun that was to begin soon.
    static func settle() { queue.sync { beginAll() } }

    private func locked<R>(_ body: (inout [Int32: [Member]]) -> R) -> R {
        lock.lock()
        defer { lock.unlock() }
        return body(&members)
    }

    #if os(Linux)
        private init?() {
            descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: Self.queue)
            source.setEventHandler { [unowned self] in hear() }
            self.source = source
            source.resume()
        }

        /// False when the file cannot be watched.
        func add(_ monitor: ExternalCommitMonitor, _ path: String) -> Bool {
            // Nobody reads the events in a forked child, which shares the watches with its parent.
            guard forks == cmartlet_fork_count() else { return false }
            return locked { members in
                let number = inotify_add_watch(
                    descriptor, path, UInt32(IN_MODIFY | IN_CLOSE_WRITE) | Self.replaced | UInt32(IN_DONT_FOLLOW))
                guard number >= 0 else { return false }
                members[number, default: []].append(Member(monitor: monitor))
                return true
            }
        }

        /// Ends the watches that nobody has an interest in any more.
        func sweep() {
            guard forks == cmartlet_fork_count() else { return }
            let living = locked { members in
                let living = members.mapValues { $0.compactMap(\.monitor) }
                for (number, monitors) in living {
                    members[number] = monitors.filter { !$0.isOver }.map { Member(monitor: $0) }
                    guard members[number]?.isEmpty == true else { continue }
                    members[number] = nil
                    inotify_rm_watch(descriptor, number)
                }
                return living
            }
            // Held until after the lock: to end one may take it.
            withExtendedLifetime(living) {}
        }

        /// What the system says of a file that another file takes the place of. Changes of its mode are among them.
        private static let replaced = UInt32(IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

        private enum Event: Int { case changed, closed, replaced }

        private func hear() {
            let (events, isLost) = readEvents()
            let heard = locked { members in
                members.flatMap { number, members in
                    members.compactMap { member in
                        member.monitor.flatMap { monitor in
                            (isLost ? .closed : events[number]).map { (monitor, $0) }
                        }
                    }
                }
            }
            unwatch(events.filter { $0.value == .replaced }.map(\.key))
            for (monitor, event) in heard {
                if event == .replaced { monitor.watchAgainSoon() } else { monitor.hear(isCertain: event == .closed) }
            }
        }

        private func readEvents() -> (events: [Int32: Event], isLost: Bool) {
            var events: [Int32: Event] = [:]
            var isLost = false
            withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
                while true {
                    let count = read(descriptor, buffer.baseAddress, buffer.count)
                    guard count > 0 else { return }
                    var offset = 0
                    while offset < count {
                        let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                        offset += MemoryLayout<inotify_event>.size + Int(event.len)
                        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isLost = true }
                        let found = Self.event(event.mask)
                        if found.rawValue >= events[event.wd]?.rawValue ?? 0 { events[event.wd] = found }
                    }
                }
            }
            return (events, isLost)
        }

        private static func event(_ mask: UInt32) -> Event {
            if mask & replaced != 0 { return .replaced }
            return mask & UInt32(IN_CLOSE_WRITE) != 0 ? .closed : .changed
        }

        private func unwatch(_ numbers: [Int32]) {
            locked { members in
                for number in numbers {
                    members[number] = nil
                    inotify_rm_watch(descriptor, number)
                }
            }
        }
    #else
        private init?() { nil }
        func add(_ monitor: ExternalCommitMonitor, _ path: String) -> Bool { false }
        func sweep() {}
    #endif
}
