/// The columns that this process keeps in memory, and how often they were used.
package struct ColumnStatistics: Sendable, Equatable {
    /// One column in memory.
    package struct Column: Sendable, Equatable {
        package let path: String
        package let type: String
        package let property: String
        package let byteCount: Int
    }

    /// The columns in memory, the one that was used last first.
    package internal(set) var columns: [Column] = []
    /// The bytes of all columns.
    package internal(set) var byteCount = 0
    /// The queries that were answered from columns in memory.
    package internal(set) var hits = 0
    /// The queries that columns could have answered, but the columns were not in memory.
    package internal(set) var misses = 0
    /// The number of times that columns of a table were read from the file.
    package internal(set) var reads = 0
    /// The columns that were dropped because the memory was full.
    package internal(set) var evictions = 0
}
