/// One value of a row that is being read. It refers to the bytes of a text or blob without copying them.
///
/// The bytes are valid until the next row is read.
package enum UnownedValue {
    case null
    case integer(Int64)
    case real(Double)
    /// The bytes of a text in UTF-8.
    case text(UnsafeRawBufferPointer)
    case blob(UnsafeRawBufferPointer)
}
