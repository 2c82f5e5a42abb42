#if Postgres
    import CMartletPostgres

    /// The signature at the beginning of COPY's binary format. The header consists of the signature, four bytes of
    /// flags, and the length of a header extension in four bytes.
    private let copySignature: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0]
    private let copyHeaderLength = copySignature.count + 8

    /// Collects rows for a `COPY … FROM STDIN (FORMAT binary)`.
    package struct CopyWriter {
        fileprivate var buffer: [UInt8] = copySignature + [UInt8](repeating: 0, count: 8)

        /// Adds a row. Each field is the binary format of the column's value, or nil for NULL.
        package mutating func row(_ fields: [[UInt8]?]) {
            buffer += PostgresType.bigEndian(Int16(fields.count))
            for field in fields {
                buffer += PostgresType.bigEndian(Int32(field?.count ?? -1))
                buffer += field ?? []
            }
        }
    }

    extension PostgresSession {
        /// Runs a `COPY … TO STDOUT (FORMAT binary)` and calls the closure with each row. The `FieldReader` is valid
        /// only during the call. If the closure throws, this method cancels the statement and throws the error of the
        /// closure.
        package func copyOut(_ sql: String, _ row: (inout FieldReader) throws -> Void) throws {
            try canceller.requireAllowed()
            try flush()
            let result = try checked(PQexec(pointer, sql))
            guard result.isCopyOut else {
                throw PostgresError(.featureNotSupported, "the statement is not a COPY TO STDOUT")
            }
            var failure: (any Error)?
            var isFirst = true
            var message: UnsafeMutablePointer<CChar>?
            while case let count = PQgetCopyData(pointer, &message, 0), count > 0 {
                defer { PQfreemem(message) }
                if failure != nil { continue }
                do {
                    try read(UnsafeRawBufferPointer(start: message, count: Int(count)), isFirst, row)
                } catch {
                    failure = error
                    canceller.cancel()
                }
                isFirst = false
            }
            let ending = Result { try finish() }
            if let failure { throw failure }
            _ = try ending.get()
        }

        // PostgreSQL sends each row in a separate message. In the first message, the header precedes the row.
        private func read(
            _ bytes: UnsafeRawBufferPointer, _ hasHeader: Bool, _ row: (inout FieldReader) throws -> Void
        ) throws {
            if hasHeader, bytes.count < copyHeaderLength || !bytes.starts(with: copySignature) {
                throw PostgresError.malformed("a row")
            }
            let offset = hasHeader ? copyHeaderLength : 0
            if offset == bytes.count { return }
            var reader = try FieldReader(copied: bytes, offset: offset)
            // A count of -1 marks the end of the rows.
            if reader.count < 0 { return }
            try row(&reader)
        }

        /// Runs a `COPY … FROM STDIN (FORMAT binary)` and returns the number of copied rows.
        ///
        /// - Parameter write: adds rows to the writer, and returns true to be called again. If the closure throws, the
        ///   statement stores no rows.
        package func copyIn(_ sql: String, _ write: ((inout CopyWriter) throws -> Bool)) throws -> Int {
            try canceller.requireAllowed()
            try flush()
            let result = try checked(PQexec(pointer, sql))
            guard result.isCopyIn else {
                throw PostgresError(.featureNotSupported, "the statement is not a COPY FROM STDIN")
            }
            var writer = CopyWriter()
            do {
                while try write(&writer) { if writer.buffer.count > 1 << 16 { try send(&writer) } }
            } catch {
                _ = PQputCopyEnd(pointer, "the writer failed")
                _ = try? finish()
                throw error
            }
            writer.buffer += PostgresType.bigEndian(Int16(-1))
            try send(&writer)
            guard PQputCopyEnd(pointer, nil) == 1 else { throw PostgresError(connection: pointer) }
            return try finish()
        }

        private func send(_ writer: inout CopyWriter) throws(PostgresError) {
            let isSent = writer.buffer.withUnsafeBytes { bytes in
                PQputCopyData(pointer, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
            }
            guard isSent == 1 else { throw PostgresError(connection: pointer) }
            writer.buffer.removeAll(keepingCapacity: true)
        }

        /// Reads the results that the server sends after the data, and returns the number of copied rows.
        @discardableResult
        private func finish() throws(PostgresError) -> Int {
            var count = 0
            var failure: PostgresError?
            while let result = PQgetResult(pointer) {
                do throws(PostgresError) { count = try checked(result).affectedRows } catch { failure = error }
            }
            if let failure { throw failure }
            return count
        }
    }

    extension PostgresResult {
        fileprivate var isCopyOut: Bool { status == PGRES_COPY_OUT }
        fileprivate var isCopyIn: Bool { status == PGRES_COPY_IN }
    }
#endif
