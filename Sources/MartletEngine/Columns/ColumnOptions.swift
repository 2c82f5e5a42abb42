import Foundation

/// The conditions under which columns of a file are kept in memory. Tests change some of these values.
package struct ColumnOptions: Sendable {
    package var budget = ColumnBudget.shared
    /// Columns are kept in memory only if the greatest and the least key of the table differ by at least this number.
    /// The difference approximates the number of rows.
    package var leastRows: Int64 = 4_096
    /// A column is read into memory by the query with this number among the queries that need the column.
    package var queriesBeforeReading = 2
    /// Called with a description if an answer from columns in memory differs from the answer of SQLite. If it is nil,
    /// the answers are not compared.
    package var onDifference: (@Sendable (String) -> Void)?

    package init() {
        #if DEBUG
            // If this variable is set, every query of a test also checks the columns in memory.
            if getenv("MARTLET_CHECK_COLUMNS") != nil {
                leastRows = 0
                queriesBeforeReading = 1
                onDifference = { preconditionFailure("columns in memory differ from the file: \($0)") }
            }
        #endif
    }
}
