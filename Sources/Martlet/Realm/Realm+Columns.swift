import MartletEngine

/// The columns of open files that the process keeps in memory.
///
/// If a query has to read every row of a type with at least 4,096 objects, the numbers, Booleans, dates and texts that it
/// needs are kept in memory from the second query on. Counts, sums, minima, maxima, averages and conditions then do not read
/// the file. Changes of this and other processes are applied to the columns when they are used next.
///
/// The answers are the same with and without columns in memory. Queries that find their objects with an index, and
/// queries inside a write transaction, always read the file.
extension Realm {
    /// The most bytes of memory that the columns of all open files may use together. Zero turns columns off.
    ///
    /// The default is the smaller of 256 MB and 1/16 of the memory that the process may use. If a further column does
    /// not fit, the columns that were not used for the longest time are dropped. May be read and set on any thread.
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
        /// The number of queries that were answered from columns in memory.
        public let hits: Int
        /// The number of queries that columns could have answered, but that read the file, because the columns were not
        /// in memory.
        public let misses: Int
        /// The number of times that columns were read from a file.
        public let reads: Int
        /// The number of columns that were dropped because other columns needed the memory.
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
