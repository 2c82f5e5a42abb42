/// A JSON value as PostgreSQL writes it. Numbers are stored as texts, so that no digit is lost.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])

    /// The kind of the value, for messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a text"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The value as JSON text.
    package var text: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let flag): text += flag ? "true" : "false"
        case .number(let digits): text += digits
        case .string(let content): Self.write(content, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                Self.write(member.name, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ content: String, to text: inout String) {
        text += "\""
        for scalar in content.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case _ where scalar.value < 32:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

/// A member of a JSON object.
package struct JSONMember: Sendable {
    package let name: String
    package let value: JSONValue

    package init(_ name: String, _ value: JSONValue) { (self.name, self.value) = (name, value) }

    /// True if the member has this name. Names are compared by their bytes, because PostgreSQL distinguishes names that
    /// Unicode considers equivalent.
    func isNamed(_ other: String) -> Bool { name.utf8.elementsEqual(other.utf8) }
}

/// The error for a text that is not JSON, or that is nested too deeply.
package struct MalformedJSON: Error {}

extension JSONValue {
    /// The greatest nesting depth that the parser accepts. The limit prevents a stack overflow.
    static let maximumDepth = 512

    /// Parses a text.
    package init(parsing text: String) throws(MalformedJSON) {
        var parser = JSONParser(Array(text.utf8))
        self = try parser.whole()
    }
}

private struct JSONParser {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func whole() throws(MalformedJSON) -> JSONValue {
        let value = try value(depth: JSONValue.maximumDepth)
        skipSpace()
        guard index == bytes.count else { throw MalformedJSON() }
        return value
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    }

    /// Skips spaces. If the next byte is the given character, consumes it and returns true.
    private mutating func skips(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func value(depth: Int) throws(MalformedJSON) -> JSONValue {
        skipSpace()
        guard depth > 0, index < bytes.count else { throw MalformedJSON() }
        switch bytes[index] {
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "["): return .array(try array(depth))
        case UInt8(ascii: "{"): return .object(try object(depth))
        default: return .number(try number())
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(MalformedJSON) -> JSONValue {
        let end = index + word.utf8CodeUnitCount
        guard end <= bytes.count, bytes[index..<end].elementsEqual("\(word)".utf8) else { throw MalformedJSON() }
        index = end
        return value
    }

    private mutating func number() throws(MalformedJSON) -> String {
        let start = index
        while index < bytes.count, Self.isInNumber(bytes[index]) { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        // `Double` would also accept a plus sign. It would accept `inf` and `0x1` too, but the loop above accepts no
        // letters except those of exponents.
        guard Double(text) != nil, text.first != "+" else { throw MalformedJSON() }
        return text
    }

    private static func isInNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private mutating func array(_ depth: Int) throws(MalformedJSON) -> [JSONValue] {
        index += 1
        if skips("]") { return [] }
        var values: [JSONValue] = []
        repeat { values.append(try value(depth: depth - 1)) } while skips(",")
        guard skips("]") else { throw MalformedJSON() }
        return values
    }

    private mutating func object(_ depth: Int) throws(MalformedJSON) -> [JSONMember] {
        index += 1
        if skips("}") { return [] }
        var members: [JSONMember] = []
        repeat {
            skipSpace()
            let name = try string()
            guard skips(":") else { throw MalformedJSON() }
            members.append(JSONMember(name, try value(depth: depth - 1)))
        } while skips(",")
        guard skips("}") else { throw MalformedJSON() }
        return members
    }

    private mutating func string() throws(MalformedJSON) -> String {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { throw MalformedJSON() }
        index += 1
        var content: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: content, as: UTF8.self) else { throw MalformedJSON() }
                return text
            case UInt8(ascii: "\\"): content += try escaped()
            default: content.append(byte)
            }
        }
        throw MalformedJSON()
    }

    private mutating func escaped() throws(MalformedJSON) -> [UInt8] {
        guard index < bytes.count else { throw MalformedJSON() }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "b"): return [8]
        case UInt8(ascii: "f"): return [12]
        case UInt8(ascii: "n"): return [10]
        case UInt8(ascii: "r"): return [13]
        case UInt8(ascii: "t"): return [9]
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "u"): return try codePoint()
        default: throw MalformedJSON()
        }
    }

    private mutating func codePoint() throws(MalformedJSON) -> [UInt8] {
        var value = try unit()
        if 0xD800..<0xDC00 ~= value {
            guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
            else { throw MalformedJSON() }
            index += 2
            let low = try unit()
            guard 0xDC00..<0xE000 ~= low else { throw MalformedJSON() }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw MalformedJSON() }
        return Array(String(scalar).utf8)
    }

    private mutating func unit() throws(MalformedJSON) -> UInt32 {
        guard index + 4 <= bytes.count, bytes[index..<index + 4].allSatisfy({ $0 != UInt8(ascii: "+") }),
            let value = UInt32(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
        else { throw MalformedJSON() }
        index += 4
        return value
    }
}
