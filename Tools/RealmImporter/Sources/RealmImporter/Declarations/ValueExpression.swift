import MartletSchema

/// An expression in a Swift file, such as the default of a property.
struct ValueExpression {
    indirect enum Form {
        case null
        case bool(Bool)
        /// Decimal digits, with a minus sign if negative.
        case integer(String)
        /// The digits without `_`.
        case floating(String)
        case string(String)
        /// `["a", "b"]`.
        case array([ValueExpression])
        /// `["a": "b"]`.
        case dictionary([(key: ValueExpression, value: ValueExpression)])
        /// `Size.small`, `.small`, `Size.small.rawValue`; the first component is empty if the type is inferred.
        case member([String])
        /// `UUID()`, `ObjectId.generate()`, `.init()`, `List<Dog>()`.
        case call([String], generics: [TypeExpression], arguments: [Argument])
        /// `"text".utf8`, `"text".data(using: .utf8)!`.
        case utf8(String)
        /// `5 as Int8`. `String?.none` is read as `nil as String?`.
        case cast(ValueExpression, TypeExpression)
        /// An expression that the importer does not convert.
        case other
    }

    struct Argument {
        let label: String?
        let value: ValueExpression
    }

    let form: Form
    /// The expression in one line.
    let text: String
    let span: SourceSpan
    /// Whether `!` unwraps the expression, so that its value is not optional.
    var isForced = false
}

extension ValueExpression {
    var isNull: Bool { if case .null = form { true } else { false } }

    var string: String? { if case .string(let text) = form { text } else { nil } }

    /// The strings of an array, or nil if it contains other elements.
    var strings: [String]? {
        guard case .array(let items) = form else { return nil }
        let texts = items.compactMap(\.string)
        return texts.count == items.count ? texts : nil
    }
}
