import MartletSchema

/// A rule as the schema contains it. Its names are not resolved, and its types are not checked.
indirect enum RuleSyntax {
    case constant(Bool)
    case and([RuleSyntax])
    case or([RuleSyntax])
    case not(RuleSyntax)
    /// A property or a claim as a condition, which holds if the value is true.
    case value(RuleOperandSyntax)
    case comparison(RuleOperandSyntax, Spanned<RuleRelation>, RuleOperandSyntax)
    case oneOf(RuleOperandSyntax, [RuleOperandSyntax])
    /// The operator `IN` with a claim on its right side instead of a list of values.
    case contained(RuleOperandSyntax, RuleOperandSyntax)
}

/// One side of a comparison.
struct RuleOperandSyntax {
    enum Content {
        /// The names of a path. If the first name was written with `#`, it is never a case of an enum.
        case path([Spanned<String>], isEscaped: Bool)
        case claim([String])
        /// The text of a number.
        case number(String)
        case string(String)
        case bool(Bool)
        case null
        case uuid([UInt8])
        case objectId([UInt8])
        /// An operand for which a diagnostic was already reported.
        case invalid
    }

    let content: Content
    let span: SourceSpan
}

/// A rule after parsing, and its place in the file.
struct ParsedRule {
    let syntax: RuleSyntax
    /// The range of the text in the file.
    let span: SourceSpan
}

/// Why a rule cannot be parsed.
struct RuleSyntaxError: Error {
    /// The message begins with a lowercase letter and says what to write.
    let message: String
    /// The range in the text of the rule.
    let range: Range<Int>
}
