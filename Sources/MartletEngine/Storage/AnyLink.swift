package import MartletValues

/// A link inside an `AnyRealmValue`. The schema does not name the target type, so the link contains the number of the
/// type.
package struct AnyLink: Hashable, Sendable {
    package let table: TableID
    package let key: ObjectKey

    package init(_ table: TableID, _ key: ObjectKey) {
        self.table = table
        self.key = key
    }

    /// Decodes a link from the 12 bytes after the tag: the number of the type (4 bytes), then the key (8 bytes), most
    /// significant byte first.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 12 else { return nil }
        table = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        key = ObjectKey(bitPattern: bytes.dropFirst(4).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// The stored value that consists of this link.
    package var stored: SQLValue {
        let number = UInt32(truncatingIfNeeded: table)
        return AnyValueTag.object.tagged(
            (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * $0)) }
                + AnyValueTag.bigEndian(UInt64(bitPattern: key)))
    }

    /// The links in a value, at any depth, each with the number of its occurrences.
    ///
    /// - Throws: `DamagedAnyValue` if the value cannot be read.
    package static func counts(in value: SQLValue) throws(DamagedAnyValue) -> [AnyLink: Int] {
        var counts: [AnyLink: Int] = [:]
        try visit(value, depth: 0) { counts[$0, default: 0] += 1 }
        return counts
    }

    private static func visit(
        _ value: SQLValue, depth: Int, _ body: (AnyLink) -> Void
    ) throws(DamagedAnyValue) {
        guard case .blob(let bytes) = value, let tag = value.tag else { return }
        switch tag {
        case .object: if let link = AnyLink(bytes.dropFirst()) { body(link) }
        case .list, .map:
            for element in try elements(bytes, depth) { try visit(element, depth: depth + 1, body) }
        default: break
        }
    }

    // Throws for bytes that do not encode elements, and for elements nested deeper than `AnyValue.maximumDepth`.
    private static func elements(
        _ bytes: [UInt8], _ depth: Int
    ) throws(DamagedAnyValue) -> [SQLValue] {
        guard depth < AnyValue.maximumDepth, let elements = ElementCodec.decode(Array(bytes.dropFirst())) else {
            throw DamagedAnyValue()
        }
        return elements
    }

    /// Returns the value with its links replaced. A link becomes null if `replacement` returns nil for it.
    ///
    /// - Throws: `DamagedAnyValue` if the value cannot be read, or an error that `replacement` throws.
    package static func replacing(
        in value: SQLValue, _ replacement: (AnyLink) throws -> AnyLink?
    ) throws -> SQLValue {
        try replacing(in: value, depth: 0, replacement)
    }

    private static func replacing(
        in value: SQLValue, depth: Int, _ replacement: (AnyLink) throws -> AnyLink?
    ) throws -> SQLValue {
        guard case .blob(let bytes) = value, let tag = value.tag else { return value }
        switch tag {
        case .object:
            guard let link = AnyLink(bytes.dropFirst()) else { return value }
            return try replacement(link)?.stored ?? .null
        case .list, .map:
            let replaced = try elements(bytes, depth).map {
                try replacing(in: $0, depth: depth + 1, replacement)
            }
            return tag.tagged(ElementCodec.encode(replaced))
        default: return value
        }
    }

    /// The value with every occurrence of this link replaced by null.
    package func removed(from value: SQLValue) throws -> SQLValue {
        try Self.replacing(in: value) { $0 == self ? nil : $0 }
    }
}

/// An `AnyRealmValue` that cannot be read, or is nested deeper than `AnyValue.maximumDepth`.
package struct DamagedAnyValue: Error {
    package init() {}
}
