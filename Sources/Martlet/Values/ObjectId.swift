import CMartletRuntime
public import Foundation
import Synchronization

/// A 12-byte identifier that consists of a time, a random number of the process, and a counter.
///
/// The layout is the same as in BSON: four bytes with the seconds since 1970, five random bytes of the process, and
/// three bytes of a counter. In each part the most significant byte comes first, so ids sort by their creation time,
/// with a precision of one second.
public struct ObjectId: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The first eight bytes. In `high` and `low`, the most significant byte comes first.
    let high: UInt64
    /// The last four bytes.
    let low: UInt32

    /// Twelve zero bytes.
    public static let zero = ObjectId(high: 0, low: 0)

    init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// A new id.
    public init() { self = ObjectId.generate() }

    /// Parses 24 hexadecimal digits.
    ///
    /// - Throws: `InvalidText` if `string` is not 24 hexadecimal digits.
    public init(string: String) throws {
        let digits = string.utf8
        // `UInt64(_:radix:)` would accept a sign.
        guard digits.count == 24, digits.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
            let high = UInt64(string.prefix(16), radix: 16), let low = UInt32(string.suffix(8), radix: 16)
        else {
            throw InvalidText(text: string, expected: "24 hexadecimal digits")
        }
        self.init(high: high, low: low)
    }

    /// Creates an id from a literal in generated code. The schema compiler has checked the digits.
    public init(_ literal: StaticString) {
        guard let id = try? ObjectId(string: "\(literal)") else {
            Misuse.notObjectId("\(literal)")
        }
        self = id
    }

    private static let counter = Atomic<UInt32>(UInt32.random(in: 0...0xFF_FFFF))
    // The low five bytes are random. The bits above them contain the fork count of the process that chose the random
    // bytes. A forked child inherits the random bytes and this fork count. Its own fork count is different, so it
    // chooses new random bytes.
    private static let process = Atomic<UInt64>(UInt64.random(in: 0...0xFF_FFFF_FFFF) | currentForks << 40)

    private static var currentForks: UInt64 { UInt64(truncatingIfNeeded: cmartlet_fork_count()) & 0xFF_FFFF }

    private static var processValue: UInt64 {
        let forks = currentForks
        var current = process.load(ordering: .relaxed)
        while current >> 40 != forks {
            let fresh = UInt64.random(in: 0...0xFF_FFFF_FFFF) | forks << 40
            let (exchanged, original) = process.compareExchange(
                expected: current, desired: fresh, ordering: .relaxed)
            current = exchanged ? fresh : original
        }
        return current & 0xFF_FFFF_FFFF
    }

    /// Creates a new id. The random bytes distinguish ids of different processes. An id that is created in a later
    /// second is greater.
    public static func generate() -> ObjectId {
        let seconds = UInt64(UInt32(truncatingIfNeeded: Int64(Date().timeIntervalSince1970)))
        let process = processValue
        let count = counter.wrappingAdd(1, ordering: .relaxed).newValue & 0xFF_FFFF
        return ObjectId(high: seconds << 32 | process >> 8, low: UInt32(process & 0xFF) << 24 | count)
    }

    /// The time at which the id was created, to the second.
    public var timestamp: Date { Date(timeIntervalSince1970: TimeInterval(high >> 32)) }

    /// 24 hexadecimal digits.
    public var stringValue: String {
        func hex(_ number: some BinaryInteger, _ digits: Int) -> String {
            let text = String(number, radix: 16)
            return String(repeating: "0", count: digits - text.count) + text
        }
        return hex(high, 16) + hex(low, 8)
    }

    /// 24 hexadecimal digits.
    public var description: String { stringValue }

    /// Compares the time, then the process, then the counter.
    public static func < (left: ObjectId, right: ObjectId) -> Bool { (left.high, left.low) < (right.high, right.low) }

    var bytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: high >> UInt64(56 - 8 * $0)) }
            + (0..<4).map { UInt8(truncatingIfNeeded: low >> UInt32(24 - 8 * $0)) }
    }

    init(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 12 else {
            self = .zero
            return
        }
        high = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
        low = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    }
}
