import Foundation

extension ObjectId: Codable {
    /// Encodes the 24 hexadecimal digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }

    /// Decodes 24 hexadecimal digits.
    ///
    /// - Throws: `DecodingError` if the value is not a string of 24 hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let id = try? ObjectId(string: text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "'\(text)' is not an ObjectId: expected 24 hexadecimal digits")
        }
        self = id
    }
}

extension Decimal128: Codable {
    /// Encodes the digits as a string, because many JSON decoders round numbers.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Decodes a string or a number.
    ///
    /// A string keeps all its digits. A number keeps all its digits if a JSON decoder reads it and Foundation's
    /// `Decimal` can represent it. Any other number may be rounded to a `Double`.
    ///
    /// - Throws: `DecodingError` if the value is not a number, or has more than 34 significant digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let whole = try? container.decode(Int.self) {
            self = Decimal128(whole)
            return
        }
        let text = try Decimal128.numberText(in: container) ?? container.decode(String.self)
        guard let number = try? Decimal128(string: text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "'\(text)' is not a decimal number of at most 34 digits: write it as in \"-12.50\"")
        }
        self = number
    }

    // The digits of a number; nil for a string.
    private static func numberText(in container: any SingleValueDecodingContainer) -> String? {
        // `Double` is decoded first, because decoding `Decimal` is expensive if the content is not a number.
        guard let double = try? container.decode(Double.self) else { return nil }
        if let exact = try? container.decode(Decimal.self), exact.isFinite { return "\(exact)" }
        return "\(double)"
    }
}
