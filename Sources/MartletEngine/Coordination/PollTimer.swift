import Dispatch
import Foundation

/// A timer that all monitors with the same interval share, so that many open files wake the processor no more often
/// than one file. When the last monitor is stopped, the timer continues until its next tick. So if a file is opened and
/// closed repeatedly, the timer is not restarted each time.
///
/// Thread safety: `lock` guards `monitors` and `isRunning`.
// Sendable as described above.
final class PollTimer: @unchecked Sendable {
    private struct Member {
        weak var monitor: CommitMonitor?
    }

    static let queue = DispatchQueue(label: "martlet.external-commits", qos: .utility)
    private static let registry = NSLock()
    // Guarded by `registry`.
    nonisolated(unsafe) private static var pollTimers: [Int: PollTimer] = [:]

    private let interval: Int
    private let timer: any DispatchSourceTimer
    private let lock = NSLock()
    private var monitors: [Member] = []
    private var isRunning = false

    private init(_ interval: Int) {
        self.interval = interval
        timer = DispatchSource.makeTimerSource(queue: Self.queue)
        timer.setEventHandler { [weak self] in self?.tick() }
    }

    static func every(milliseconds interval: Int) -> PollTimer {
        registry.lock()
        defer { registry.unlock() }
        if let pollTimer = pollTimers[interval] { return pollTimer }
        let pollTimer = PollTimer(interval)
        pollTimers[interval] = pollTimer
        return pollTimer
    }

    func add(_ monitor: CommitMonitor) {
        lock.lock()
        defer { lock.unlock() }
        monitors.append(Member(monitor: monitor))
        guard !isRunning else { return }
        isRunning = true
        timer.schedule(
            deadline: .now() + .milliseconds(interval), repeating: .milliseconds(interval),
            leeway: .milliseconds(interval / 4))
        timer.resume()
    }

    private func tick() {
        for monitor in current() { monitor.poll() }
    }

    private func current() -> [CommitMonitor] {
        lock.lock()
        defer { lock.unlock() }
        monitors.removeAll { $0.monitor?.isStopped ?? true }
        if monitors.isEmpty {
            isRunning = false
            timer.suspend()
        }
        return monitors.compactMap(\.monitor)
    }
}
