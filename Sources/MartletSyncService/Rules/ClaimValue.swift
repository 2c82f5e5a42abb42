import Foundation

/// A JSON value in a token or in a key set.
///
/// `JSONSerialization` does not distinguish `true` from 1, so this type decodes JSON with `JSONDecoder`.
package enum ClaimValue: Sendable, Equatable, Codable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case list([ClaimValue])
    case object([String: ClaimValue])

    /// Parses JSON. Returns nil if the bytes are not JSON.
    package init?(bytes: [UInt8]) {
        guard let value = try? JSONDecoder().decode(ClaimValue.self, from: Data(bytes)) else { return nil }
        self = value
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .real(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([ClaimValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: ClaimValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// The value as JSON text, with the members of objects in the order of their names.
    package var encoded: String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A member of an object; nil if it is missing or null.
    package subscript(_ name: String) -> ClaimValue? {
        guard case .object(let members) = self, let member = members[name], member != .null else { return nil }
        return member
    }

    package var text: String? { if case .text(let text) = self { text } else { nil } }
    package var list: [ClaimValue]? { if case .list(let list) = self { list } else { nil } }
    package var isObject: Bool { if case .object = self { true } else { false } }

    package var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }

    /// True if a text in the value contains NUL, which PostgreSQL refuses.
    package var containsNUL: Bool {
        switch self {
        case .text(let text): text.unicodeScalars.contains("\0")
        case .list(let list): list.contains(where: \.containsNUL)
        case .object(let members): members.contains { $0.key.unicodeScalars.contains("\0") || $0.value.containsNUL }
        case .null, .bool, .integer, .real: false
        }
    }
}
