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
