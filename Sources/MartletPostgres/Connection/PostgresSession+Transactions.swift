#if Postgres
    /// Determines which commits of other transactions the statements of a transaction see.
    package enum PostgresIsolation: String, Sendable {
        /// Each statement sees the transactions that were committed before the statement began.
        case readCommitted = "READ COMMITTED"
        /// All statements see the transactions that were committed before the first statement began.
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
                // The statement can fail because the connection is lost. Then the server rolls back the transaction on
                // its own.
                _ = try? execute("ROLLBACK")
                throw error
            }
            // A statement may have failed, and the closure may have caught the error. PostgreSQL then executes COMMIT
            // as a rollback, and returns the command tag `ROLLBACK`.
            guard try execute("COMMIT").command == "COMMIT" else {
                throw PostgresError(.failedTransaction, "the transaction was rolled back because a statement failed")
            }
            return result
        }

        /// Runs the closure in a savepoint. If the closure throws, only the changes of the closure are rolled back.
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
