import GRDB
import Measure

private let batch = 10_000

func insertPeople(_ job: Job, _ reporter: Reporter, indexed: Bool) throws {
    let pool = try openPool(job.file)
    try createPersonTable(pool, indexed: indexed)
    var measured: UInt64 = 0
    let start = nanoseconds()
    var preparing: UInt64 = 0
    try pool.write { db in
        for first in stride(from: 0, to: job.count, by: batch) {
            var people: [Person] = []
            preparing += duration {
                people = (first..<min(first + batch, job.count)).map { Person(PersonValues(number: $0)) }
            }
            for person in people { try person.insert(db) }
        }
    }
    measured = nanoseconds() - start - preparing
    let check = try pool.read { try Int.fetchOne($0, sql: "SELECT sum(age) FROM person")! }
    try pool.close()
    reporter.report(
        indexed ? "insert-indexed" : "insert", n: job.count, nanoseconds: Double(measured) / Double(job.count),
        check: check)
}

func smallTransactions(_ job: Job, _ reporter: Reporter) throws {
    let transactions = 1000
    let pool = try openPool(job.file)
    try createPersonTable(pool, indexed: false)
    let time = try duration {
        for number in 0..<transactions {
            let person = Person(PersonValues(number: number))
            try pool.write { try person.insert($0) }
        }
    }
    let check = try pool.read { try Person.fetchCount($0) }
    reporter.report(
        "small-transactions", n: transactions, nanoseconds: Double(time) / Double(transactions), check: check)
}

func updateHeld(_ job: Job, _ reporter: Reporter) throws {
    let pool = try openWarmPool(job.file)
    let updates = job.count / 10
    var people = try pool.read { try Person.fetchAll($0, sql: "SELECT * FROM person WHERE id % 10 = 0 ORDER BY id") }
    let time = try duration {
        try pool.write { db in
            for index in people.indices {
                people[index].age = index % 100
                try people[index].update(db, columns: ["age"])
            }
        }
    }
    let check = try pool.read { try Int.fetchOne($0, sql: "SELECT sum(age) FROM person")! }
    reporter.report("update-held", n: updates, nanoseconds: Double(time) / Double(updates), check: check)
}
