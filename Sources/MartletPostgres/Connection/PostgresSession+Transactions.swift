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
            postpone(control: "BEGIN ISOLATION LEVEL \(isolation.rawValue)\(isReadOnly ? " READ ONLY" : "")")
            do {
                let result = try body()
                // A statement may have failed, and the closure may have caught the error. PostgreSQL then executes
                // COMMIT as a rollback, and returns the command tag `ROLLBACK`.
                guard try commit().command == "COMMIT" else {
                    throw PostgresError(
                        .failedTransaction, "the transaction was rolled back because a statement failed")
                }
                return result
            } catch {
                _ = takePostponed()
                // ROLLBACK can fail because the connection is lost. The server then rolls back the transaction on its
                // own.
                if isServerInTransaction { _ = try? execute("ROLLBACK") }
                throw error
            }
        }

        private func commit() throws(PostgresError) -> PostgresResult {
            try postponed.isEmpty ? execute("COMMIT") : query("COMMIT")
        }

        /// Runs the closure in a savepoint. If the closure throws, only the changes of the closure are rolled back.
        @discardableResult
        package func savepoint<R>(_ body: () throws -> R) throws -> R {
            // If one of the postponed statements fails, the server skips the SAVEPOINT statement. So these statements
            // run first.
            try flushChanges()
            let number = postponedBefore + postponed.count
            // The end of an inner savepoint may still be postponed when this savepoint is rolled back. So each level
            // has its own name.
            savepointDepth += 1
            defer { savepointDepth -= 1 }
            let name = "martlet_\(savepointDepth)"
            postpone(control: "SAVEPOINT \(name)")
            do {
                let result = try body()
                try flushChanges()
                postpone(control: "RELEASE SAVEPOINT \(name)")
                return result
            } catch {
                if number < postponedBefore {
                    _ = takePostponed()
                    _ = try? execute("ROLLBACK TO SAVEPOINT \(name); RELEASE SAVEPOINT \(name)")
                } else {
                    // The savepoint was not sent.
                    postponed.removeLast(postponed.count - (number - postponedBefore))
                }
                throw error
            }
        }

        // Runs the postponed statements if one of them can fail.
        private func flushChanges() throws(PostgresError) {
            if !postponed.allSatisfy(\.isControl) { try flush() }
        }
    }
#endif
