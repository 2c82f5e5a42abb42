import Foundation
import MartletEngine

/// Runs real threads one at a time. When the current thread reaches a yield point, has to wait, or ends, the schedule
/// decides which thread continues.
///
/// Thread safety: only the current thread uses the state. Before the first thread begins and after the last thread has
/// ended, only the test uses the state. The condition `ending` guards `hasEnded`.
// Sendable for the reasons above.
final class CooperativeScheduler: @unchecked Sendable {
    private var threads: [ScheduledThread] = []
    /// The thread that runs; nil before the threads begin, and when all of them have ended or are deadlocked.
    private var current: ScheduledThread?
    private var schedule: Schedule
    private let recordsTrace: Bool
    /// Checkpoints of all files that wait to begin. They run one after another.
    private var pendingCheckpoints: [@Sendable () -> Void] = []
    private var isCheckpointing = false
    /// True once every thread has ended, is blocked, or waits until the other threads are idle.
    private(set) var isIdle = false
    /// True when the order of the remaining work does not matter. The scheduler then no longer uses the schedule.
    var isFinishing = false
    private(set) var decisions: [Decision] = []
    private(set) var trace: [String] = []
    private(set) var failure: String?
    private let ending = NSCondition()
    private var hasEnded = false

    /// The reason with which a thread waits until all other threads are idle.
    static let idle = "idleness"

    init(_ schedule: Schedule, recordsTrace: Bool = false) {
        self.schedule = schedule
        self.recordsTrace = recordsTrace
    }

    /// The driver through which the engine yields, waits and starts threads.
    var driver: ThreadDriver {
        ThreadDriver(
            yieldThread: { [self] in yieldThread(at: "\($0)") },
            wait: { [self] in wait("\($0)", until: $1) },
            start: { [self] in start($0, $1) })
    }

    /// Runs threads until all have ended, including the threads that they start.
    func run(_ bodies: [(name: String, body: @Sendable () -> Void)]) {
        for thread in bodies { spawn(thread.name, thread.body) }
        current = threads[0]
        threads[0].resume()
        let deadline = Date(timeIntervalSinceNow: 60)
        ending.lock()
        defer { ending.unlock() }
        while !hasEnded {
            guard ending.wait(until: deadline) else {
                // The threads may still be running, but the test no longer waits for them.
                return fail("'\(current?.name ?? "")' does not return from \(current?.place ?? "")")
            }
        }
    }

    func fail(_ failure: @autoclosure () -> String) {
        guard self.failure == nil else { return }
        let failure = "\(current.map { "\($0.name): " } ?? "")\(failure())"
        self.failure = failure
    }

    /// Adds a line to the trace, which ends at the first failure.
    func addToTrace(_ line: @autoclosure () -> String) {
        if recordsTrace, failure == nil { trace.append("\(current.map { "\($0.name): " } ?? "")\(line())") }
    }

    // MARK: Threads

    /// A yield point: another thread may run.
    func yieldThread(at place: @autoclosure () -> String) {
        if let me { switchThread(from: me, as: .ready, at: place()) }
    }

    /// Waits until `isOver` returns true.
    func wait(_ reason: String, until isOver: @escaping () -> Bool) {
        if let me { switchThread(from: me, as: .waiting(isOver), at: reason) }
    }

    // The scheduled thread that is calling. It is nil on a thread of another test, which can reach a yield point when
    // it releases the last reference to an object of this test.
    private var me: ScheduledThread? {
        guard let thread = Thread.current.threadDictionary[Self.key] as? ScheduledThread, thread === current else {
            return nil
        }
        return thread
    }

    private static let key = "martlet.scheduled-thread"

    /// Runs `body` on a new thread while the current thread waits, and returns when the new thread has been joined. A
    /// later thread may then get the same thread pointer, which is also the guard word (`Confinement.guardWord`) of
    /// objects that were confined to the ended thread.
    func continueOnNewThread(_ body: @escaping @Sendable () -> Void) {
        guard let scheduled = me else { return }
        let work = Unmanaged.passRetained(
            Work {
                Thread.current.threadDictionary[Self.key] = scheduled
                body()
                Thread.current.threadDictionary[Self.key] = nil
            })
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        guard status == 0 else { return fail("no thread could be created") }
        pthread_join(thread, nil)
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private func start(_ work: BackgroundWork, _ body: @escaping @Sendable () -> Void) {
        guard me != nil else { return }
        guard work == .checkpoint else { return spawn("\(work)", body) }
        pendingCheckpoints.append(body)
        guard !isCheckpointing else { return }
        isCheckpointing = true
        spawn("\(work)") { [self] in runCheckpoints() }
    }

    private func runCheckpoints() {
        while !pendingCheckpoints.isEmpty { pendingCheckpoints.removeFirst()() }
        isCheckpointing = false
    }

    private func spawn(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = ScheduledThread(number: threads.count, name: "\(name) \(threads.count)", body)
        threads.append(thread)
        Thread.detachNewThread { [self] in
            Thread.current.threadDictionary[Self.key] = thread
            thread.waitUntilResumed()
            thread.perform()
            switchThread(from: thread, as: .ended, at: "its end")
        }
    }

    // MARK: Switching

    private func switchThread(from me: ScheduledThread, as state: ScheduledThread.State, at place: String) {
        me.state = state
        me.place = place
        guard let next = choose(after: me) else {
            stop()
            if !me.hasEnded { me.waitUntilResumed() }
            return
        }
        if next !== me { addToTrace("\(place) → \(next.name)") }
        next.state = .ready
        current = next
        guard next !== me else { return }
        next.resume()
        if !me.hasEnded { me.waitUntilResumed() }
    }

    private func choose(after me: ScheduledThread) -> ScheduledThread? {
        var runnable = threads.filter(\.isRunnable)
        if runnable.isEmpty, threads.contains(where: { !$0.hasEnded && $0.place == Self.idle }) {
            isIdle = true
            runnable = threads.filter(\.isRunnable)
        }
        guard let first = runnable.first else { return nil }
        guard runnable.count > 1 else { return first }
        let canContinue = runnable.contains { $0 === me }
        let defaultChoice = canContinue ? me : runnable.first { $0.number > me.number } ?? first
        if isFinishing { return defaultChoice }
        let numbers = runnable.map(\.number)
        let chosen = schedule.choose(decisions.count, numbers, defaultChoice: defaultChoice.number)
        decisions.append(
            Decision(
                runnable: numbers, defaultChoice: defaultChoice.number, chosen: chosen, isForcedSwitch: !canContinue))
        return threads[chosen]
    }

    // Ends the run: no thread can continue, because all have ended or because of a deadlock.
    private func stop() {
        let stuck = threads.filter { !$0.hasEnded }
        if !stuck.isEmpty {
            current = nil
            fail("deadlock: " + stuck.map { "'\($0.name)' waits for \($0.place)" }.joined(separator: ", "))
        }
        current = nil
        ending.lock()
        hasEnded = true
        ending.signal()
        ending.unlock()
    }
}

/// One thread of a `CooperativeScheduler`.
// Sendable: `isResumed` is used under the condition, everything else by the current thread.
final class ScheduledThread: @unchecked Sendable {
    enum State {
        case ready
        case waiting(() -> Bool)
        case ended
    }

    let number: Int
    let name: String
    var state = State.ready
    /// The place at which the thread last gave up control, for messages.
    var place = "its beginning"
    private let condition = NSCondition()
    private var isResumed = false
    private var body: (@Sendable () -> Void)?

    init(number: Int, name: String, _ body: @escaping @Sendable () -> Void) {
        self.number = number
        self.name = name
        self.body = body
    }

    var isRunnable: Bool {
        switch state {
        case .ready: true
        case .waiting(let isOver): isOver()
        case .ended: false
        }
    }

    var hasEnded: Bool {
        if case .ended = state { true } else { false }
    }

    func resume() {
        condition.lock()
        isResumed = true
        condition.signal()
        condition.unlock()
    }

    func waitUntilResumed() {
        condition.lock()
        while !isResumed { condition.wait() }
        isResumed = false
        condition.unlock()
    }

    // Runs the body, and releases the objects that it retains before another thread runs.
    func perform() {
        let body = body
        self.body = nil
        body?()
    }
}
