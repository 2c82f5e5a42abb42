import MartletValues

/// Walks over the encoded elements of a chunk without decoding them.
///
/// The types of all elements are checked, as the decoder does. Whether texts are valid UTF-8 is not checked.
package struct EncodedElements {
    /// The kinds of elements that need not be decoded.
    private struct Allowed {
        var null = false
        var integers: ClosedRange<Int64>?
        var reals = false
        var texts = false
        /// The lengths of valid blobs.
        var blobs: ClosedRange<Int>?
    }

    let isMap: Bool
    private let allowed: Allowed

    /// The elements of a list or set, or the keys of a map. Nil if each element must be decoded to check its type.
    package init?(_ property: PropertySchema) {
        isMap = property.kind == .map
        if isMap {
            allowed = Allowed()
            return
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

    /// The integers that are valid elements of a list or set; nil if integers are not.
    var integers: ClosedRange<Int64>? { allowed.integers }

    /// Calls a closure with the position and the bytes of each element of a list or set, or of each key of a map.
    ///
    /// - Returns: false if the elements must be decoded, for example because the file is damaged. The closure has then
    ///   been called for some of them.
    @inline(__always)
    func forEach(
        _ bytes: UnsafeRawBufferPointer, count: Int, _ body: (_ position: Int, _ element: Range<Int>) -> Void
    ) -> Bool {
        var (offset, position) = (0, 0)
        while offset < bytes.count {
            let isKey = isMap && position.isMultiple(of: 2)
            guard let length = lengthOfAllowed(bytes, offset, isKey: isKey) else { return false }
            if !isMap || isKey { body(position, offset..<offset + length) }
            offset += length
            position += 1
        }
        return position == count && (!isMap || count.isMultiple(of: 2))
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
