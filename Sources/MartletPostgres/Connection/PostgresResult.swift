#if Postgres
    import CMartletPostgres
    package import MartletValues

    /// The result of a statement. The rows that `query`, `forEachRow` and `pipeline` return are in binary format.
    package final class PostgresResult {
        fileprivate let pointer: OpaquePointer

        init(owning pointer: OpaquePointer) { self.pointer = pointer }

        deinit { PQclear(pointer) }

        var status: ExecStatusType { PQresultStatus(pointer) }

        package var rowCount: Int { Int(PQntuples(pointer)) }

        /// The number of rows that an INSERT, UPDATE, DELETE or COPY has inserted, updated, deleted or copied.
        package var affectedRows: Int { Int(String(cString: PQcmdTuples(pointer))) ?? 0 }

        /// The command tag of the statement, such as `COMMIT` or `INSERT 0 1`.
        var command: String { String(cString: PQcmdStatus(pointer)) }

        package var rows: [PostgresRow] { (0..<rowCount).map { PostgresRow(result: self, index: Int32($0)) } }

        package var first: PostgresRow? { rowCount > 0 ? PostgresRow(result: self, index: 0) : nil }
    }

    /// One row of a result.
    package struct PostgresRow {
        let result: PostgresResult
        let index: Int32

        /// Calls the closure with the bytes of a column, or with nil for NULL. The bytes are valid only during the
        /// call.
        package func withBytes<R, Failure: Error>(
            _ column: Int, _ body: (UnsafeRawBufferPointer?) throws(Failure) -> R
        ) throws(Failure) -> R {
            defer { withExtendedLifetime(result) {} }
            if PQgetisnull(result.pointer, index, Int32(column)) != 0 { return try body(nil) }
            let count = Int(PQgetlength(result.pointer, index, Int32(column)))
            return try body(
                UnsafeRawBufferPointer(start: PQgetvalue(result.pointer, index, Int32(column)), count: count))
        }

        package func value(_ column: Int, _ type: PostgresType) throws(PostgresError) -> SQLValue {
            try withBytes(column) { bytes throws(PostgresError) in try type.decode(bytes) }
        }

        package func isNull(_ column: Int) -> Bool { PQgetisnull(result.pointer, index, Int32(column)) != 0 }

        package func bytes(_ column: Int) -> [UInt8] { withBytes(column) { $0.map { Array($0) } ?? [] } }

        /// Decodes a `text`, `name` or `"char"`. Returns an empty string for NULL.
        package func text(_ column: Int) throws(PostgresError) -> String {
            try withBytes(column) { bytes throws(PostgresError) in
                try bytes.map { bytes throws(PostgresError) in try PostgresType.text(bytes) } ?? ""
            }
        }

        /// Decodes a `bigint` or `xid8`. Returns zero for NULL.
        package func bigint(_ column: Int) throws(PostgresError) -> Int64 {
            try withBytes(column) { bytes throws(PostgresError) in
                try bytes.map { bytes throws(PostgresError) in try PostgresType.number(bytes, Int64.self) } ?? 0
            }
        }

        /// Decodes an `integer` or `oid`. Returns zero for NULL.
        package func integer(_ column: Int) throws(PostgresError) -> Int {
            try withBytes(column) { bytes throws(PostgresError) in
                Int(try bytes.map { bytes throws(PostgresError) in try PostgresType.number(bytes, Int32.self) } ?? 0)
            }
        }

        /// Decodes a `boolean`. Returns false for NULL.
        package func boolean(_ column: Int) -> Bool { withBytes(column) { $0?.first == 1 } }

        /// Decodes a `bit varying`. Returns nil for NULL.
        package func bits(_ column: Int) throws(PostgresError) -> [Bool]? {
            try withBytes(column) { bytes throws(PostgresError) -> [Bool]? in
                guard let bytes else { return nil }
                guard bytes.count >= 4 else { throw .malformed("a bit string") }
                let count = Int(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
                guard count >= 0, bytes.count == 4 + (count + 7) / 8 else { throw .malformed("a bit string") }
                return (0..<count).map { bytes[4 + $0 / 8] & (0x80 >> UInt8($0 % 8)) != 0 }
            }
        }
    }

    extension PostgresError {
        /// Creates the error that a failed result describes.
        init(result: OpaquePointer) {
            func field(_ code: Character) -> String? {
                code.asciiValue.flatMap { PQresultErrorField(result, Int32($0)) }.map { String(cString: $0) }
            }
            // Each letter is the value of a macro PG_DIAG_… of libpq, for example "C" of PG_DIAG_SQLSTATE. Swift does
            // not import these macros.
            self.init(
                SQLState(field("C") ?? SQLState.connectionFailure.code),
                field("M") ?? String(cString: PQresultErrorMessage(result)))
            (detail, hint, context) = (field("D"), field("H"), field("W"))
            (table, column, constraint) = (field("t"), field("c"), field("n"))
        }

        /// Creates the error for a libpq call that returned no result.
        init(connection: OpaquePointer?) {
            self.init(.connectionFailure, connection.map { String(cString: PQerrorMessage($0)) } ?? "out of memory")
        }
    }
#endif
