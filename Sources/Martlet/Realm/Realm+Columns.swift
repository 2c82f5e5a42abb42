import MartletEngine

/// The columns of open files that the process keeps in memory.
///
/// A query may have to read every row of a type with at least 4,096 objects. From the second query of this kind on, the
/// numbers, Booleans, dates and texts that the query reads are kept in memory. Counts, sums, minima, maxima, averages
/// and conditions then do not read the file. Changes of this and other processes are applied to the columns at their
/// next use.
///
/// Results are the same with and without columns in memory. Queries that use an index, and queries inside a write
/// transaction, always read the file.
extension Realm {
    /// The maximum size in bytes of the columns of all open files together. If it is zero, no columns are kept in
    /// memory.
    ///
    /// The default is the smaller of 256 MB and 1/16 of the memory that the process may use. If a new column does not
    /// fit, the least recently used columns are released. May be read and set on any thread.
    public static var columnMemory: Int {
        get { ColumnBudget.shared.byteLimit }
        set { ColumnBudget.shared.byteLimit = newValue }
    }

    /// The columns in memory, and how often they were used since the start of the process. May be read on any thread.
    public static var columnStatistics: ColumnStatistics { ColumnStatistics(ColumnBudget.shared.statistics) }

    /// The columns that the process keeps in memory, and how often they were used.
    public struct ColumnStatistics: Sendable, Equatable {
        /// One column in memory.
        public struct Column: Sendable, Equatable {
            /// The path of the file.
            public let path: String
            /// The name of the type, in the schema.
            public let type: String
            /// The name of the property, in the schema.
            public let property: String
            /// The bytes that the column uses.
            public let byteCount: Int
        }

        /// The columns in memory. The column that was used last is the first.
        public let columns: [Column]
        /// The bytes that all columns use.
        public let byteCount: Int
        /// The number of queries whose results were computed from columns in memory.
        public let hits: Int
        /// The number of queries that read the file only because the columns were not in memory.
        public let misses: Int
        /// The number of times that columns were read from a file.
        public let reads: Int
        /// The number of columns that were released because other columns needed the memory.
        public let evictions: Int

        init(_ statistics: MartletEngine.ColumnStatistics) {
            columns = statistics.columns.map {
                Column(path: $0.path, type: $0.type, property: $0.property, byteCount: $0.byteCount)
            }
            byteCount = statistics.byteCount
            hits = statistics.hits
            misses = statistics.misses
            reads = statistics.reads
            evictions = statistics.evictions
        }
    }
}
