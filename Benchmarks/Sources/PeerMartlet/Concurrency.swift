import Dispatch
import Foundation
import Martlet
import Measure
import Synchronization

private let rounds = 500

// MARK: Latency from a commit to the call of an observer

func latency(_ job: Job, _ reporter: Reporter) throws {
    try measureProcessLatency(job, reporter)
    try measureThreadLatency(job, reporter)
}

private func report(_ name: String, _ durations: [UInt64], _ reporter: Reporter) {
    let sorted = durations.sorted()
    reporter.report("latency-\(name)", n: rounds, nanoseconds: median(sorted), check: rounds)
    reporter.report("latency-\(name)-99", n: rounds, nanoseconds: Double(sorted[rounds * 99 / 100]), check: rounds)
}

/// Commits a new age and returns the time before the commit.
private func commitAge(_ person: Person, _ age: Int, _ realm: Realm) throws -> UInt64 {
    try realm.beginWrite()
    person.age = age
    let start = nanoseconds()
    try realm.commitWrite()
    return start
}

private func measureThreadLatency(_ job: Job, _ reporter: Reporter) throws {
    let realm = try openRealm(job)
    let person = realm.object(ofType: Person.self, forPrimaryKey: 0)!
    let queue = DispatchQueue(label: "observer"), called = DispatchSemaphore(value: 0)
    let time = Mutex<UInt64>(0)
    let token = person.observe(on: queue) { (_: ObjectChange<Person>) in
        time.withLock { $0 = nanoseconds() }
        called.signal()
    }
    queue.sync {}
    let durations = try (0..<rounds).map { round in
        let start = try commitAge(person, 1000 + round, realm)
        called.wait()
        return time.withLock { $0 } - start
    }
    token.invalidate()
    report("thread", durations, reporter)
}

private func measureProcessLatency(_ job: Job, _ reporter: Reporter) throws {
    let child = Process(), output = Pipe(), input = Pipe()
    child.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    child.arguments = ["latency-child", job.file, String(job.count)]
    child.standardOutput = output
    child.standardInput = input
    try child.run()
    defer { child.waitUntilExit() }
    // The child process sends 0 when its observation has begun, and then the time of each call of its observer.
    func receiveTime() throws -> UInt64 {
        guard let bytes = try output.fileHandleForReading.read(upToCount: 8), bytes.count == 8 else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }
    _ = try receiveTime()
    let realm = try openRealm(job)
    let person = realm.object(ofType: Person.self, forPrimaryKey: 0)!
    let durations = try (0..<rounds).map { round in
        let start = try commitAge(person, 100 + round, realm)
        return try receiveTime() - start
    }
    try input.fileHandleForWriting.close()
    report("process", durations, reporter)
}

/// Runs in the child process of `measureProcessLatency`. Writes the time of each notification to standard output until
/// standard input ends.
func latencyChild(_ job: Job) throws {
    @Sendable func send(_ time: UInt64) {
        withUnsafeBytes(of: time) { FileHandle.standardOutput.write(Data($0)) }
    }
    let realm = try openRealm(job)
    let queue = DispatchQueue(label: "observer")
    let token = realm.object(ofType: Person.self, forPrimaryKey: 0)!
        .observe(on: queue) { (_: ObjectChange<Person>) in send(nanoseconds()) }
    queue.sync {}
    send(0)
    _ = try FileHandle.standardInput.readToEnd()
    token.invalidate()
}

// MARK: One writer and four readers, for two seconds

func readersAndWriter(_ job: Job, _ reporter: Reporter) throws {
    let readers = 4, lookups = 100
    let isFinished = Atomic(false), reads = Atomic(0)
    let ended = DispatchGroup()
    for number in 0..<readers {
        ended.enter()
        Thread.detachNewThread {
            var sequence = RandomSequence(seed: UInt64(number) + 1)
            let realm = try! openRealm(job)
            while !isFinished.load(ordering: .relaxed) {
                realm.refresh()
                for _ in 0..<lookups {
                    let person = realm.object(ofType: Person.self, forPrimaryKey: sequence.next(below: job.count))
                    if person!.age < 0 { exit(1) }
                }
                reads.add(lookups, ordering: .relaxed)
            }
            ended.leave()
        }
    }
    let realm = try openRealm(job)
    let person = realm.object(ofType: Person.self, forPrimaryKey: 0)!
    let start = nanoseconds()
    var end = start, writes = 0
    while end < start + 2_000_000_000 {
        _ = try commitAge(person, writes, realm)
        writes += 1
        end = nanoseconds()
    }
    isFinished.store(true, ordering: .relaxed)
    ended.wait()
    reporter.report("beside-readers", n: 1, nanoseconds: Double(end - start) / Double(writes), check: 1)
    let all = reads.load(ordering: .relaxed)
    reporter.report("beside-writer", n: readers, nanoseconds: Double(end - start) / Double(all), check: readers)
}

// MARK: Transactions that are committed to disk in groups

private actor Writer {
    private let job: Job
    private var realm: Realm?

    init(_ job: Job) { self.job = job }

    func open() async throws { realm = try await Realm(configuration: configuration(job, [Person.self]), actor: self) }

    func add(_ number: Int) async throws {
        guard let realm else { return }
        try await realm.asyncWrite { realm.add(Person(PersonValues(number: number))) }
    }

    var count: Int { realm?.objects(Person.self).count ?? 0 }
}

func groupedTransactions(_ job: Job, _ reporter: Reporter) throws {
    let transactions = 1000
    let ended = DispatchSemaphore(value: 0)
    Task.detached {
        let writer = Writer(job)
        try await writer.open()
        let start = nanoseconds()
        try await withThrowingTaskGroup { group in
            for number in 0..<transactions { group.addTask { try await writer.add(number) } }
            try await group.waitForAll()
        }
        let each = Double(nanoseconds() - start) / Double(transactions)
        reporter.report("grouped-transactions", n: transactions, nanoseconds: each, check: await writer.count)
        ended.signal()
    }
    ended.wait()
}
