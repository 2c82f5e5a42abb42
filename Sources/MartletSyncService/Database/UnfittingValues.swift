#if Postgres
    import Synchronization

    /// Logs the places of values in the database that do not fit the schema, because other programs have written them
    /// with SQL. Clients get nil or zero instead of such a value. Each place is logged once. After 10,000 places, the
    /// list of known places becomes empty, and the places may be logged again.
    ///
    /// Thread safety: the methods may be called on any thread. A mutex guards all properties.
    package final class UnfittingValues: Sendable {
        private struct State {
            var known: Set<String> = []
            var log: @Sendable (String) -> Void = { _ in }
        }

        private let state = Mutex(State())
        private static let maximumCount = 10_000

        init() {}

        /// - Parameter log: called with a text for each value. The text names the table and the problem, but does not
        ///   contain the value.
        package func setLog(_ log: @escaping @Sendable (String) -> Void) { state.withLock { $0.log = log } }

        /// - Parameter place: a text that names the table and the column or element.
        func add(_ problems: [String], _ place: String) {
            for problem in problems {
                let text = "\(place): \(problem); clients get nil or zero; correct the row"
                let log: (@Sendable (String) -> Void)? = state.withLock { state in
                    // Without a limit, the memory of a service that runs for years could grow without end.
                    if state.known.count >= Self.maximumCount { state.known = [] }
                    return state.known.insert(text).inserted ? state.log : nil
                }
                log?(text)
            }
        }
    }
#endif
