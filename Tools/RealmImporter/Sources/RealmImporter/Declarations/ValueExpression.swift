import MartletSchema

/// A default, as far as a schema could say it.
struct ValueExpression {
    indirect enum Form {
        case null
        case bool(Bool)
        /// Decimal digits, with a sign where negative.
        case integer(String)
        /// As written, without `_`.
        case floating(String)
        case string(String)
        /// `["a", "b"]`.
        case array([ValueExpression])
        /// `["a": "b"]`.
        case dictionary([(key: ValueExpression, value: ValueExpression)])
        /// `Size.small`, `.small`, `Size.small.rawValue`; an empty first part is the type that is expected.
        case member([String])
        /// `UUID()`, `ObjectId.generate()`, `.init()`, `List<Dog>()`.
        case call([String], generics: [TypeExpression], arguments: [Argument])
        /// `"text".utf8`, `"text".data(using: .utf8)!`.
        case utf8(String)
        /// `5 as Int8`; `String?.none` is nil as `String?`.
        case cast(ValueExpression, TypeExpression)
        case other
    }

    struct Argument {
        let label: String?
        let value: ValueExpression
    }

    let form: Form
    /// As written, in one line.
    let text: String
    let span: SourceSpan
    /// With `!` behind it, so that it is not optional.
    var isForced = false
}

extension ValueExpression {
    var isNull: Bool { if case .null = form { true } else { false } }

    var string: String? { if case .string(let text) = form { text } else { nil } }

    /// Texts of an array, or nil where it holds anything else.
    var strings: [String]? {
        guard case .array(let items) = form else { return nil }
        let texts = items.compactMap(\.string)
        return texts.count == items.count ? texts : nil
    }
}
