import MartletSQLite
import MartletValues

/// Stored values as text for messages.
enum ValueText {
    private static let maximumLength = 40

    static func text(_ value: SQLValue, _ element: ElementType) -> String {
        switch value {
        case .null: "nil"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): "'\(text.count > maximumLength ? text.prefix(maximumLength) + "…" : text[...])'"
        case .blob(let bytes):
            switch element {
            case .scalar(.uuid), .scalar(.objectId): "'\(ValueConversion.hexadecimal(bytes, element))'"
            case .scalar(.any): anyText(bytes)
            default: size(bytes)
            }
        }
    }

    private static func anyText(_ bytes: [UInt8]) -> String {
        let value = SQLValue.blob(bytes)
        if let number = ValueConversion.number(tagged: bytes) {
            return value.tag == .float ? "\(Float(number))" : "\(number)"
        }
        return AnyValue(value).map { "a '\($0.kind)'" } ?? size(bytes)
    }

    private static func size(_ bytes: [UInt8]) -> String { bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes" }
}
