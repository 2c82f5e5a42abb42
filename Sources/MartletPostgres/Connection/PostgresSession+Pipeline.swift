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

    extension PostgresSession {
        /// Sends several statements at once and returns their results.
        ///
        /// First, this method prepares each statement that is not prepared yet. Each preparation needs one round trip.
        /// Beyond the limit `maximumStatements`, statements run unprepared. Then the execution of all statements needs
        /// one round trip.
        ///
        /// Each statement sees the effects of the statements before it. If a statement fails, the server skips the
        /// following statements, and this method throws the error.
        package func pipeline(_ statements: [PostgresStatement]) throws(PostgresError) -> [PostgresResult] {
            try canceller.requireAllowed()
            let names = try statements.map { statement throws(PostgresError) in
                try prepared(statement.sql, statement.parameters)
            }
            guard PQenterPipelineMode(pointer) == 1 else { throw PostgresError(connection: pointer) }
            defer { _ = PQexitPipelineMode(pointer) }
            for (statement, name) in zip(statements, names) {
                let isSent = withParameters(statement.parameters) { values, lengths, formats, oids in
                    let count = Int32(statement.parameters.count)
                    return if let name {
                        PQsendQueryPrepared(pointer, name, count, values, lengths, formats, 1)
                    } else {
                        PQsendQueryParams(pointer, statement.sql, count, oids, values, lengths, formats, 1)
                    }
                }
                guard isSent == 1 else { throw PostgresError(connection: pointer) }
            }
            guard PQpipelineSync(pointer) == 1 else { throw PostgresError(connection: pointer) }
            return try pipelineResults(statements.count)
        }

        private func pipelineResults(_ count: Int) throws(PostgresError) -> [PostgresResult] {
            var results: [PostgresResult] = []
            var failure: PostgresError?
            for _ in 0..<count {
                // For each statement, `PQgetResult` returns one result and then a null pointer.
                while let next = PQgetResult(pointer) {
                    do throws(PostgresError) { results.append(try checked(next)) } catch { failure = failure ?? error }
                }
                if !isConnected { throw failure ?? PostgresError(connection: pointer) }
            }
            // The last result belongs to the synchronization point and contains no rows.
            if let sync = PQgetResult(pointer) { PQclear(sync) }
            if let failure { throw failure }
            return results
        }
    }
#endif
