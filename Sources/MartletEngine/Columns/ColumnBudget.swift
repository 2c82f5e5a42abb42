import CMartletRuntime
import Foundation

/// The memory that the columns of all open files of this process may use together.
///
/// If a new column exceeds this limit, the least recently used columns are dropped.
///
/// Thread safety: `lock` guards all variables. No thread holds it while it calls a `ColumnStore`.
// Sendable as described above.
package final class ColumnBudget: @unchecked Sendable {
    package static let shared = ColumnBudget()

    private struct Entry {
        let id: ColumnID
        weak var store: ColumnStore?
        var column: ColumnStatistics.Column
        var lastUse: UInt64
        var bytes: Int { column.byteCount }
    }

    /// Identifies a column of an open file.
    struct ColumnID: Hashable {
        let store: ObjectIdentifier
        let table: TableID
        let property: PropertyIndex
    }

    private let lock = NSLock()
    private var entries: [ColumnID: Entry] = [:]
    private var time: UInt64 = 0
    private var used = 0
    private var counters = ColumnStatistics()
    private var limit: Int

    package init(byteLimit: Int = ColumnBudget.defaultLimit) { limit = byteLimit }

    /// The maximum number of bytes that columns may use. If it is zero, no columns are kept in memory.
    package var byteLimit: Int {
        get { locked { limit } }
        set {
            locked { limit = max(0, newValue) }
            evict()
        }
    }

    /// The columns in memory, and the counters.
    package var statistics: ColumnStatistics {
        locked {
            var found = counters
            found.columns = entries.values.sorted { $0.lastUse > $1.lastUse }.map(\.column)
            found.byteCount = used
            return found
        }
    }

    /// Changes the counters.
    func count(_ change: (inout ColumnStatistics) -> Void) { locked { change(&counters) } }

    private func locked<R>(_ body: () -> R) -> R {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }

    /// Records that a column is in memory, or that its size has changed.
    func record(_ id: ColumnID, of store: ColumnStore, _ column: ColumnStatistics.Column) {
        locked {
            used += column.byteCount - (entries[id]?.bytes ?? 0)
            time += 1
            entries[id] = Entry(id: id, store: store, column: column, lastUse: time)
        }
    }

    /// Records that the size of a column has changed.
    func resize(_ id: ColumnID, byteCount: Int) {
        locked {
            used += byteCount - (entries[id]?.bytes ?? byteCount)
            entries[id]?.column.byteCount = byteCount
        }
    }

    /// Removes a column.
    func remove(_ id: ColumnID) { locked { used -= entries.removeValue(forKey: id)?.bytes ?? 0 } }

    /// Records that columns were used.
    func recordUse(_ store: ColumnStore, _ table: TableID, _ properties: ColumnSet) {
        locked {
            time += 1
            for property in properties {
                entries[ColumnID(store: ObjectIdentifier(store), table: table, property: property)]?.lastUse = time
            }
        }
    }

    /// Removes all columns of a file that is closed.
    func remove(_ store: ObjectIdentifier) {
        locked {
            for id in entries.keys where id.store == store { used -= entries.removeValue(forKey: id)?.bytes ?? 0 }
        }
    }

    /// Drops the least recently used columns until the remaining columns are within the limit. Skips the columns of a
    /// store that another thread is using.
    func evict() {
        var skipped: Set<ColumnID> = []
        while let victim = locked({ used <= limit ? nil : leastRecentlyUsed(without: skipped) }) {
            skipped.insert(victim.id)
            if let store = victim.store {
                store.drop(victim.id.property, of: victim.id.table)
            } else {
                remove(victim.id.store)
            }
        }
    }

    private func leastRecentlyUsed(without skipped: Set<ColumnID>) -> Entry? {
        entries.values.filter { !skipped.contains($0.id) }.min { $0.lastUse < $1.lastUse }
    }

    /// The smaller of 256 MB and 1/16 of the memory that the process may use, in bytes.
    package static let defaultLimit = Int(min(cmartlet_memory_limit() / 16, 256 << 20))
}
