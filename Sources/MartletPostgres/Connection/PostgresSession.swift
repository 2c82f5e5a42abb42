#if Postgres
    import CMartletPostgres
    import Synchronization

    /// A connection to PostgreSQL whose calls block the thread.
    ///
    /// Only one thread at a time may use a session. `PostgresConnection` gives each session its own thread.
    package final class PostgresSession {
        let pointer: OpaquePointer
        /// Stops the running statement. Any thread may use the canceller.
        package let canceller: PostgresCanceller
        /// The names of the prepared statements.
        private var statements: [StatementKey: String] = [:]
        /// The scripts that `configure` does not execute again.
        private var configured: Set<String> = []
        /// The statements that run together with the next statement. See `postpone`.
        var postponed: [PostponedStatement] = []
        /// The number of postponed statements that were sent or discarded.
        var postponedBefore = 0
        /// The number of calls of `savepoint` that are running.
        var savepointDepth = 0

        private struct StatementKey: Hashable {
            let sql: String
            let oids: [UInt32]
        }

        /// The maximum number of prepared statements. Further statements run unprepared, because each prepared
        /// statement uses memory of the server.
        static let maximumStatements = 500

        /// Connects to the server.
        ///
        /// - Parameter address: a connection string or URI as libpq defines it.
        package init(_ address: String) throws(PostgresError) {
            // libpq expands the address in the place of `dbname`, and a later parameter overrides an earlier one. So
            // the address can replace the application name, but not the encoding.
            let keywords = ["fallback_application_name", "dbname", "client_encoding"]
            let values = ["martlet-sync", address, "UTF8"]
            let connected = withCStrings(keywords) { keywords in
                withCStrings(values) { PQconnectdbParams(keywords, $0, 1) }
            }
            guard let connected else { throw PostgresError(connection: nil) }
            guard PQstatus(connected) == CONNECTION_OK, let cancel = PQgetCancel(connected) else {
                let error = PostgresError(connection: connected)
                PQfinish(connected)
                throw error
            }
            pointer = connected
            canceller = PostgresCanceller(owning: cancel)
            // By default, libpq prints notices on standard error. This processor discards them.
            PQsetNoticeProcessor(connected, { _, _ in }, nil)
        }

        deinit { PQfinish(pointer) }

        /// True between the beginning and the end of a transaction, also after a statement of the transaction has
        /// failed.
        package var isInTransaction: Bool { !postponed.isEmpty || isServerInTransaction }

        var isServerInTransaction: Bool {
            ![PQTRANS_IDLE, PQTRANS_UNKNOWN].contains(PQtransactionStatus(pointer))
        }

        /// False after the connection has failed. A session does not reconnect.
        package var isConnected: Bool { PQstatus(pointer) == CONNECTION_OK }

        /// Runs one or more statements without parameters, separated by semicolons. Returns the result of the last one.
        @discardableResult
        package func execute(_ script: String) throws(PostgresError) -> PostgresResult {
            try flush()
            return try checked(PQexec(pointer, script))
        }

        /// Runs one statement. The first run of a statement also prepares it, up to `maximumStatements` statements.
        @discardableResult
        package func query(
            _ sql: String, _ parameters: [PostgresParameter] = []
        ) throws(PostgresError) -> PostgresResult {
            try canceller.requireAllowed()
            if !postponed.isEmpty, let result = try pipeline([PostgresStatement(sql, parameters)]).first {
                return result
            }
            let name = try prepared(sql, parameters)
            return try checked(
                withParameters(parameters) { values, lengths, formats, oids in
                    let count = Int32(parameters.count)
                    return if let name {
                        PQexecPrepared(pointer, name, count, values, lengths, formats, 1)
                    } else {
                        PQexecParams(pointer, sql, count, oids, values, lengths, formats, 1)
                    }
                })
        }

        /// Runs one statement and calls the closure with each row when the row arrives. So only one row is in memory.
        ///
        /// If the closure throws, this method cancels the statement and throws the error of the closure.
        package func forEachRow(
            _ sql: String, _ parameters: [PostgresParameter] = [], _ body: (PostgresRow) throws -> Void
        ) throws {
            try canceller.requireAllowed()
            try flush()
            let name = try prepared(sql, parameters)
            let isSent = withParameters(parameters) { values, lengths, formats, oids in
                let count = Int32(parameters.count)
                return if let name {
                    PQsendQueryPrepared(pointer, name, count, values, lengths, formats, 1)
                } else {
                    PQsendQueryParams(pointer, sql, count, oids, values, lengths, formats, 1)
                }
            }
            guard isSent == 1, PQsetSingleRowMode(pointer) == 1 else { throw PostgresError(connection: pointer) }
            var failure: (any Error)?
            while let next = PQgetResult(pointer) {
                do {
                    let result = try checked(next)
                    guard failure == nil else { continue }
                    for row in result.rows { try body(row) }
                } catch {
                    if failure == nil, !(error is PostgresError) || PQtransactionStatus(pointer) == PQTRANS_ACTIVE {
                        canceller.cancel()
                    }
                    failure = failure ?? error
                }
            }
            if let failure { throw failure }
        }

        /// Sets parameters of the server for the rest of the session. Does nothing if the session has already executed
        /// the same script outside of a transaction.
        ///
        /// - Parameter script: statements of the form `SET … = …`.
        package func configure(_ script: String) throws(PostgresError) {
            if configured.contains(script) { return }
            try execute(script)
            // A rollback would undo a script that was executed in a transaction.
            if !isInTransaction { configured.insert(script) }
        }

        /// Prepares a statement if it is not prepared yet, and returns its name. Returns nil if the statement must run
        /// unprepared.
        func prepared(_ sql: String, _ parameters: [PostgresParameter]) throws(PostgresError) -> String? {
            let key = StatementKey(sql: sql, oids: parameters.map(\.oid))
            if let name = statements[key] { return name }
            guard statements.count < Self.maximumStatements else { return nil }
            // If the preparation fails, the server aborts the transaction. A rollback to a savepoint is then possible
            // only if the postponed SAVEPOINT statement has already run.
            try flush()
            let name = "martlet_\(statements.count)"
            try checked(
                key.oids.withUnsafeBufferPointer { oids in
                    PQprepare(pointer, name, sql, Int32(oids.count), oids.baseAddress)
                })
            statements[key] = name
            return name
        }

        /// Takes ownership of a result of libpq. Throws if the result is an error, or if it is nil.
        @discardableResult
        func checked(_ result: OpaquePointer?) throws(PostgresError) -> PostgresResult {
            guard let result else { throw PostgresError(connection: pointer) }
            let owner = PostgresResult(owning: result)
            switch PQresultStatus(result) {
            case PGRES_BAD_RESPONSE, PGRES_FATAL_ERROR, PGRES_NONFATAL_ERROR, PGRES_PIPELINE_ABORTED:
                throw PostgresError(result: result)
            default: return owner
            }
        }
    }

    /// Stops the running statement of a session. Any thread may use this object.
    // libpq never changes a `PGcancel` that it has created, and any thread may call `PQcancel`.
    package final class PostgresCanceller: @unchecked Sendable {
        private let pointer: OpaquePointer
        private let isStopped = Atomic(false)

        init(owning pointer: OpaquePointer) { self.pointer = pointer }

        deinit { PQfreeCancel(pointer) }

        /// Stops the running statement. Later calls of `query` and `forEachRow` in the same closure of
        /// `PostgresConnection.run` fail. `execute` still works, so that the closure can roll back the transaction.
        func stop() {
            isStopped.store(true, ordering: .sequentiallyConsistent)
            cancel()
        }

        /// Permits queries again. `PostgresConnection` calls this method before each closure of `run`.
        func allow() { isStopped.store(false, ordering: .sequentiallyConsistent) }

        /// Throws `queryCanceled` after `stop()`.
        func requireAllowed() throws(PostgresError) {
            guard isStopped.load(ordering: .sequentiallyConsistent) else { return }
            throw PostgresError(.queryCanceled, "the task was cancelled")
        }

        /// Asks the server to stop the running statement, and returns after the server has received the request. The
        /// statement then fails with `queryCanceled`. If no statement is running, the request has no effect.
        package func cancel() {
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
                _ = PQcancel(pointer, buffer.baseAddress, 256)
            }
        }
    }

    /// Calls the closure with a null-terminated array of C strings.
    func withCStrings<R>(_ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R) -> R {
        func append(_ index: Int, _ pointers: [UnsafePointer<CChar>?]) -> R {
            guard index < strings.count else {
                return (pointers + [nil]).withUnsafeBufferPointer { body($0.baseAddress) }
            }
            return strings[index].withCString { append(index + 1, pointers + [$0]) }
        }
        return append(0, [])
    }

    /// Calls the closure with the parameters in the form that libpq expects: values, lengths, formats and types.
    func withParameters<R>(
        _ parameters: [PostgresParameter],
        _ body: (
            UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, UnsafePointer<UInt32>?
        ) -> R
    ) -> R {
        // All values are stored one after the other. A null pointer means NULL, so an empty value needs a pointer that
        // is not null. The additional byte ensures that `baseAddress` is not nil, even if all values are empty.
        var content: [UInt8] = []
        for parameter in parameters { content += parameter.bytes ?? [] }
        content.append(0)
        return content.withUnsafeBytes { bytes in
            var offset = 0
            let values = parameters.map { parameter -> UnsafePointer<CChar>? in
                guard let value = parameter.bytes else { return nil }
                defer { offset += value.count }
                return bytes.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
            }
            let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
            let formats = [Int32](repeating: 1, count: parameters.count)
            return values.withUnsafeBufferPointer { values in
                lengths.withUnsafeBufferPointer { lengths in
                    formats.withUnsafeBufferPointer { formats in
                        parameters.map(\.oid).withUnsafeBufferPointer {
                            body(values.baseAddress, lengths.baseAddress, formats.baseAddress, $0.baseAddress)
                        }
                    }
                }
            }
        }
    }
#endif
