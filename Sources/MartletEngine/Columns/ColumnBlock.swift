/// The values of up to `ColumnBlock.capacity` consecutive rows in one column. A block never changes.
enum ColumnBlock: Sendable {
    case numbers(NumberBlock)
    case texts(TextBlock)

    /// The greatest number of rows of a block.
    static let capacity = 2_048
    /// The number of 64-bit words in a bitmap of `capacity` rows.
    static let wordCount = capacity / 64

    init(_ buffer: ColumnBuffer, _ kind: ColumnKind) {
        self =
            switch kind {
            case .integer, .real: .numbers(NumberBlock(buffer, kind))
            case .text: .texts(TextBlock(buffer))
            }
    }

    var id: ObjectIdentifier {
        switch self {
        case .numbers(let block): ObjectIdentifier(block)
        case .texts(let block): ObjectIdentifier(block)
        }
    }

    /// The number of bytes that the block occupies in memory.
    var byteCount: Int {
        switch self {
        case .numbers(let block): block.byteCount
        case .texts(let block): block.byteCount
        }
    }

    var count: Int {
        switch self {
        case .numbers(let block): block.count
        case .texts(let block): block.count
        }
    }

    /// The rows with a value. Nil if all rows have one.
    var present: [UInt64]? {
        switch self {
        case .numbers(let block): block.present
        case .texts(let block): block.present
        }
    }

    /// The rows with NaN. Nil if there are none.
    var nan: [UInt64]? {
        switch self {
        case .numbers(let block): block.nan
        case .texts: nil
        }
    }

    var numbers: NumberBlock? { if case .numbers(let block) = self { block } else { nil } }
}
