import MartletSchema

/// A rule as written. Names are not resolved, and types are not checked.
indirect enum RuleSyntax {
    case constant(Bool)
    case and([RuleSyntax])
    case or([RuleSyntax])
    case not(RuleSyntax)
    /// A property or a claim as a condition, which holds if the value is true.
    case value(RuleOperandSyntax)
    case comparison(RuleOperandSyntax, Spanned<RuleRelation>, RuleOperandSyntax)
    case oneOf(RuleOperandSyntax, [RuleOperandSyntax])
    /// `IN` with a claim instead of a list.
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
        /// A diagnostic was reported.
        case invalid
    }

    let content: Content
    let span: SourceSpan
}

/// The text of one rule, parsed.
struct ParsedRule {
    let syntax: RuleSyntax
    /// The range of the text in the file.
    let span: SourceSpan
}

/// Why a rule cannot be parsed.
struct RuleSyntaxError: Error {
    /// Begins in lower case and says what to write.
    let message: String
    /// The range in the text of the rule.
    let range: Range<Int>
}
