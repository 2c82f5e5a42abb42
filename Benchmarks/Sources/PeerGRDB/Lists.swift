import GRDB
import Measure

/// A list as applications typically store it with GRDB: one row for each element, ordered by a position. The positions
/// have gaps for later insertions. This structure keeps copies of all positions and targets in memory.
private struct FlatList {
    var positions: [Int] = []
    var targets: [Int] = []

    mutating func insert(_ target: Int, at index: Int, position: Int, with statement: Statement) throws {
        try statement.setArguments([position, target])
        try statement.execute()
        positions.insert(position, at: index)
        targets.insert(target, at: index)
    }
}

func lists(_ job: Job, _ reporter: Reporter) throws {
    let appends = job.count / 10, inserts = appends / 10, reads = 100_000
    let pool = try openWarmPool(job.file)
    try pool.write { db in
        try db.execute(
            sql: """
                CREATE TABLE item(owner INTEGER NOT NULL, position INTEGER NOT NULL, target INTEGER NOT NULL,
                    PRIMARY KEY(owner, position)) WITHOUT ROWID;
                CREATE INDEX item_target ON item(target)
                """)
    }
    let sql = "INSERT INTO item(owner, position, target) VALUES(1, ?, ?)"
    var list = FlatList()
    var sequence = RandomSequence(seed: 5)
    let appending = try duration {
        try pool.write { db in
            let insert = try db.cachedStatement(sql: sql)
            for index in 0..<appends {
                try list.insert(sequence.next(below: job.count), at: index, position: (index + 1) << 32, with: insert)
            }
        }
    }
    let inserting = try duration {
        try pool.write { db in
            let insert = try db.cachedStatement(sql: sql)
            for _ in 0..<inserts {
                let index = sequence.next(below: list.positions.count)
                let before = index > 0 ? list.positions[index - 1] : 0
                let position = before + (list.positions[index] - before) / 2
                try list.insert(sequence.next(below: job.count), at: index, position: position, with: insert)
            }
        }
    }
    var check = 0
    let reading = try pool.read { db in
        let select = try db.cachedStatement(sql: "SELECT age FROM person WHERE id = ?")
        return try duration {
            for _ in 0..<reads {
                let target = list.targets[sequence.next(below: list.targets.count)]
                check += try Int.fetchOne(select, arguments: [target])!
            }
        }
    }
    let append = Double(appending) / Double(appends), insert = Double(inserting) / Double(inserts)
    // The benchmark in C (`Sources/yardstick/lists.c`) measures two lists: one in chunks, and one with a row for each
    // element (suffix `-flat`). The results of this list are reported under the names of both lists, so that the table
    // of results compares this list with each of them.
    for suffix in ["", "-flat"] {
        reporter.report("list-append" + suffix, n: appends, nanoseconds: append, check: appends)
        reporter.report("list-insert-middle" + suffix, n: inserts, nanoseconds: insert, check: appends + inserts)
    }
    reporter.report("list-read-random", n: reads, nanoseconds: Double(reading) / Double(reads), check: check)
}
