package import MartletValues

/// Encodes the elements of a chunk of a collection. Each element is a tag byte, followed by the 8 bytes of a number, or
/// by the length (8 bytes) and the content of a text or blob. Null has only the tag. All numbers are little-endian, and
/// texts are UTF-8.
package enum ElementCodec {
    package static func encode(_ elements: some Sequence<SQLValue>) -> [UInt8] {
        var bytes: [UInt8] = []
        for element in elements { append(element, to: &bytes) }
        return bytes
    }

    /// The elements in `bytes`. Nil if `bytes` does not consist of exactly `count` complete elements.
    package static func decode(_ bytes: UnsafeRawBufferPointer, count: Int) -> [SQLValue]? {
        // Each element takes at least one byte.
        guard count >= 0, count <= bytes.count else { return nil }
        var elements: [SQLValue] = []
        elements.reserveCapacity(count)
        var offset = 0
        while offset < bytes.count {
            guard let element = next(bytes, &offset) else { return nil }
            elements.append(element)
        }
        return elements.count == count ? elements : nil
    }

    /// All elements in `bytes`. Nil if an element is incomplete or malformed.
    package static func decode(_ bytes: [UInt8]) -> [SQLValue]? {
        bytes.withUnsafeBytes { bytes in
            var elements: [SQLValue] = []
            var offset = 0
            while offset < bytes.count {
                guard let element = next(bytes, &offset) else { return nil }
                elements.append(element)
            }
            return elements
        }
    }

    private static func append(_ element: SQLValue, to bytes: inout [UInt8]) {
        switch element {
        case .null: bytes.append(0)
        case .integer(let number):
            bytes.append(1)
            append(UInt64(bitPattern: number), to: &bytes)
        case .real(let number):
            bytes.append(2)
            append(number.bitPattern, to: &bytes)
        case .text(let text):
            bytes.append(3)
            append(UInt64(text.utf8.count), to: &bytes)
            bytes.append(contentsOf: text.utf8)
        case .blob(let blob):
            bytes.append(4)
            append(UInt64(blob.count), to: &bytes)
            bytes.append(contentsOf: blob)
        }
    }

    private static func append(_ word: UInt64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private static func next(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> SQLValue? {
        let tag = bytes[offset]
        offset += 1
        if tag == 0 { return .null }
        guard offset + 8 <= bytes.count else { return nil }
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        offset += 8
        switch tag {
        case 1: return .integer(Int64(bitPattern: word))
        case 2: return .real(Double(bitPattern: word))
        case 3, 4:
            guard word <= UInt64(bytes.count - offset) else { return nil }
            let content = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(word)])
            offset += Int(word)
            return tag == 3 ? String(validating: content, as: UTF8.self).map { .text($0) } : .blob(Array(content))
        default: return nil
        }
    }
}
