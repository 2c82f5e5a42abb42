extension String {
    /// Creates a text from UTF-8. Nil if the bytes are not valid UTF-8.
    ///
    /// `String(validating:as:)` takes several times as long for short texts, because it is not specialized for UTF-8.
    @inlinable package init?(validUTF8 bytes: UnsafeRawBufferPointer) {
        let bytes = bytes.assumingMemoryBound(to: UInt8.self)
        let isASCII = bytes.allSatisfy { $0 < 0x80 }
        self.init(decoding: bytes, as: UTF8.self)
        // Invalid bytes were replaced.
        if !isASCII, !Self.hasBytes(&self, bytes) { return nil }
    }

    @usableFromInline static func hasBytes(_ text: inout String, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        text.withUTF8 { $0.elementsEqual(bytes) }
    }
}
