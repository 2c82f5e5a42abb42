import Dispatch
import GRDB
import Measure
import Synchronization

/// A row of the observed query. It contains the two columns that the observer compares: the key, and the column that
/// modifications change.
private struct Element: FetchableRecord, Hashable, Sendable {
    let id: Int
    let score: Double

    init(row: Row) {
        id = row[0]
        score = row[1]
    }
}

/// Measures one change among the people younger than `limit`, sorted by name. The measurement starts with the
/// transaction. It ends when the observer has received the new rows and has computed how they differ from the previous
/// rows.
func observe(_ job: Job, _ reporter: Reporter, ageBelow limit: Int) throws {
    let pool = try openWarmPool(job.file)
    let queue = DispatchQueue(label: "observer"), called = DispatchSemaphore(value: 0)
    let current = Mutex<[Element]>([])
    let observation = ValueObservation.tracking {
        try Element.fetchAll(
            $0, sql: "SELECT id, score FROM person WHERE age < ? ORDER BY name, id", arguments: [limit])
    }
    let token = observation.start(in: pool, scheduling: .async(onQueue: queue), onError: { fatalError("\($0)") }) {
        new in
        current.withLock { old in
            if !old.isEmpty { _ = new.difference(from: old).count }
            old = new
        }
        called.signal()
    }
    called.wait()
    for (position, operation) in ["modify", "insert", "delete"].enumerated() {
        var durations: [UInt64] = []
        for round in 0..<5 {
            while called.wait(timeout: .now() + .milliseconds(20)) == .success {}
            let number = position * 1000 + round
            let person = Person(
                operation == "insert"
                    ? newPerson(number, storedCount: job.count)
                    : observedPerson(number, of: job.count, ageBelow: limit))
            durations.append(
                try duration {
                    try pool.write { try change(person, by: operation, in: $0) }
                    called.wait()
                })
        }
        let n = current.withLock { $0.count }
        reporter.report("observe-\(limit)-\(operation)", n: n, nanoseconds: median(durations), check: n)
    }
    if limit == 100 {
        var durations: [UInt64] = []
        for round in 0..<5 {
            while called.wait(timeout: .now() + .milliseconds(20)) == .success {}
            durations.append(
                try duration {
                    try pool.write { db in
                        let update = try db.cachedStatement(sql: "UPDATE person SET score = ?2 WHERE id = ?1")
                        for id in thousandPeople(round: round, of: job.count) {
                            try update.execute(arguments: [id, Double(round) + 0.25])
                        }
                    }
                    called.wait()
                })
        }
        let n = current.withLock { $0.count }
        reporter.report("observe-thousand", n: n, nanoseconds: median(durations), check: n)
    }
    token.cancel()
}

private func change(_ person: Person, by operation: String, in db: Database) throws {
    switch operation {
    case "insert": try person.insert(db)
    case "delete": try person.delete(db)
    default:
        try db.cachedStatement(sql: "UPDATE person SET score = ?2 WHERE id = ?1")
            .execute(arguments: [person.id, person.score + 0.5])
    }
}

func hundredObservers(_ job: Job, _ reporter: Reporter) throws {
    try observeAges(job, reporter, observers: 1)
    try observeAges(job, reporter, observers: 100)
}

private func observeAges(_ job: Job, _ reporter: Reporter, observers: Int) throws {
    let pool = try openWarmPool(job.file)
    let queue = DispatchQueue(label: "observer"), called = DispatchSemaphore(value: 0)
    let tokens = (0..<observers).map { number in
        let age = (number + 7) % 100
        return ValueObservation.tracking {
            try Int.fetchAll($0, sql: "SELECT id FROM person WHERE age = ? AND isActive = 1", arguments: [age])
        }
        .start(in: pool, scheduling: .async(onQueue: queue), onError: { fatalError("\($0)") }) { _ in called.signal() }
    }
    for _ in 0..<observers { called.wait() }
    var durations: [UInt64] = []
    for round in 0..<3 {
        durations.append(
            try duration {
                try pool.write {
                    try $0.execute(
                        sql: "UPDATE person SET age = 7 WHERE id = ?",
                        arguments: [job.count / 200 + round + observers * 10])
                }
                // GRDB tracks the tables and columns of these queries, but not their conditions. Therefore it runs
                // all observed queries again, and calls all observers.
                for _ in 0..<observers { called.wait() }
            })
    }
    reporter.report("observers-\(observers)", n: observers, nanoseconds: median(durations), check: observers)
    withExtendedLifetime(tokens) {}
}

/// Measures a change of one object while one object, or 10,000 objects, are observed individually.
func objectObservers(_ job: Job, _ reporter: Reporter) throws {
    let pool = try openWarmPool(job.file)
    for observed in [1, 10_000] {
        let queue = DispatchQueue(label: "observer"), called = DispatchSemaphore(value: 0)
        let tokens = (0..<observed).map { id in
            ValueObservation.tracking { try Person.fetchOne($0, key: id) }
                .start(in: pool, scheduling: .async(onQueue: queue), onError: { fatalError("\($0)") }) { _ in
                    called.signal()
                }
        }
        for _ in 0..<observed { called.wait() }
        var durations: [UInt64] = []
        for round in 0..<5 {
            durations.append(
                try duration {
                    try pool.write {
                        try $0.execute(
                            sql: "UPDATE person SET score = ? WHERE id = ?",
                            arguments: [-1 - Double(round), observed / 2])
                    }
                    called.wait()
                })
        }
        reporter.report("object-observers-\(observed)", n: observed, nanoseconds: median(durations), check: 5)
        withExtendedLifetime(tokens) {}
    }
}

/// Measures the time from a commit to the call of an observer on another queue. There is no measurement between two
/// processes, because GRDB does not observe the commits of other processes.
func latency(_ job: Job, _ reporter: Reporter) throws {
    let rounds = 500
    let pool = try openPool(job.file)
    let called = DispatchSemaphore(value: 0)
    let received = Mutex<(age: Int?, time: UInt64)>((nil, 0))
    let observation = ValueObservation.tracking { db in
        try Int.fetchOne(db, sql: "SELECT age FROM person WHERE id = 0")
    }
    let cancellable = observation.start(
        in: pool, scheduling: .async(onQueue: DispatchQueue(label: "observer")), onError: { fatalError("\($0)") }
    ) { age in
        received.withLock { $0 = (age, nanoseconds()) }
        called.signal()
    }
    called.wait()
    let durations = try (0..<rounds).map { round -> UInt64 in
        var start: UInt64 = 0
        try pool.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.execute(sql: "UPDATE person SET age = ? WHERE id = 0", arguments: [1000 + round])
                start = nanoseconds()
                return .commit
            }
        }
        // The observer may first receive a value that was fetched before this change. The loop skips such values.
        repeat { called.wait() } while received.withLock { $0.age } != 1000 + round
        return received.withLock { $0.time } - start
    }.sorted()
    cancellable.cancel()
    reporter.report("latency-thread", n: rounds, nanoseconds: median(durations), check: rounds)
    reporter.report(
        "latency-thread-99", n: rounds, nanoseconds: Double(durations[rounds * 99 / 100]), check: rounds)
}
