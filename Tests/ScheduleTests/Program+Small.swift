extension Program {
    /// Programs that are small enough to run on all schedules with few preemptions.
    static let small: [(name: String, program: Program)] = [
        ("two writers", Program([.write(1)], [.write(2)])),
        ("a write while another Realm is opened", Program([.write(1)], [.runScheduler])),
        ("a write while an observer is registered", Program([.write(1)], [.watch, .runScheduler])),
        ("a write while an observer ends", Program([.write(1)], [.watch, .refresh, .endWatch])),
        ("a write while the last Realm is closed", Program([.write(1)], [.refresh, .close, .refresh])),
        (
            "a checkpoint while another Realm freezes and writes",
            Program([.write(1), .checkpoint], [.freeze, .write(2)])
        ),
        ("an asynchronous write beside another write", Program([.writeAsync(1), .runScheduler], [.write(2)])),
        (
            "an asynchronous write that waits for a synchronous one",
            Program([.writeAsync(1), .runScheduler, .write(3)], [.write(2)])
        ),
        (
            "an asynchronous write that is cancelled in a group",
            Program([.writeAsync(1), .cancelAsync(2), .failAsync(3), .writeAsync(4), .runScheduler], [.write(5)])
        ),
        ("a Realm that outlives its thread", Program([.refresh, .switchThread, .refresh], [.write(2)])),
        (
            "a frozen version while the log is full",
            Program([.freeze, .write(1), .dropFrozen, .write(3)], [.write(2)], logLimit: 2)
        ),
        ("two processes", Program([.write(1)], [.watch, .runScheduler, .pollForCommits], others: [1])),
        ("a process opens the file while another one writes", Program([.runScheduler], [.write(2)], others: [1])),
        (
            "two threads open the file while another process writes",
            Program([.runScheduler], [.runScheduler], [.write(1)], others: [2])
        ),
        ("two threads create the file", Program([.write(1)], [.write(2)], fileExists: false)),
    ]

    /// Programs with so few schedules that even a default test run tries the schedules with up to two preemptions. It
    /// tries the other programs with up to one preemption.
    static let withTwoPreemptions: Set = ["a process opens the file while another one writes"]

    init(_ parts: [Step]..., others: Set<Int> = [], fileExists: Bool = true, logLimit: Int? = nil) {
        self.parts = parts.enumerated().map { Part(process: others.contains($0) ? $0 : 0, steps: $1) }
        self.fileExists = fileExists
        self.logLimit = logLimit
        failsWhenLogIsFull = logLimit != nil
    }
}
