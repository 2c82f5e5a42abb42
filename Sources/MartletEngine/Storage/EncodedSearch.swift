package import MartletValues

/// A search for a value in the encoded elements of chunks. It does not decode the elements.
///
/// The search checks the types of all elements of a chunk, as the decoder does. It does not check whether the texts that
/// differ from the value are valid UTF-8.
package struct EncodedSearch {
    package enum Outcome: Equatable {
        /// The offset of the first equal element in the chunk.
        case found(Int)
        case absent
        /// The chunk has elements that must be decoded, for example because the file is damaged.
        case undecided
    }

    /// The elements that the search may compare or skip without decoding them.
    private struct Allowed {
        var null = false
        var integers: ClosedRange<Int64>?
        var reals = false
        var texts = false
        /// The lengths of valid blobs.
        var blobs: ClosedRange<Int>?
    }

    private let value: SQLValue
    private let encoded: [UInt8]
    private let isMap: Bool
    private let allowed: Allowed

    /// A search for an element of a list or set, or for a key of a map. Nil if an element with other bytes can be equal
    /// to the value, or if only decoded elements can be checked.
    package init?(for value: SQLValue, in property: PropertySchema) {
        self.value = value
        encoded = ElementCodec.encode(CollectionOfOne(value))
        isMap = property.kind == .map
        guard !isMap else {
            guard case .text = value else { return nil }
            allowed = Allowed()
            return
        }
        if property.element.isFloating {
            // The special values have several representations.
            guard case .real(let number) = value, !FloatingSpecials.needsBits(number), number != 0 else { return nil }
        }
        guard var allowed = Self.allowed(property.element) else { return nil }
        allowed.null = property.accepts(.null)
        self.allowed = allowed
    }

    private static func allowed(_ element: ElementType) -> Allowed? {
        switch element {
        case .link, .embedded, .intEnum: Allowed(integers: .min ... .max)
        case .stringEnum: Allowed(texts: true)
        case .scalar(let scalar):
            switch scalar {
            case .bool: Allowed(integers: 0...1)
            case .int, .int64: Allowed(integers: .min ... .max)
            case .int8: Allowed(integers: -0x80...0x7f)
            case .int16: Allowed(integers: -0x8000...0x7fff)
            case .int32: Allowed(integers: -0x8000_0000...0x7fff_ffff)
            case .string: Allowed(texts: true)
            case .double, .date: Allowed(reals: true, blobs: 8...8)
            case .data: Allowed(blobs: 0 ... .max)
            case .uuid: Allowed(blobs: 16...16)
            case .objectId: Allowed(blobs: 12...12)
            case .float, .decimal128, .any: nil
            }
        }
    }

    /// Searches the encoded elements of a chunk.
    package func search(_ bytes: UnsafeRawBufferPointer, count: Int) -> Outcome {
        if case .integer(let number) = value, let range = allowed.integers, bytes.count == 9 * count {
            return searchIntegers(bytes, count, number, range)
        }
        var (found, offset, position) = (-1, 0, 0)
        while offset < bytes.count {
            guard let length = lengthOfAllowed(bytes, offset, isKey: isMap && position.isMultiple(of: 2)) else {
                return .undecided
            }
            if found < 0, length == encoded.count, !isMap || position.isMultiple(of: 2), isEncoded(bytes, offset) {
                found = position
            }
            offset += length
            position += 1
        }
        if position != count || isMap && !count.isMultiple(of: 2) { return .undecided }
        return found < 0 ? .absent : .found(found)
    }

    // Elements of the same length often begin with the same bytes, so the last bytes are compared first.
    private func isEncoded(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Bool {
        let length = encoded.count
        return encoded.withUnsafeBytes { encoded in
            if length >= 8 {
                let last = bytes.loadUnaligned(fromByteOffset: offset + length - 8, as: UInt64.self)
                if last != encoded.loadUnaligned(fromByteOffset: length - 8, as: UInt64.self) { return false }
            }
            return bytes[offset..<offset + length].elementsEqual(encoded)
        }
    }

    // If all elements are integers, each has 9 bytes.
    private func searchIntegers(
        _ bytes: UnsafeRawBufferPointer, _ count: Int, _ number: Int64, _ range: ClosedRange<Int64>
    ) -> Outcome {
        var found = -1
        for position in 0..<count {
            let word = bytes.loadUnaligned(fromByteOffset: 9 * position + 1, as: UInt64.self)
            let element = Int64(bitPattern: UInt64(littleEndian: word))
            if bytes[9 * position] != 1 || !range.contains(element) { return .undecided }
            if element == number, found < 0 { found = position }
        }
        return found < 0 ? .absent : .found(found)
    }

    // The length of an encoded element; nil if it must be decoded.
    @inline(__always)
    private func lengthOfAllowed(_ bytes: UnsafeRawBufferPointer, _ offset: Int, isKey: Bool) -> Int? {
        let tag = bytes[offset]
        if tag == 0 { return isMap ? (isKey ? nil : 1) : (allowed.null ? 1 : nil) }
        guard offset + 9 <= bytes.count else { return nil }
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self))
        let isAllowed: Bool
        switch tag {
        case 1, 2:
            if isMap {
                isAllowed = !isKey
            } else if tag == 1 {
                isAllowed = allowed.integers?.contains(Int64(bitPattern: word)) ?? false
            } else {
                isAllowed = allowed.reals
            }
            return isAllowed ? 9 : nil
        case 3, 4:
            guard word <= UInt64(bytes.count - offset - 9) else { return nil }
            let length = Int(word)
            if isMap {
                isAllowed = tag == 3 || !isKey
            } else {
                isAllowed = tag == 3 ? allowed.texts : allowed.blobs?.contains(length) ?? false
            }
            return isAllowed ? length + 9 : nil
        default: return nil
        }
    }
}
