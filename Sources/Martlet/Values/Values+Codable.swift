import Foundation

extension ObjectId: Codable {
    /// Encodes the 24 hexadecimal digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }

    /// The id that a decoder gives as 24 hexadecimal digits.
    ///
    /// - Throws: `DecodingError` for anything else.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let id = try? ObjectId(string: text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "'\(text)' is no ObjectId: expected 24 hexadecimal digits")
        }
        self = id
    }
}

extension Decimal128: Codable {
    /// Encodes the digits as a string: numbers of JSON have fewer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// The number that a decoder gives as a string, or as a whole number.
    ///
    /// - Throws: `DecodingError` for anything else: other numbers have lost digits already.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let whole = try? container.decode(Int.self) {
            self.init(whole)
            return
        }
        let text = try container.decode(String.self)
        guard let number = try? Decimal128(string: text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "'\(text)' is no decimal number of at most 34 digits: write it as in \"-12.50\"")
        }
        self = number
    }
}

extension AnyRealmValue: Codable {
    // What plain values cannot tell apart is wrapped with its kind.
    private enum Kind: String, CodingKey, CaseIterable {
        case float, double, data, date, decimal128, objectId, uuid
    }

    /// Encodes nothing, booleans, integers, fractions and strings as they are, and other kinds as `{"date": …}`: what is
    /// decoded is of the same kind.
    public func encode(to encoder: any Encoder) throws {
        func encode(_ value: some Encodable) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
        func encode(_ kind: Kind, _ value: some Encodable) throws {
            var container = encoder.container(keyedBy: Kind.self)
            try container.encode(value, forKey: kind)
        }
        switch self {
        case .none:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try encode(value)
        case .int(let value): try encode(value)
        case .string(let value): try encode(value)
        // Written without a fraction it would come back as an integer.
        case .double(let value) where value.rounded() != value: try encode(value)
        case .double(let value): try encode(.double, value)
        case .float(let value): try encode(.float, value)
        case .data(let value): try encode(.data, value)
        case .date(let value): try encode(.date, value)
        case .decimal128(let value): try encode(.decimal128, value)
        case .objectId(let value): try encode(.objectId, value)
        case .uuid(let value): try encode(.uuid, value)
        }
    }

    /// The value that a decoder gives, of the kind that was encoded.
    ///
    /// - Throws: `DecodingError` for arrays, and for objects that name no kind.
    public init(from decoder: any Decoder) throws {
        if let plain = Self.plain(decoder) {
            self = plain
            return
        }
        let container = try decoder.container(keyedBy: Kind.self)
        guard let kind = container.allKeys.first else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "the value names no kind: expected one of "
                        + Kind.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")))
        }
        self =
            switch kind {
            case .float: .float(try container.decode(Float.self, forKey: kind))
            case .double: .double(try container.decode(Double.self, forKey: kind))
            case .data: .data(try container.decode(Data.self, forKey: kind))
            case .date: .date(try container.decode(Date.self, forKey: kind))
            case .decimal128: .decimal128(try container.decode(Decimal128.self, forKey: kind))
            case .objectId: .objectId(try container.decode(ObjectId.self, forKey: kind))
            case .uuid: .uuid(try container.decode(UUID.self, forKey: kind))
            }
    }

    private static func plain(_ decoder: any Decoder) -> AnyRealmValue? {
        guard let container = try? decoder.singleValueContainer() else { return nil }
        if container.decodeNil() { return AnyRealmValue.none }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int.self) { return .int(value) }
        if let value = try? container.decode(Double.self) { return .double(value) }
        return (try? container.decode(String.self)).map { .string($0) }
    }
}
