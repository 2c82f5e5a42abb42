import Dispatch
import Foundation

/// The timer of all monitors with the same interval: many open files wake the processor as often as one. It runs while
/// there are monitors, and until the next tick without one, so that opening and closing in turn costs no timer.
///
/// Ledger: `monitors` and `isRunning` under `lock`.
// Sendable by the ledger above.
final class ExternalCommitClock: @unchecked Sendable {
    private struct Member {
        weak var monitor: ExternalCommitMonitor?
    }

    static let queue = DispatchQueue(label: "martlet.external-commits", qos: .utility)
    private static let registry = NSLock()
    // Guarded by `registry`.
    nonisolated(unsafe) private static var clocks: [Int: ExternalCommitClock] = [:]

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

    static func every(milliseconds interval: Int) -> ExternalCommitClock {
        registry.lock()
        defer { registry.unlock() }
        if let clock = clocks[interval] { return clock }
        let clock = ExternalCommitClock(interval)
        clocks[interval] = clock
        return clock
    }

    func add(_ monitor: ExternalCommitMonitor) {
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
        for monitor in current() { monitor.look() }
    }

    private func current() -> [ExternalCommitMonitor] {
        lock.lock()
        defer { lock.unlock() }
        monitors.removeAll { $0.monitor?.isOver ?? true }
        if monitors.isEmpty {
            isRunning = false
            timer.suspend()
        }
        return monitors.compactMap(\.monitor)
    }
}
