#if Postgres
    import CMartletPostgres

    /// One statement of a pipeline.
    package struct PostgresStatement: Sendable {
        package var sql: String
        package var parameters: [PostgresParameter]

        package init(_ sql: String, _ parameters: [PostgresParameter] = []) {
            self.sql = sql
            self.parameters = parameters
        }
    }

    /// A statement that is ready to be sent.
    struct PostponedStatement {
        let statement: PostgresStatement
        /// The name of the prepared statement; nil if the statement runs unprepared.
        let name: String?
        /// True if the statement begins or ends a savepoint or a transaction. Such a statement fails only if the
        /// connection or the transaction has failed.
        let isControl: Bool
    }

    extension PostgresSession {
        /// Sends several statements at once and returns their results.
        ///
        /// First, this method prepares each statement that is not prepared yet, with one round trip for each. If the
        /// session already has `maximumStatements` prepared statements, further statements run unprepared. Finally, one
        /// round trip executes all statements.
        ///
        /// Each statement sees the effects of the statements before it. If a statement fails, the server skips the
        /// following statements, and this method throws the error.
        package func pipeline(_ statements: [PostgresStatement]) throws(PostgresError) -> [PostgresResult] {
            try canceller.requireAllowed()
            let new = try statements.map { statement throws(PostgresError) in
                PostponedStatement(
                    statement: statement, name: try prepared(statement.sql, statement.parameters), isControl: false)
            }
            return Array(try send(takePostponed() + new).suffix(statements.count))
        }

        /// Postpones a statement, and runs it together with the next statement. This saves a round trip. The result is
        /// discarded.
        ///
        /// If the statement fails, the next statement does not run, and the method that runs the next statement throws
        /// the error. Only the closures of `transaction` and `savepoint` may postpone statements. Both run all
        /// statements before they return.
        package func postpone(_ sql: String, _ parameters: [PostgresParameter]) throws(PostgresError) {
            try canceller.requireAllowed()
            let name = try prepared(sql, parameters)
            postponed.append(
                PostponedStatement(statement: PostgresStatement(sql, parameters), name: name, isControl: false))
        }

        /// Postpones a statement that begins or ends a savepoint or a transaction, and runs it together with the next
        /// statement.
        func postpone(control sql: String) {
            postponed.append(PostponedStatement(statement: PostgresStatement(sql), name: nil, isControl: true))
        }

        /// Runs the postponed statements.
        func flush() throws(PostgresError) { if !postponed.isEmpty { _ = try send(takePostponed()) } }

        func takePostponed() -> [PostponedStatement] {
            defer { postponed = [] }
            postponedBefore += postponed.count
            return postponed
        }

        private func send(_ statements: [PostponedStatement]) throws(PostgresError) -> [PostgresResult] {
            guard PQenterPipelineMode(pointer) == 1 else { throw PostgresError(connection: pointer) }
            defer { _ = PQexitPipelineMode(pointer) }
            var failure: PostgresError?
            for statement in statements where failure == nil {
                if !send(statement) { failure = PostgresError(connection: pointer) }
            }
            // Pipeline mode can end only after all results were read, also if a statement could not be sent.
            guard PQpipelineSync(pointer) == 1 else { throw failure ?? PostgresError(connection: pointer) }
            let results = Result { () throws(PostgresError) in try pipelineResults() }
            if let failure { throw failure }
            return try results.get()
        }

        private func send(_ next: PostponedStatement) -> Bool {
            let parameters = next.statement.parameters
            let isSent = withParameters(parameters) { values, lengths, formats, oids in
                let count = Int32(parameters.count)
                return if let name = next.name {
                    PQsendQueryPrepared(pointer, name, count, values, lengths, formats, 1)
                } else {
                    PQsendQueryParams(pointer, next.statement.sql, count, oids, values, lengths, formats, 1)
                }
            }
            return isSent == 1
        }

        // Reads the results up to the synchronization point.
        private func pipelineResults() throws(PostgresError) -> [PostgresResult] {
            var results: [PostgresResult] = []
            var failure: PostgresError?
            while isConnected {
                // For each statement, `PQgetResult` returns one result and then a null pointer.
                guard let next = PQgetResult(pointer) else { continue }
                if PQresultStatus(next) == PGRES_PIPELINE_SYNC {
                    PQclear(next)
                    if let failure { throw failure }
                    return results
                }
                do throws(PostgresError) { results.append(try checked(next)) } catch { failure = failure ?? error }
            }
            throw failure ?? PostgresError(connection: pointer)
        }
    }
#endif
