import MartletSchema

/// Checks the literals of rules. A literal must fit the type of the value with which the rule compares it.
extension Resolver {
    mutating func ruleLiteral(_ literal: RuleOperandSyntax, for path: RulePath) -> RuleLiteral? {
        switch path.value {
        case .scalar(let kind): ruleLiteral(literal, kind, path)
        case .enumeration(let name, let raw): enumLiteral(literal, name, raw, path)
        case .link, .embedded: nil
        }
    }

    private mutating func ruleLiteral(
        _ literal: RuleOperandSyntax, _ kind: ScalarKind, _ path: RulePath
    ) -> RuleLiteral? {
        switch (kind, literal.content) {
        case (.bool, .bool(let value)): return .bool(value)
        case (.string, .string(let text)): return .string(text)
        case (.uuid, .uuid(let bytes)): return .uuid(bytes)
        case (.uuid, .string(let text)):
            if let bytes = ByteText.uuid(text) { return .uuid(bytes) }
        case (.objectId, .objectId(let bytes)): return .objectId(bytes)
        case (.objectId, .string(let text)):
            if let bytes = ByteText.hexadecimal(text), bytes.count == 12 { return .objectId(bytes) }
        case (_, .number(let text)):
            if let number = Self.number(text, kind) { return number }
        default: break
        }
        return mismatch(literal, path, Self.advice(kind))
    }

    private static func advice(_ kind: ScalarKind) -> String {
        switch kind {
        case .bool: "write 'true' or 'false'"
        case .int, .int8, .int16, .int32, .int64:
            "write a whole number from \(-(Int64.max >> Int64(64 - (kind.integerBits ?? 64))) - 1) to "
                + "\(Int64.max >> Int64(64 - (kind.integerBits ?? 64)))"
        case .float, .double, .decimal128: "write a number that it can hold"
        case .string: "write a text in quotes"
        case .uuid: "write 8-4-4-4-12 hexadecimal digits in quotes"
        case .objectId: "write 24 hexadecimal digits in quotes"
        case .data, .date, .anyValue: "a rule compares it only with nil"
        }
    }

    /// The number in a text; nil if the text is not a number of this type.
    private static func number(_ text: String, _ kind: ScalarKind) -> RuleLiteral? {
        if let bits = kind.integerBits {
            guard case .value(let value) = WholeNumber(text) else { return nil }
            let largest = Int64.max >> Int64(64 - bits)
            return value >= -largest - 1 && value <= largest ? .integer(value) : nil
        }
        guard let number = DecimalNumber(text), kind == .float || kind == .double || kind == .decimal128 else {
            return nil
        }
        let fits =
            switch kind {
            case .float: Float(number.text).map { $0.isFinite && ($0 != 0 || number.isZero) } ?? false
            case .double: Double(number.text).map { $0.isFinite && ($0 != 0 || number.isZero) } ?? false
            default: number.fitsDecimal128
            }
        guard fits else { return nil }
        if case .value(let value) = WholeNumber(text) { return .integer(value) }
        return .number(number.text)
    }

    /// Resolves a literal with which a rule compares a claim. An invalid literal is reported, and the result is nil.
    mutating func claimLiteral(_ literal: RuleOperandSyntax, _ relation: RuleRelation) -> RuleLiteral? {
        var value: RuleLiteral?
        var hasOrder = false
        switch literal.content {
        case .null: value = .null
        case .bool(let flag): value = .bool(flag)
        case .string(let text): (value, hasOrder) = (.string(text), true)
        case .number(let text): (value, hasOrder) = (Self.number(text, .decimal128), true)
        case .uuid, .objectId, .path, .claim, .invalid: break
        }
        guard let value else {
            report(
                .badRule, "a claim can be compared with a number, a text or a boolean; write one of these",
                at: literal.span)
            return nil
        }
        if relation.isOrder, !hasOrder {
            report(.badRule, "'\(relation.rawValue)' needs a number or a text; write one here", at: literal.span)
            return nil
        }
        return value
    }

    private mutating func mismatch(
        _ literal: RuleOperandSyntax, _ path: RulePath, _ advice: String
    ) -> RuleLiteral? {
        report(
            .badRule, "this value does not fit '\(path.text)', which is '\(path.value.name)'; \(advice)",
            at: literal.span)
        return nil
    }

    // MARK: Enums

    private mutating func enumLiteral(
        _ literal: RuleOperandSyntax, _ name: String, _ raw: EnumRawKind, _ path: RulePath
    ) -> RuleLiteral? {
        guard let model = enums[name] else { return nil }
        var value: RuleLiteral?
        switch literal.content {
        case .string(let text) where raw == .string: value = .string(text)
        case .number(let text) where raw == .int:
            if case .value(let number) = WholeNumber(text) { value = .integer(number) }
        default: break
        }
        let known = model.syntax.cases.compactMap { storedValue($0, raw) }
        if let value, known.contains(value) || model.syntax.isIncomplete { return value }
        if model.syntax.isIncomplete { return nil }
        let cases = model.names.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
        return mismatch(
            literal, path, "write one of its cases, without quotes: \(cases)\(model.names.count > 3 ? ", …" : "")")
    }

    private func storedValue(_ item: EnumCaseSyntax, _ raw: EnumRawKind) -> RuleLiteral? {
        guard raw == .int else { return .string(item.rawValue?.text ?? item.name.value) }
        guard let text = item.rawValue?.text, case .value(let value) = WholeNumber(text) else { return nil }
        return .integer(value)
    }

    /// The enum to which a path leads; nil if the operand is not a valid path to an enum. An invalid path is not
    /// reported.
    func enumName(_ operand: RuleOperandSyntax, _ scope: ObjectScope) -> String? {
        guard case .path(let names, _) = operand.content else { return nil }
        var scope: ObjectScope? = scope
        var type: PropertyTypeModel?
        for name in names {
            type = scope?.members[name.value]?.type
            scope = type?.value.objectName.flatMap { scopes[$0] }
        }
        guard case .enumeration(let name, _) = type?.value, type?.isSingle == true else { return nil }
        return name
    }

    /// The stored value of the enum case that the operand names; nil if the operand is a property or not a name. A name
    /// that is neither a case nor a property is reported, and the result is `invalid`.
    mutating func caseLiteral(
        _ operand: RuleOperandSyntax, of enumName: String?, _ scope: ObjectScope
    ) -> RuleOperandSyntax? {
        guard let enumName, let model = enums[enumName], let raw = model.syntax.raw,
            case .path(let names, isEscaped: false) = operand.content, names.count == 1
        else { return nil }
        let name = names[0]
        guard let item = model.syntax.cases.first(where: { $0.name.value == name.value }) else {
            guard scope.members[name.value] == nil, !scope.ignored.contains(name.value), !model.syntax.isIncomplete
            else { return nil }
            reportMissing(
                .badRule, "'\(enumName)' has no case '\(name.value.shortened)'", name, among: model.names,
                label: "no such case",
                notes: [DiagnosticNote("'\(enumName)' is declared here", at: model.syntax.name.span)])
            return RuleOperandSyntax(content: .invalid, span: operand.span)
        }
        recordReference(.enumCase(owner: enumName, name: name.value), at: name.span)
        switch storedValue(item, raw) {
        case .string(let text): return RuleOperandSyntax(content: .string(text), span: operand.span)
        case .integer(let number): return RuleOperandSyntax(content: .number("\(number)"), span: operand.span)
        default: return nil
        }
    }
}
