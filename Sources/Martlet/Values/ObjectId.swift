import CMartletRuntime
public import Foundation
import Synchronization

/// Twelve bytes that identify an object: four of time, five of this process, three of a counter.
///
/// The layout is that of BSON's ObjectId: seconds since 1970, a random process value, a counter, each most significant
/// byte first. So ids sort by the second in which they were made.
public struct ObjectId: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Most significant first: the first eight bytes and the last four.
    let high: UInt64
    let low: UInt32

    /// Twelve zero bytes.
    public static let zero = ObjectId(high: 0, low: 0)

    init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// A new id.
    public init() { self = ObjectId.generate() }

    /// The id written as 24 hexadecimal digits.
    ///
    /// - Throws: `InvalidText` when `string` is not 24 hexadecimal digits.
    public init(string: String) throws {
        let digits = string.utf8
        // `UInt64(_:radix:)` would take a sign.
        guard digits.count == 24, digits.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
            let high = UInt64(string.prefix(16), radix: 16), let low = UInt32(string.suffix(8), radix: 16)
        else {
            throw InvalidText(text: string, expected: "24 hexadecimal digits")
        }
        self.init(high: high, low: low)
    }

    /// The id that generated code writes: the compiler has checked it.
    public init(_ literal: StaticString) {
        guard let id = try? ObjectId(string: "\(literal)") else {
            Misuse.notObjectId("\(literal)")
        }
        self = id
    }

    private static let counter = Atomic<UInt32>(UInt32.random(in: 0...0xFF_FFFF))
    // Five random bytes, above them the forks before this process: a forked child inherits both and chooses anew.
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

    /// A new id: unique among processes, ascending by the second.
    public static func generate() -> ObjectId {
        let seconds = UInt64(UInt32(truncatingIfNeeded: Int64(Date().timeIntervalSince1970)))
        let process = processValue
        let count = counter.wrappingAdd(1, ordering: .relaxed).newValue & 0xFF_FFFF
        return ObjectId(high: seconds << 32 | process >> 8, low: UInt32(process & 0xFF) << 24 | count)
    }

    /// When the id was made, to the second.
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

    /// By time, then by process, then by counter.
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
