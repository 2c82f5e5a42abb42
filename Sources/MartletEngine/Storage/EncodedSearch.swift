package import MartletValues

/// A search for a value in the encoded elements of chunks. It does not decode the elements.
package struct EncodedSearch {
    package enum Outcome: Equatable {
        /// The offset of the first equal element in the chunk.
        case found(Int)
        case absent
        /// The chunk has elements that must be decoded, for example because the file is damaged.
        case undecided
    }

    private let value: SQLValue
    private let encoded: [UInt8]
    private let elements: EncodedElements

    /// A search for an element of a list or set, or for a key of a map. Nil if an element with other bytes can be equal
    /// to the value, or if only decoded elements can be checked.
    package init?(for value: SQLValue, in property: PropertySchema) {
        guard let elements = EncodedElements(property) else { return nil }
        if elements.isMap {
            guard case .text = value else { return nil }
        } else if property.element.isFloating {
            // The special values have several representations.
            guard case .real(let number) = value, !FloatingSpecials.needsBits(number), number != 0 else { return nil }
        }
        self.value = value
        self.elements = elements
        encoded = ElementCodec.encode(CollectionOfOne(value))
    }

    /// The hash of the value in an `ElementIndex`.
    var hash: UInt32 { encoded.withUnsafeBytes { ElementIndex.hash($0) } }

    /// Searches the encoded elements of a chunk.
    package func search(_ bytes: UnsafeRawBufferPointer, count: Int) -> Outcome {
        if case .integer(let number) = value, let range = elements.integers, bytes.count == 9 * count {
            return searchIntegers(bytes, count, number, range)
        }
        var found = -1
        let isValid = elements.forEach(bytes, count: count) { position, element in
            if found < 0, element.count == encoded.count, isEncoded(bytes, element.lowerBound) { found = position }
        }
        if !isValid { return .undecided }
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
}
