/// One value of a row that is being read, without a copy of its bytes.
///
/// The bytes are valid until the next row is read.
package enum UnownedValue {
    case null
    case integer(Int64)
    case real(Double)
    /// UTF-8.
    case text(UnsafeRawBufferPointer)
    case blob(UnsafeRawBufferPointer)
}
