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
            default: "\(bytes.count) bytes"
            }
        }
    }
}
