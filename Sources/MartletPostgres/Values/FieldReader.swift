/// Reads the fields of a row in one of PostgreSQL's binary formats. The bytes must outlive the reader.
package struct FieldReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    /// The number of fields of the row.
    package private(set) var count = 0
    private let hasTypes: Bool

    /// Reads a row in the format of PostgreSQL's function `record_send`. The type of each field precedes its value.
    package init(record bytes: UnsafeRawBufferPointer) throws(PostgresError) {
        self.bytes = bytes
        hasTypes = true
        count = Int(try word())
    }

    /// Reads a row of `COPY … TO STDOUT (FORMAT binary)`.
    ///
    /// - Parameter offset: the position at which the row begins. It is the length of the header if the header precedes
    ///   the row, and 0 otherwise.
    init(copied bytes: UnsafeRawBufferPointer, offset: Int) throws(PostgresError) {
        self.bytes = bytes
        self.offset = offset
        hasTypes = false
        count = Int(try short())
    }

    /// Returns the bytes of the next field, or nil for NULL.
    package mutating func next() throws(PostgresError) -> UnsafeRawBufferPointer? {
        if hasTypes { _ = try word() }
        let length = Int(try word())
        if length == -1 { return nil }
        guard length >= 0, length <= bytes.count - offset else { throw .malformed("a row") }
        defer { offset += length }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
    }

    /// Throws if bytes follow the field that was read last.
    package func requireEnd() throws(PostgresError) {
        guard offset == bytes.count else { throw .malformed("a row") }
    }

    private mutating func word() throws(PostgresError) -> Int32 {
        guard bytes.count - offset >= 4 else { throw .malformed("a row") }
        defer { offset += 4 }
        return Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
    }

    private mutating func short() throws(PostgresError) -> Int16 {
        guard bytes.count - offset >= 2 else { throw .malformed("a row") }
        defer { offset += 2 }
        return Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self))
    }
}
