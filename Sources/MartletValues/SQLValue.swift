/// One value, in one of the five storage classes of SQLite.
///
/// Two values are equal if they have the same storage class and the same bytes. Therefore canonically equivalent
/// strings with different bytes are not equal, zero does not equal negative zero, and a NaN equals itself.
package enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    package static func == (left: SQLValue, right: SQLValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
        case (.text(let left), .text(let right)):
            left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
        case (.blob(let left), .blob(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let number): hasher.combine(number)
        case .real(let number): hasher.combine(number.bitPattern)
        case .text(var text): text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .blob(let bytes): hasher.combine(bytes)
        }
    }
}
