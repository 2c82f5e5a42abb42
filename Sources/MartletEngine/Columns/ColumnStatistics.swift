/// The columns that this process keeps in memory, and how often they were used.
package struct ColumnStatistics: Sendable, Equatable {
    /// One column in memory.
    package struct Column: Sendable, Equatable {
        package let path: String
        package let type: String
        package let property: String
        package internal(set) var byteCount: Int
    }

    /// The columns in memory. The most recently used column is first.
    package internal(set) var columns: [Column] = []
    /// The bytes of all columns.
    package internal(set) var byteCount = 0
    /// The number of queries that were answered from columns in memory.
    package internal(set) var hits = 0
    /// The number of queries that could not be answered from columns only because the columns were not in memory.
    package internal(set) var misses = 0
    /// The number of times that columns of a table were read from the file.
    package internal(set) var reads = 0
    /// The number of columns that were dropped to stay within the memory limit.
    package internal(set) var evictions = 0
}
