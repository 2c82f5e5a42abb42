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

    /// The number that a decoder gives as a string or as a number.
    ///
    /// A number of JSON keeps up to 38 digits; other decoders may have rounded it already. A string keeps all digits.
    ///
    /// - Throws: `DecodingError` for anything else.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = Decimal128.number(in: container) {
            self = number
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

    private static func number(in container: any SingleValueDecodingContainer) -> Decimal128? {
        if let whole = try? container.decode(Int.self) { return Decimal128(whole) }
        // Asked first: what is no number at all costs a decoder of decimals a search.
        guard let double = try? container.decode(Double.self) else { return nil }
        if let exact = try? container.decode(Decimal.self), exact.isFinite {
            return try? Decimal128(string: "\(exact)")
        }
        return try? Decimal128(string: "\(double)")
    }
}
