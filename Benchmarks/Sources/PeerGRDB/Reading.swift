import GRDB
import Measure

func lookUp(_ job: Job, _ reporter: Reporter) throws {
    let lookups = 100_000
    let pool = try openWarmPool(job.file)
    var sequence = RandomSequence(seed: 7)
    var check = 0
    let time = try pool.read { db in
        try duration {
            for _ in 0..<lookups {
                let person = try Person.fetchOne(db, key: sequence.next(below: job.count))!
                check += person.name.firstByte + person.age + person.email.firstByte
            }
        }
    }
    reporter.report("lookup", n: lookups, nanoseconds: Double(time) / Double(lookups), check: check)
}

/// GRDB's records are structures in memory. This workload reads their fields. Unlike Martlet's objects, the structures
/// do not change when the database changes.
func readHeld(_ job: Job, _ reporter: Reporter) throws {
    let held = 10_000, rounds = 100
    let pool = try openWarmPool(job.file)
    let people = try pool.read {
        try Person.fetchAll($0, sql: "SELECT * FROM person WHERE id % ? = 0 ORDER BY id", arguments: [job.count / held])
    }
    var check = 0
    let time = duration {
        for _ in 0..<rounds {
            for person in people { check &+= person.age }
        }
    }
    reporter.report(
        "read-held", n: held, nanoseconds: Double(time) / Double(held * rounds), check: check / rounds)
}

func iterate(_ job: Job, _ reporter: Reporter) throws {
    let pool = try openWarmPool(job.file)
    var durations: [UInt64] = []
    var check = 0
    try pool.read { db in
        for _ in 0..<3 {
            check = 0
            durations.append(
                try duration {
                    let people = try Person.fetchCursor(db, sql: "SELECT * FROM person")
                    while let person = try people.next() { check += person.age + person.name.firstByte }
                })
        }
    }
    reporter.report("iterate", n: job.count, nanoseconds: median(durations) / Double(job.count), check: check)
}

func countFiltered(_ job: Job, _ reporter: Reporter, workload: String) throws {
    let pool = try openWarmPool(job.file)
    let request = Person.filter((40...41).contains(Column("age")) && Column("isActive") == true)
    var durations: [UInt64] = []
    var check = 0
    try pool.read { db in
        for _ in 0..<7 {
            durations.append(try duration { check = try request.fetchCount(db) })
        }
    }
    reporter.report(workload, n: job.count, nanoseconds: median(durations), check: check)
}

func sortFirst(_ job: Job, _ reporter: Reporter) throws {
    let pool = try openWarmPool(job.file)
    let request = Person.order(Column("age"), Column("name")).limit(100)
    var durations: [UInt64] = []
    var check = 0
    try pool.read { db in
        for _ in 0..<5 {
            durations.append(
                try duration {
                    check = try request.fetchAll(db).reduce(0) { $0 + $1.id }
                })
        }
    }
    reporter.report("sort-first-100", n: job.count, nanoseconds: median(durations), check: check)
}

func openAndRead(_ job: Job, _ reporter: Reporter) throws {
    var durations: [UInt64] = []
    var check = 0
    for _ in 0..<15 {
        let start = nanoseconds()
        let pool = try openPool(job.file)
        check = try pool.read {
            try Int.fetchOne($0, sql: "SELECT age FROM person WHERE id = ?", arguments: [job.count / 2])!
        }
        durations.append(nanoseconds() - start)
        try pool.close()
    }
    reporter.report("open-first", n: job.count, nanoseconds: Double(durations[0]), check: check)
    reporter.report("open", n: job.count, nanoseconds: median(durations), check: check)
}
