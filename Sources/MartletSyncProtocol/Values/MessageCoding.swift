import MartletEngine

/// The error for bytes that are not a valid message. The receiver closes the connection, because the sender is faulty
/// or hostile, or has another version. The error is also thrown for invalid encoded values in the file of a client.
package struct MalformedMessage: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Limits that a reader enforces before it allocates memory.
package struct MessageLimits: Sendable {
    /// The greatest number of bytes of one message.
    package var messageBytes = 1 << 20
    /// The greatest number of bytes of one text, blob or position.
    package var valueBytes = 1 << 20
    /// The greatest nesting depth of embedded objects, lists and maps. The file of a client has at most 100 levels of
    /// embedded objects, and at most 100 levels of lists and maps in a value.
    package var depth = 256

    package init() {}

    /// The limits of a client for messages of the service and for values in its file. They are larger than the limits
    /// for messages of clients, because several uploads can have added values to one object.
    package static var forServiceMessages: MessageLimits {
        var limits = MessageLimits()
        (limits.messageBytes, limits.valueBytes) = (64 << 20, 64 << 20)
        return limits
    }
}

/// Writes the parts of a message. Every value has exactly one encoding, so that equal messages have equal bytes.
package struct MessageWriter {
    private var writer = ByteWriter()

    package init() {}

    package var bytes: [UInt8] { writer.bytes }

    package mutating func byte(_ value: UInt8) { writer.byte(value) }
    package mutating func number(_ value: UInt64) { writer.varint(value) }
    package mutating func count(_ value: Int) { writer.count(value) }
    package mutating func signed(_ value: Int64) { writer.signed(value) }
    package mutating func flag(_ value: Bool) { writer.byte(value ? 1 : 0) }

    package mutating func blob(_ bytes: some Collection<UInt8>) {
        writer.count(bytes.count)
        writer.append(bytes)
    }

    package mutating func blob(_ bytes: UnsafeRawBufferPointer) {
        writer.count(bytes.count)
        writer.append(bytes)
    }

    /// Appends the bytes that another writer has written.
    package mutating func append(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBytes { writer.append($0) } }

    package mutating func append(_ other: MessageWriter) { other.bytes.withUnsafeBytes { writer.append($0) } }

    package mutating func text(_ text: String) { blob(text.utf8) }

    package mutating func list<Element>(
        _ elements: some Collection<Element>, _ write: (inout MessageWriter, Element) -> Void
    ) {
        writer.count(elements.count)
        for element in elements { write(&self, element) }
    }

    package mutating func optional<Value>(_ value: Value?, _ write: (inout MessageWriter, Value) -> Void) {
        flag(value != nil)
        if let value { write(&self, value) }
    }

    /// Writes eight bytes, most significant byte first.
    package mutating func word(_ value: UInt64) {
        withUnsafeBytes(of: value.bigEndian) { writer.append($0) }
    }
}

/// Reads the parts of a message that a `MessageWriter` has written. Throws `MalformedMessage` for all other bytes.
package struct MessageReader {
    private var reader: ByteReader
    package let limits: MessageLimits

    package init(_ bytes: [UInt8], limits: MessageLimits = MessageLimits()) throws(MalformedMessage) {
        guard bytes.count <= limits.messageBytes else {
            throw MalformedMessage("the message has \(bytes.count) bytes, at most \(limits.messageBytes) are allowed")
        }
        reader = ByteReader(bytes)
        self.limits = limits
    }

    /// Reads bytes that this process has encoded or checked before. They may have any size.
    init(stored bytes: [UInt8]) {
        reader = ByteReader(bytes)
        var limits = MessageLimits()
        (limits.messageBytes, limits.valueBytes) = (.max, .max)
        self.limits = limits
    }

    /// The bytes that the closure reads.
    mutating func encoded(
        _ read: (inout MessageReader) throws(MalformedMessage) -> Void
    ) throws(MalformedMessage) -> ArraySlice<UInt8> {
        var start = reader
        try read(&self)
        let count = start.remaining - reader.remaining
        return try self.read("bytes") { _ throws(MalformedBytes) in try start.bytes(count) }
    }

    package var isAtEnd: Bool { reader.remaining == 0 }

    private mutating func read<R>(
        _ what: StaticString, _ body: (inout ByteReader) throws(MalformedBytes) -> R
    ) throws(MalformedMessage) -> R {
        do { return try body(&reader) } catch {
            throw MalformedMessage("\(what) expected, but the bytes are not valid")
        }
    }

    package mutating func byte() throws(MalformedMessage) -> UInt8 {
        try read("a byte") { reader throws(MalformedBytes) in try reader.byte() }
    }

    package mutating func number() throws(MalformedMessage) -> UInt64 {
        try read("a number") { reader throws(MalformedBytes) in try reader.varint() }
    }

    package mutating func signed() throws(MalformedMessage) -> Int64 {
        try read("a number") { reader throws(MalformedBytes) in try reader.signed() }
    }

    /// Reads a number of elements. Each element has at least one byte, so the number must not exceed the remaining
    /// bytes.
    package mutating func count() throws(MalformedMessage) -> Int {
        try read("a number of elements") { reader throws(MalformedBytes) in try reader.count(upTo: reader.remaining) }
    }

    /// Reads the index of a type or property.
    package mutating func index() throws(MalformedMessage) -> Int {
        try read("the index of a type or property") { reader throws(MalformedBytes) in
            try reader.count(upTo: Int(UInt16.max))
        }
    }

    package mutating func flag() throws(MalformedMessage) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw MalformedMessage("0 or 1 expected")
        }
    }

    package mutating func blob() throws(MalformedMessage) -> [UInt8] {
        let limit = limits.valueBytes
        return try read("bytes") { reader throws(MalformedBytes) in
            let count = try reader.count(upTo: min(limit, reader.remaining))
            return Array(try reader.bytes(count))
        }
    }

    package mutating func text() throws(MalformedMessage) -> String {
        guard let text = String(validating: try blob(), as: UTF8.self) else {
            throw MalformedMessage("a text is not valid UTF-8")
        }
        return text
    }

    package mutating func word() throws(MalformedMessage) -> UInt64 {
        let bytes = try read("a number of eight bytes") { reader throws(MalformedBytes) in try reader.bytes(8) }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    package mutating func list<Element>(
        _ element: (inout MessageReader) throws(MalformedMessage) -> Element
    ) throws(MalformedMessage) -> [Element] {
        let count = try count()
        var elements: [Element] = []
        elements.reserveCapacity(min(count, 1_024))
        for _ in 0..<count { elements.append(try element(&self)) }
        return elements
    }

    package mutating func optional<Value>(
        _ value: (inout MessageReader) throws(MalformedMessage) -> Value
    ) throws(MalformedMessage) -> Value? {
        try flag() ? try value(&self) : nil
    }

    package func requireEnd() throws(MalformedMessage) {
        guard isAtEnd else { throw MalformedMessage("\(reader.remaining) bytes follow the message") }
    }
}
