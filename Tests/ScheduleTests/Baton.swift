import Foundation
import MartletEngine

/// Real threads of which one at a time runs: the one that holds the baton. At every yield point, where it would have to
/// wait, and where it ends, the course decides who gets it next.
///
/// Ledger: all is used by the holder of the baton, and by the test before the first and after the last; `hasEnded` under
/// `ending`.
// Sendable by the ledger above.
final class Baton: @unchecked Sendable {
    private var runners: [Runner] = []
    /// Nil before the threads begin, and when all of them have ended or are stuck.
    private var holder: Runner?
    private var course: Course
    private let tellsStory: Bool
    /// Checkpoints that wait for those before them, of whatever file.
    private var checkpoints: [@Sendable () -> Void] = []
    private var isCheckpointing = false
    /// True once nothing happened any more but for threads that wait for just that.
    private(set) var isQuiet = false
    /// What is left to do is the same in every order.
    var isEnding = false
    private(set) var decisions: [Decision] = []
    private(set) var story: [String] = []
    private(set) var failure: String?
    private let ending = NSCondition()
    private var hasEnded = false

    /// What threads that wait for everything else to come to rest give as their reason.
    static let rest = "rest"

    init(_ course: Course, tellsStory: Bool = false) {
        self.course = course
        self.tellsStory = tellsStory
    }

    /// What takes the place of the system's scheduler in the engine.
    var driver: ThreadDriver {
        ThreadDriver(
            pass: { [self] in pass("\($0)") }, wait: { [self] in wait("\($0)", until: $1) },
            start: { [self] in start($0, $1) })
    }

    /// Runs threads until all have ended, those that they have started included.
    func run(_ threads: [(name: String, body: @Sendable () -> Void)]) {
        for thread in threads { spawn(thread.name, thread.body) }
        holder = runners[0]
        runners[0].handOver()
        let deadline = Date(timeIntervalSinceNow: 60)
        ending.lock()
        defer { ending.unlock() }
        while !hasEnded {
            guard ending.wait(until: deadline) else {
                // The threads go on or not: nobody else looks at them any more.
                return fail("'\(holder?.name ?? "")' waits for a lock of a moment, at \(holder?.place ?? "")")
            }
        }
    }

    func fail(_ failure: @autoclosure () -> String) {
        guard self.failure == nil else { return }
        let failure = "\(holder.map { "\($0.name): " } ?? "")\(failure())"
        self.failure = failure
    }

    /// Adds a line to the story, which ends with the first failure.
    func note(_ line: @autoclosure () -> String) {
        if tellsStory, failure == nil { story.append("\(holder.map { "\($0.name): " } ?? "")\(line())") }
    }

    // MARK: Threads

    /// Lets another thread get in between.
    func pass(_ place: @autoclosure () -> String) {
        if let me { handOn(from: me, as: .ready, at: place()) }
    }

    /// Comes back when `isOver` is true.
    func wait(_ reason: String, until isOver: @escaping () -> Bool) {
        if let me { handOn(from: me, as: .waiting(isOver), at: reason) }
    }

    // Threads of other tests may let go last of what is used here, and do not take part.
    private var me: Runner? {
        guard let runner = Thread.current.threadDictionary[Self.key] as? Runner, runner === holder else { return nil }
        return runner
    }

    private static let key = "martlet.runner"

    /// Runs the rest of the thread that holds the baton in a new one, and comes back when that has ended for good: then
    /// another one may lie where it was.
    func goOnElsewhere(_ body: @escaping @Sendable () -> Void) {
        guard let runner = me else { return }
        let work = Unmanaged.passRetained(
            Work {
                Thread.current.threadDictionary[Self.key] = runner
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
        guard status == 0 else { return fail("no thread could be made") }
        pthread_join(thread, nil)
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private func start(_ work: BackgroundWork, _ body: @escaping @Sendable () -> Void) {
        guard me != nil else { return }
        guard work == .checkpoint else { return spawn("\(work)", body) }
        checkpoints.append(body)
        guard !isCheckpointing else { return }
        isCheckpointing = true
        spawn("\(work)") { [self] in runCheckpoints() }
    }

    private func runCheckpoints() {
        while !checkpoints.isEmpty { checkpoints.removeFirst()() }
        isCheckpointing = false
    }

    private func spawn(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let runner = Runner(number: runners.count, name: "\(name) \(runners.count)", body)
        runners.append(runner)
        Thread.detachNewThread { [self] in
            Thread.current.threadDictionary[Self.key] = runner
            runner.waitForBaton()
            runner.perform()
            handOn(from: runner, as: .ended, at: "its end")
        }
    }

    // MARK: The baton

    private func handOn(from me: Runner, as standing: Runner.Standing, at place: String) {
        me.standing = standing
        me.place = place
        guard let next = choose(after: me) else {
            stop()
            if !me.hasEnded { me.waitForBaton() }
            return
        }
        if next !== me { note("\(place) → \(next.name)") }
        next.standing = .ready
        holder = next
        guard next !== me else { return }
        next.handOver()
        if !me.hasEnded { me.waitForBaton() }
    }

    private func choose(after me: Runner) -> Runner? {
        var able = runners.filter(\.isAble)
        if able.isEmpty, runners.contains(where: { !$0.hasEnded && $0.place == Self.rest }) {
            isQuiet = true
            able = runners.filter(\.isAble)
        }
        guard let first = able.first else { return nil }
        guard able.count > 1 else { return first }
        let goesOn = able.contains { $0 === me }
        let usual = goesOn ? me : able.first { $0.number > me.number } ?? first
        if isEnding { return usual }
        let numbers = able.map(\.number)
        let chosen = course.choose(decisions.count, numbers, usual: usual.number)
        decisions.append(Decision(able: numbers, usual: usual.number, chosen: chosen, isFree: !goesOn))
        return runners[chosen]
    }

    // Nobody can go on.
    private func stop() {
        let stuck = runners.filter { !$0.hasEnded }
        if !stuck.isEmpty {
            holder = nil
            fail("nobody can go on: " + stuck.map { "'\($0.name)' waits for \($0.place)" }.joined(separator: ", "))
        }
        holder = nil
        ending.lock()
        hasEnded = true
        ending.signal()
        ending.unlock()
    }
}

/// One thread.
// Sendable: `hasBaton` is used under the condition, all else by the holder of the baton.
final class Runner: @unchecked Sendable {
    enum Standing {
        case ready
        case waiting(() -> Bool)
        case ended
    }

    let number: Int
    let name: String
    var standing = Standing.ready
    /// Where it handed the baton on.
    var place = "its beginning"
    private let condition = NSCondition()
    private var hasBaton = false
    private var body: (@Sendable () -> Void)?

    init(number: Int, name: String, _ body: @escaping @Sendable () -> Void) {
        self.number = number
        self.name = name
        self.body = body
    }

    var isAble: Bool {
        switch standing {
        case .ready: true
        case .waiting(let isOver): isOver()
        case .ended: false
        }
    }

    var hasEnded: Bool {
        if case .ended = standing { true } else { false }
    }

    func handOver() {
        condition.lock()
        hasBaton = true
        condition.signal()
        condition.unlock()
    }

    func waitForBaton() {
        condition.lock()
        while !hasBaton { condition.wait() }
        hasBaton = false
        condition.unlock()
    }

    // What the body holds is let go of before the baton goes on.
    func perform() {
        let body = body
        self.body = nil
        body?()
    }
}
