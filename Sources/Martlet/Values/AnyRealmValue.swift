public import Foundation
import MartletEngine
import MartletSQLite

/// A value of any kind, chosen at run time. Absence is the case `none`, so it is never optional.
///
/// Values are kept bit for bit. Integers, doubles and strings are stored as such; the other kinds as tagged bytes.
public enum AnyRealmValue: Hashable, Sendable {
    case none
    case bool(Bool)
    case int(Int)
    case float(Float)
    case double(Double)
    case string(String)
    case data(Data)
    case date(Date)
    case decimal128(Decimal128)
    case objectId(ObjectId)
    case uuid(UUID)
}

extension AnyRealmValue: PersistableValue {
    public var _stored: StoredValue {
        switch self {
        case .none: .null
        case .int(let value): value._stored
        case .string(let value): value._stored
        case .double(let value):
            value._stored.isReal ? value._stored : Self.tagged(.double, AnyValueTag.bigEndian(value.bitPattern))
        case .bool(let value): Self.tagged(.bool, [value ? 1 : 0])
        case .float(let value): Self.tagged(.float, AnyValueTag.bigEndian(UInt64(value.bitPattern)))
        case .data(let value): Self.tagged(.data, [UInt8](value))
        case .date(let value):
            Self.tagged(.date, AnyValueTag.bigEndian(value.timeIntervalSinceReferenceDate.bitPattern))
        case .decimal128(let value): Self.tagged(.decimal128, value.bytes)
        case .objectId(let value): Self.tagged(.objectId, value.bytes)
        case .uuid(let value): Self.tagged(.uuid, withUnsafeBytes(of: value.uuid) { Array($0) })
        }
    }

    public static func _value(_ stored: StoredValue) -> AnyRealmValue? {
        switch stored.raw {
        case .null: AnyRealmValue.none
        case .integer(let number): .int(Int(number))
        case .real(let number): .double(number)
        case .text(let text): .string(text)
        case .blob(let bytes): untagged(bytes)
        }
    }

    private static func untagged(_ bytes: [UInt8]) -> AnyRealmValue? {
        guard let first = bytes.first, let tag = AnyValueTag(rawValue: first) else { return nil }
        let content = Array(bytes.dropFirst())
        let word = content.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        switch tag {
        case .bool: return .bool(content == [1])
        case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: word)))
        case .double: return .double(Double(bitPattern: word))
        case .data: return .data(Data(content))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: word)))
        case .decimal128: return Decimal128(bytes: content).map { .decimal128($0) }
        case .objectId: return ObjectId._value(StoredValue(.blob(content))).map { .objectId($0) }
        case .uuid: return UUID._value(StoredValue(.blob(content))).map { .uuid($0) }
        }
    }

    private static func tagged(_ tag: AnyValueTag, _ content: [UInt8]) -> StoredValue {
        StoredValue(tag.tagged(content))
    }
}

extension AnyRealmValue: OrderedValue {}

extension StoredValue {
    fileprivate var isReal: Bool {
        if case .real = raw { true } else { false }
    }
}
