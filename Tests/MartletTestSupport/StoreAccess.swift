import CMartletSQLite
package import MartletEngine
import MartletSQLite
import MartletValues

/// The SQL of a statement that was not reset, on the connection of a snapshot; nil if all statements were reset.
package func unfinishedStatement(_ handle: SnapshotHandle) -> String? { handle.read { $0.unfinishedStatement } }

/// Whether the open write has changed anything.
package func hasChanges(_ transaction: WriteTransaction?) -> Bool { transaction?.recorder.hasChanges ?? false }

/// Allows the file to grow by at most `pages` pages in the open write. Beyond this limit SQLite reports a full disk.
package func limitGrowth(_ handle: SnapshotHandle, pages: Int64) throws {
    try handle.read { connection in
        let size = try connection.integer("PRAGMA page_count") ?? 0
        _ = try connection.integer("PRAGMA max_page_count = \(size + pages)")
    }
}

/// Changes a file without the runtime, as a newer version of Martlet or a hardware fault might.
package func alter(_ path: String, _ sql: String) throws {
    var options = ConnectionOptions(path: path)
    options.createsFile = false
    let connection = try Connection(options)
    try connection.execute(sql)
    connection.close()
}

/// Runs a statement in the open write, without recording a change.
package func run(_ sql: String, _ handle: SnapshotHandle) throws { try handle.read { try $0.execute(sql) } }

/// The integer that a query returns in the version of a handle.
package func integer(_ sql: String, _ handle: SnapshotHandle) throws -> Int? {
    try handle.read { try $0.integer(sql) }.map { Int($0) }
}

/// The size of the database file in bytes, without its log.
package func databaseSize(_ handle: SnapshotHandle) throws -> Int { try handle.read { try $0.sizes() }.total }

/// The number of steps that SQLite's virtual machine executes on the connection of a snapshot while `body` runs.
package func steps(_ handle: SnapshotHandle, _ body: () throws -> Void) rethrows -> Int {
    let counter = StepCounter()
    handle.read { connection in
        sqlite3_progress_handler(
            connection.handle, 1,
            { counter in
                if let counter { Unmanaged<StepCounter>.fromOpaque(counter).takeUnretainedValue().count += 1 }
                return 0
            }, Unmanaged.passUnretained(counter).toOpaque())
    }
    defer { handle.read { sqlite3_progress_handler($0.handle, 0, nil, nil) } }
    try withExtendedLifetime(counter, body)
    return counter.count
}

private final class StepCounter {
    var count = 0
}
