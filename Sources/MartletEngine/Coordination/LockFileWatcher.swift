import CMartletRuntime
import Dispatch
import Foundation

/// Receives events of the operating system when a writer of any process releases a lock file, so that no process has to
/// poll at short intervals.
///
/// The watcher watches the lock file beside the database. A writer writes the number of its version to the lock file
/// before it releases the lock. If a writer is killed before it writes the number, the system closes the lock file.
/// Both events wake the monitors of the file. If the lock file is deleted or replaced, its monitors watch the new lock
/// file. The watcher never opens the database itself.
///
/// Thread safety: `lock` guards `members`. Events are read on `queue`.
// Sendable as described above.
final class LockFileWatcher: @unchecked Sendable {
    private struct Member {
        weak var monitor: CommitMonitor?
    }

    /// Nil if the platform has no such events, or if a limit of the system prevents the watcher from being created.
    static let shared = LockFileWatcher()

    static let queue = DispatchQueue(label: "martlet.commit-watch", qos: .userInitiated)
    private static let waitingLock = NSLock()
    // The requested watches that have not begun yet. Guarded by `waitingLock`.
    nonisolated(unsafe) private static var waiting: [@Sendable () -> Void] = []
    private let descriptor: Int32
    private let lock = NSLock()
    private let forks = cmartlet_fork_count()
    /// The monitors of each watched file, by the watch descriptor.
    private var members: [Int32: [Member]] = [:]
    private var source: (any DispatchSourceRead)?

    /// Runs `begin`, which begins a watch, on the queue a few milliseconds later, in one batch with other requested
    /// watches. Opening a file does not wait for its watch. If the file is closed within these milliseconds, it gets no
    /// watch.
    static func schedule(_ begin: @escaping @Sendable () -> Void) {
        waitingLock.lock()
        waiting.append(begin)
        let isFirst = waiting.count == 1
        waitingLock.unlock()
        if isFirst { queue.asyncAfter(deadline: .now() + .milliseconds(5)) { beginAll() } }
    }

    private static func beginAll() {
        waitingLock.lock()
        let all = waiting
        waiting = []
        waitingLock.unlock()
        for begin in all { begin() }
    }

    /// Waits until all requested watches have begun.
    static func waitForScheduled() { queue.sync { beginAll() } }

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
            source.setEventHandler { [unowned self] in handleEvents() }
            self.source = source
            source.resume()
        }

        /// Returns false if the file cannot be watched.
        func add(_ monitor: CommitMonitor, _ path: String) -> Bool {
            // A forked child shares the watches with its parent, but has no thread that reads the events.
            guard forks == cmartlet_fork_count() else { return false }
            return locked { members in
                let number = inotify_add_watch(
                    descriptor, path, UInt32(IN_MODIFY | IN_CLOSE_WRITE) | Self.replaced | UInt32(IN_DONT_FOLLOW))
                guard number >= 0 else { return false }
                members[number, default: []].append(Member(monitor: monitor))
                return true
            }
        }

        /// Ends the watches of monitors that were stopped or deallocated.
        func removeStopped() {
            guard forks == cmartlet_fork_count() else { return }
            let living = locked { members in
                let living = members.mapValues { $0.compactMap(\.monitor) }
                for (number, monitors) in living {
                    members[number] = monitors.filter { !$0.isStopped }.map { Member(monitor: $0) }
                    guard members[number]?.isEmpty == true else { continue }
                    members[number] = nil
                    inotify_rm_watch(descriptor, number)
                }
                return living
            }
            // The monitors are released after `lock` is unlocked, because the deinit of a monitor may acquire `lock`.
            withExtendedLifetime(living) {}
        }

        /// The events that may mean that the file was deleted or replaced. IN_ATTRIB also reports other changes, such
        /// as a changed mode.
        private static let replaced = UInt32(IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

        /// The kinds of events, by ascending priority. If several events of one file are read together, the event with
        /// the highest priority counts.
        private enum Event: Int { case changed, closed, replaced }

        private func handleEvents() {
            let (read, isLost) = readEvents()
            let (events, affected) = locked { members in
                // If events were lost, each of the files may have been replaced.
                let events = isLost ? members.mapValues { _ in Event.replaced } : read
                let affected = members.flatMap { number, members in
                    members.compactMap { member in
                        member.monitor.flatMap { monitor in events[number].map { (monitor, $0) } }
                    }
                }
                return (events, affected)
            }
            unwatch(events.filter { $0.value == .replaced }.map(\.key))
            for (monitor, event) in affected {
                if event == .replaced {
                    monitor.watchAgainSoon()
                } else {
                    monitor.checkForCommits(always: event == .closed)
                }
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
        func add(_ monitor: CommitMonitor, _ path: String) -> Bool { false }
        func removeStopped() {}
    #endif
}
