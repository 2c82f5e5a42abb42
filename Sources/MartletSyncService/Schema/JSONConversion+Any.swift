import Foundation
import MartletEngine
import MartletPostgres
import MartletSyncProtocol
import MartletValues

/// Converts values of `AnyRealmValue` to JSON and back. Nil, booleans, texts, 64-bit integers, `Double` values with a
/// fraction, lists and most maps are plain JSON. Every other value is an object with one member. The name of this
/// member begins with `$` and names the type:
///
/// | type | JSON |
/// |---|---|
/// | other `Double` values | `{"$numberDouble": "1e+300"}` |
/// | Float | `{"$numberFloat": "0.1"}` |
/// | Decimal128 | `{"$numberDecimal": "1.5"}` |
/// | Data, ObjectId, UUID | `{"$binary": "AP8="}`, `{"$oid": "…"}`, `{"$uuid": "…"}` |
/// | Date | `{"$date": "2024-05-01T12:30:00Z"}` |
/// | link | `{"$link": {"type": "Dog", "key": 5}}` |
/// | map with only one key, which begins with `$` | `{"$map": {"$key": 1}}` |
extension JSONConversion {
    // MARK: To JSON

    private static let tooDeep = UnencodableValue("a value is nested too deeply")

    func anyJSON(_ value: SyncValue, depth: Int) throws(UnencodableValue) -> JSONValue {
        switch value {
        case .scalar(let scalar): return try anyJSON(scalar)
        case .link(let target):
            guard schema.types.indices.contains(target.type) else { throw Self.otherKind }
            let type = JSONMember("type", .string(schema.types[target.type].name))
            return Self.tagged("$link", .object([type, JSONMember("key", try key(of: target))]))
        case .list(let values):
            guard depth < AnyValue.maximumDepth else { throw Self.tooDeep }
            var elements: [JSONValue] = []
            for value in values { elements.append(try anyJSON(value, depth: depth + 1)) }
            return .array(elements)
        case .map(let entries):
            guard depth < AnyValue.maximumDepth else { throw Self.tooDeep }
            var members: [JSONMember] = []
            for entry in entries {
                members.append(
                    JSONMember(try JSONScalar.storable(entry.key), try anyJSON(entry.value, depth: depth + 1)))
            }
            let isAmbiguous = members.count == 1 && members[0].name.utf8.first == UInt8(ascii: "$")
            return isAmbiguous ? Self.tagged("$map", .object(members)) : .object(members)
        case .embedded: throw Self.otherKind
        }
    }

    private static func tagged(_ name: String, _ value: JSONValue) -> JSONValue { .object([JSONMember(name, value)]) }

    private func anyJSON(_ scalar: SQLValue) throws(UnencodableValue) -> JSONValue {
        switch scalar {
        case .null: return .null
        case .integer(let number): return .number("\(number)")
        case .real(let number): return Self.double(number)
        case .text(let text): return .string(try JSONScalar.storable(text))
        case .blob(let blob):
            guard AnyValue.isWellFormed(scalar), let tag = scalar.tag else { throw Self.otherKind }
            let bytes = Array(blob.dropFirst())
            let word = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            switch tag {
            case .bool: return .bool(bytes == [1])
            case .float:
                return Self.tagged("$numberFloat", Self.number(Float(bitPattern: UInt32(truncatingIfNeeded: word))))
            case .double: return Self.double(Double(bitPattern: word))
            case .date: return Self.tagged("$date", JSONScalar.date(Double(bitPattern: word)))
            case .data: return Self.tagged("$binary", .string(Data(bytes).base64EncodedString()))
            case .objectId: return Self.tagged("$oid", .string(JSONScalar.hexadecimal(bytes)))
            case .uuid: return Self.tagged("$uuid", .string(JSONScalar.uuid(bytes)))
            case .decimal128:
                let json = JSONScalar.decimalJSON(bytes)
                if case .number(let text) = json { return Self.tagged("$numberDecimal", .string(text)) }
                return Self.tagged("$numberDecimal", json)
            // The bytes of such a value contain numbers of types and rows that are valid only in the Realm file of a
            // client.
            case .object, .list, .map: throw Self.otherKind
            }
        }
    }

    // A `Double` without a fraction gets a tag, because it would be read as an integer. For example, PostgreSQL writes
    // 1e300 as 301 digits.
    private static func double(_ number: Double) -> JSONValue {
        if JSONScalar.special(number) == nil, number.rounded() != number { return .number("\(number)") }
        return tagged("$numberDouble", self.number(number))
    }

    private static func number<Number: BinaryFloatingPoint & CustomStringConvertible>(_ number: Number) -> JSONValue {
        .string(JSONScalar.special(number) ?? "\(number)")
    }

    // MARK: From JSON

    func anyValue(_ json: JSONValue, _ path: String, _ problems: inout [String]) -> SyncValue {
        if let value = anyValue(json, depth: 0) { return value }
        problems.append(
            "'\(path)' contains an object with a member '$…' that stands for no value, or is nested too deeply")
        return .null
    }

    private func anyValue(_ json: JSONValue, depth: Int) -> SyncValue? {
        switch json {
        case .null: return .null
        case .bool(let flag): return .scalar(AnyValueTag.bool.tagged([flag ? 1 : 0]))
        case .string(let text): return .scalar(.text(text))
        case .number(let text):
            if let whole = Int64(text) { return .scalar(.integer(whole)) }
            return JSONScalar.finite(text).map { .scalar(Self.stored($0)) }
        case .array(let values):
            guard depth < AnyValue.maximumDepth else { return nil }
            var elements: [SyncValue] = []
            for value in values {
                guard let element = anyValue(value, depth: depth + 1) else { return nil }
                elements.append(element)
            }
            return .list(elements)
        case .object(let members):
            guard members.count == 1, members[0].name.utf8.first == UInt8(ascii: "$") else {
                return map(members, depth)
            }
            return tagged(members[0], depth)
        }
    }

    private func map(_ members: [JSONMember], _ depth: Int) -> SyncValue? {
        guard depth < AnyValue.maximumDepth else { return nil }
        var entries: [MapEntry] = []
        for member in members {
            guard let value = anyValue(member.value, depth: depth + 1) else { return nil }
            entries.append(MapEntry(key: member.name, value: value))
        }
        return .map(MapEntry.sorted(entries))
    }

    private static func stored(_ number: Double) -> SQLValue {
        FloatingSpecials.needsBits(number)
            ? AnyValueTag.double.tagged(AnyValueTag.bigEndian(number.bitPattern)) : .real(number)
    }

    private func tagged(_ member: JSONMember, _ depth: Int) -> SyncValue? {
        func bytes(_ scalar: ScalarType, _ tag: AnyValueTag) -> SyncValue? {
            guard case .string(let text) = member.value else { return nil }
            return JSONScalar.bytes(text, scalar).map { .scalar(tag.tagged($0)) }
        }
        switch (member.name, member.value) {
        case ("$numberDouble", .string(let text)):
            return (JSONScalar.specialNumber(text) ?? JSONScalar.finite(text)).map { .scalar(Self.stored($0)) }
        case ("$numberFloat", .string(let text)):
            let number = JSONScalar.specialNumber(text).map { Float($0) } ?? Float(text)
            return number.map { .scalar(AnyValueTag.float.tagged(AnyValueTag.bigEndian(UInt64($0.bitPattern)))) }
        case ("$numberDecimal", .string(let text)):
            let special = JSONScalar.bytes(text, .decimal128)
            return (special ?? DecimalNumber(text)?.bytes).map { .scalar(AnyValueTag.decimal128.tagged($0)) }
        case ("$date", let json):
            guard case .real(let seconds)? = JSONScalar.value(json, .scalar(.date)) else { return nil }
            return .scalar(AnyValueTag.date.tagged(AnyValueTag.bigEndian(seconds.bitPattern)))
        case ("$binary", _): return bytes(.data, .data)
        case ("$oid", _): return bytes(.objectId, .objectId)
        case ("$uuid", _): return bytes(.uuid, .uuid)
        case ("$link", .object(let members)): return link(members)
        case ("$map", .object(let members)): return map(members, depth)
        default: return nil
        }
    }

    private func link(_ members: [JSONMember]) -> SyncValue? {
        guard members.count == 2, case .string(let name)? = members.first(where: { $0.isNamed("type") })?.value,
            let type = schema.number(of: name), let key = members.first(where: { $0.isNamed("key") })?.value
        else { return nil }
        return target(key, type).map(SyncValue.link)
    }
}
