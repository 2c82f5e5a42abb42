#if Postgres
    /// Which commits of other transactions the statements of a transaction see.
    package enum PostgresIsolation: String, Sendable {
        /// Each statement sees what is committed when it begins.
        case readCommitted = "READ COMMITTED"
        /// All statements see the same state.
        case repeatableRead = "REPEATABLE READ"
    }

    extension PostgresSession {
        /// Runs the closure in a transaction. The transaction is committed if the closure returns, and rolled back if
        /// it throws.
        @discardableResult
        package func transaction<R>(
            _ isolation: PostgresIsolation = .readCommitted, isReadOnly: Bool = false, _ body: () throws -> R
        ) throws -> R {
            try execute("BEGIN ISOLATION LEVEL \(isolation.rawValue)\(isReadOnly ? " READ ONLY" : "")")
            let result: R
            do {
                result = try body()
            } catch {
                // If the connection is lost, the server rolls back.
                _ = try? execute("ROLLBACK")
                throw error
            }
            // If a statement has failed and the closure has caught the error, PostgreSQL executes COMMIT as a rollback.
            guard try execute("COMMIT").command == "COMMIT" else {
                throw PostgresError(.failedTransaction, "the transaction was rolled back because a statement failed")
            }
            return result
        }

        /// Runs the closure in a savepoint. If the closure throws, only its own changes are rolled back.
        @discardableResult
        package func savepoint<R>(_ body: () throws -> R) throws -> R {
            try execute("SAVEPOINT martlet")
            do {
                let result = try body()
                try execute("RELEASE SAVEPOINT martlet")
                return result
            } catch {
                _ = try? execute("ROLLBACK TO SAVEPOINT martlet; RELEASE SAVEPOINT martlet")
                throw error
            }
        }
    }
#endif
