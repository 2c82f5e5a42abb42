import MartletSchema
import SwiftParser
import SwiftSyntax

/// Reads expressions. An expression that a schema cannot express becomes `.other`.
struct ValueReader {
    let locator: SourceLocator

    func read(_ expression: ExprSyntax) -> ValueExpression {
        ValueExpression(
            form: form(of: expression), text: expression.lineText, span: locator.span(of: expression),
            isForced: isForced(expression))
    }

    private func isForced(_ expression: ExprSyntax) -> Bool {
        if expression.is(ForceUnwrapExprSyntax.self) { return true }
        return wrapped(by: expression).map(isForced) ?? false
    }

    private func form(of expression: ExprSyntax) -> ValueExpression.Form {
        if expression.is(NilLiteralExprSyntax.self) { return .null }
        if let literal = expression.as(BooleanLiteralExprSyntax.self) {
            return .bool(literal.literal.tokenKind == .keyword(.true))
        }
        if let literal = expression.as(StringLiteralExprSyntax.self) {
            return literal.representedLiteralValue.map { .string($0) } ?? .other
        }
        if let number = number(expression) { return number }
        if let inner = wrapped(by: expression) { return form(of: inner) }
        if let array = expression.as(ArrayExprSyntax.self) {
            return .array(array.elements.map { read($0.expression) })
        }
        if let dictionary = expression.as(DictionaryExprSyntax.self) { return entries(of: dictionary) }
        if let sequence = expression.as(SequenceExprSyntax.self) { return cast(sequence) ?? .other }
        if let macro = expression.as(MacroExpansionExprSyntax.self) { return objectiveCKeyPath(macro) ?? .other }
        if let special = typedNil(expression) ?? utf8(expression) { return special }
        if let call = expression.as(FunctionCallExprSyntax.self), let callee = path(of: call.calledExpression) {
            let arguments = call.arguments.map {
                ValueExpression.Argument(label: $0.label?.plainText, value: read($0.expression))
            }
            guard call.trailingClosure == nil else { return .other }
            return .call(callee.names, generics: callee.generics, arguments: arguments)
        }
        return path(of: expression).map { .member($0.names) } ?? .other
    }

    /// Returns the expression inside parentheses, after `try` or `try!`, or before `!`.
    private func wrapped(by expression: ExprSyntax) -> ExprSyntax? {
        if let unwrap = expression.as(ForceUnwrapExprSyntax.self) { return unwrap.expression }
        // The result of 'try?' is optional, so 'try?' is not removed.
        if let attempt = expression.as(TryExprSyntax.self),
            attempt.questionOrExclamationMark?.tokenKind != .postfixQuestionMark
        {
            return attempt.expression
        }
        if let tuple = expression.as(TupleExprSyntax.self), tuple.elements.count == 1,
            let element = tuple.elements.first, element.label == nil
        {
            return element.expression
        }
        return nil
    }

    // MARK: Numbers

    private func number(_ expression: ExprSyntax) -> ValueExpression.Form? {
        if let prefix = expression.as(PrefixOperatorExprSyntax.self) {
            guard ["-", "+"].contains(prefix.operator.text) else { return nil }
            return literal(prefix.expression, sign: prefix.operator.text == "-" ? "-" : "")
        }
        return literal(expression, sign: "")
    }

    private func literal(_ expression: ExprSyntax, sign: String) -> ValueExpression.Form? {
        if let integer = expression.as(IntegerLiteralExprSyntax.self) {
            return integer.representedLiteralValue.map { .integer(sign + String($0)) } ?? .other
        }
        if let floating = expression.as(FloatLiteralExprSyntax.self) {
            let digits = floating.literal.text.filter { $0 != "_" }
            let text = digits.hasPrefix("0x") ? Double(digits).map { String($0) } : digits
            return text.map { .floating(sign + $0) } ?? .other
        }
        return nil
    }

    // MARK: Others

    private func entries(of dictionary: DictionaryExprSyntax) -> ValueExpression.Form {
        guard case .elements(let elements) = dictionary.content else { return .dictionary([]) }
        return .dictionary(elements.map { (read($0.key), read($0.value)) })
    }

    /// Reads `String?.none` and `Optional<String>.none` as `nil as String?`.
    private func typedNil(_ expression: ExprSyntax) -> ValueExpression.Form? {
        guard let member = expression.as(MemberAccessExprSyntax.self), member.declName.baseName.plainText == "none",
            let base = member.base
        else { return nil }
        var wrapped: TypeExpression?
        if let chain = base.as(OptionalChainingExprSyntax.self), let path = path(of: chain.expression) {
            wrapped = TypeExpression(name: path.names.joined(separator: "."), path.generics)
        } else if let path = path(of: base), path.names == ["Optional"], path.generics.count == 1 {
            wrapped = path.generics[0]
        }
        guard let wrapped else { return nil }
        let null = ValueExpression(form: .null, text: "nil", span: locator.span(of: expression))
        return .cast(null, .optional(wrapped))
    }

    private func utf8(_ expression: ExprSyntax) -> ValueExpression.Form? {
        let call = expression.as(FunctionCallExprSyntax.self)
        guard let member = (call?.calledExpression ?? expression).as(MemberAccessExprSyntax.self),
            let text = member.base?.as(StringLiteralExprSyntax.self)?.representedLiteralValue
        else { return nil }
        guard let call else { return member.declName.baseName.plainText == "utf8" ? .utf8(text) : nil }
        guard member.declName.baseName.plainText == "data", call.arguments.count == 1,
            let argument = call.arguments.first, argument.label?.plainText == "using",
            path(of: argument.expression)?.names.last == "utf8"
        else { return nil }
        return .utf8(text)
    }

    /// Reads a cast such as `5 as Int8`. The parser does not fold operators, so a cast is a sequence of three elements.
    private func cast(_ sequence: SequenceExprSyntax) -> ValueExpression.Form? {
        let parts = Array(sequence.elements)
        guard parts.count == 3, parts[1].is(UnresolvedAsExprSyntax.self), let type = parts[2].as(TypeExprSyntax.self)
        else { return nil }
        return .cast(read(parts[0]), TypeExpression(type.type))
    }

    /// Reads `#keyPath(Dog.name)` as the string `"name"`.
    private func objectiveCKeyPath(_ macro: MacroExpansionExprSyntax) -> ValueExpression.Form? {
        guard macro.macroName.text == "keyPath", macro.arguments.count == 1, let argument = macro.arguments.first,
            let name = path(of: argument.expression)?.names.last
        else { return nil }
        return .string(name)
    }

    /// Returns the components of an expression such as `Size.small.rawValue`. A call is the component `()`, and an
    /// inferred type is an empty component.
    private func path(of expression: ExprSyntax) -> (names: [String], generics: [TypeExpression])? {
        if let reference = expression.as(DeclReferenceExprSyntax.self) {
            return ([reference.baseName.plainText], [])
        }
        if let special = expression.as(GenericSpecializationExprSyntax.self) {
            guard let base = path(of: special.expression),
                case .generic(_, let generics) = TypeExpression(named: "", special.genericArgumentClause)
            else { return nil }
            return (base.names, generics)
        }
        if let call = expression.as(FunctionCallExprSyntax.self) {
            return path(of: call.calledExpression).map { ($0.names + ["()"], []) }
        }
        guard let member = expression.as(MemberAccessExprSyntax.self) else { return nil }
        let name = member.declName.baseName.plainText
        guard let base = member.base else { return (["", name], []) }
        guard let outer = path(of: base) else { return nil }
        let isModule = ["RealmSwift", "Swift", "Foundation"].contains(outer.names.joined())
        return (isModule ? [name] : outer.names + [name], outer.generics)
    }
}
