import CMartletSQLite
package import MartletEngine
import MartletSQLite

/// The statements of a snapshot's connection that somebody left open.
package func busyStatements(_ handle: SnapshotHandle) -> [String] {
    handle.read { [$0.unfinishedStatement].compactMap { $0 } }
}

/// True when the open write has changed something.
package func hasChanges(_ transaction: WriteTransaction?) -> Bool { transaction?.recorder.hasChanges ?? false }

/// Lets the file of the open write grow by a few pages only: what comes after is a full disk.
package func limitGrowth(_ handle: SnapshotHandle, pages: Int64) throws {
    try handle.read { connection in
        let size = try connection.integer("PRAGMA page_count") ?? 0
        _ = try connection.integer("PRAGMA max_page_count = \(size + pages)")
    }
}

/// Changes a file behind the runtime's back, as a newer build or a fault might.
package func alter(_ path: String, _ sql: String) throws {
    var options = ConnectionOptions(path: path)
    options.createsFile = false
    let connection = try Connection(options)
    try connection.execute(sql)
    connection.close()
}

/// Runs a statement in the open write, behind the back of whoever writes.
package func run(_ sql: String, _ handle: SnapshotHandle) throws { try handle.read { try $0.execute(sql) } }

/// The number that a statement gives in the version of a handle.
package func integer(_ sql: String, _ handle: SnapshotHandle) throws -> Int? {
    try handle.read { try $0.integer(sql) }.map { Int($0) }
}

/// The bytes of a file, without its log.
package func fileBytes(_ handle: SnapshotHandle) throws -> Int { try handle.read { try $0.sizes() }.total }

/// How many steps SQLite's virtual machine takes on the connection of a snapshot while `body` runs.
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
