#if Postgres
    import Synchronization

    /// Values in the database that do not fit the schema, because other programs have written them with SQL. Clients
    /// get nil or zero instead. Each value is logged once. After 10,000 values, all may be logged again.
    ///
    /// Thread safety: the methods may be called on any thread. The lock guards all properties.
    package final class UnfittingValues: Sendable {
        private struct State {
            var known: Set<String> = []
            var log: @Sendable (String) -> Void = { _ in }
        }

        private let state = Mutex(State())
        private static let maximumCount = 10_000

        init() {}

        /// - Parameter log: called with a text for each value. The text contains the key of the row, but not the value.
        package func setLog(_ log: @escaping @Sendable (String) -> Void) { state.withLock { $0.log = log } }

        /// - Parameter place: the table, the column and the row.
        func add(_ problems: [String], _ place: String) {
            for problem in problems {
                let text = "\(place): \(problem); clients get nil or zero; correct the row"
                let log: (@Sendable (String) -> Void)? = state.withLock { state in
                    // The memory of a service that runs for years must not grow without end.
                    if state.known.count >= Self.maximumCount { state.known = [] }
                    return state.known.insert(text).inserted ? state.log : nil
                }
                log?(text)
            }
        }
    }
#endif
