import Foundation

/// When the columns of a file are kept in memory. Tests change some of these values.
package struct ColumnOptions: Sendable {
    package var budget = ColumnBudget.shared
    /// The least number of rows of a table whose columns are kept in memory.
    package var leastRows: Int64 = 4_096
    /// The number of queries that need a column before it is read into memory.
    package var queriesBeforeReading = 2
    /// Called with a description if an answer from columns in memory differs from that of the file. Nil to compute each
    /// answer only once.
    package var onDifference: (@Sendable (String) -> Void)?

    package init() {
        #if DEBUG
            // With this variable, the tests check columns in memory with all their queries.
            if getenv("MARTLET_CHECK_COLUMNS") != nil {
                leastRows = 0
                queriesBeforeReading = 1
                onDifference = { preconditionFailure("columns in memory differ from the file: \($0)") }
            }
        #endif
    }
}
