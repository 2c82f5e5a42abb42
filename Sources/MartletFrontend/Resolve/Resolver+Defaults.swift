import MartletSchema

/// Checks each default against the type of its property.
extension Resolver {
    mutating func checkDefault(
        _ literal: LiteralSyntax, _ type: PropertyTypeModel, of property: PropertySyntax
    ) -> DefaultModel? {
        guard type.isSingle else {
            return reportBadDefault(literal, "a collection begins empty; remove the default", removesDefault: true)
        }
        switch type.value {
        case .link, .embedded:
            return reportBadDefault(literal, "a link begins as nil; remove the default", removesDefault: true)
        case .enumeration(let name, _): return checkCase(literal, of: name)
        case .scalar(let kind):
            if literal.form == .bare, ["nil", "null", "~"].contains(literal.text) {
                let reason = type.isOptional ? "an optional begins as nil" : "'\(kind.rawValue)' is not optional"
                return reportBadDefault(literal, "\(reason); remove the default", removesDefault: true)
            }
            return checkScalar(literal, kind)
        }
    }

    private mutating func checkScalar(_ literal: LiteralSyntax, _ kind: ScalarKind) -> DefaultModel? {
        switch kind {
        case .bool: checkBool(literal)
        case .int, .int8, .int16, .int32, .int64: checkInteger(literal, kind)
        case .float, .double: checkFloating(literal, kind)
        case .string: checkString(literal)
        case .data: checkData(literal)
        case .date: checkDate(literal)
        case .uuid: checkUUID(literal)
        case .objectId: checkObjectId(literal)
        case .decimal128: checkDecimal(literal)
        case .anyValue: checkAnyValue(literal)
        }
    }

    private mutating func checkCase(_ literal: LiteralSyntax, of name: String) -> DefaultModel? {
        guard let symbol = enums[name] else { return nil }
        let (syntax, cases) = (symbol.syntax, symbol.cases)
        if literal.form == .bare, cases.contains(literal.text) {
            recordReference(.enumCase(owner: name, name: literal.text), at: literal.span)
            return .enumCase(literal.text)
        }
        let bare = literal.text.hasPrefix(".") ? String(literal.text.dropFirst()) : literal.text
        if cases.contains(bare) {
            return reportBadDefault(
                literal, "a case is written without dot and quotes; write '\(bare)'", replacement: bare)
        }
        if ["nil", "null", "~"].contains(literal.text) {
            return reportBadDefault(literal, "nil is not a case of '\(name)'; remove the default", removesDefault: true)
        }
        guard !syntax.isIncomplete else { return nil }
        reportMissing(
            .badDefault, "'\(name)' has no case '\(literal.text.shortened)'", Spanned(literal.text, literal.span),
            among: symbol.names, label: "no such case",
            notes: [DiagnosticNote("'\(name)' is declared here", at: syntax.name.span)])
        return nil
    }

    private mutating func checkBool(_ literal: LiteralSyntax) -> DefaultModel? {
        if literal.form == .bare {
            if literal.text == "true" || literal.text == "false" { return .bool(literal.text == "true") }
            if let word = BooleanWord(literal.text) {
                return ambiguous(literal, "a boolean", "\(word.value)", .safe)
            }
        }
        return mismatch(literal, .bool, "write 'true' or 'false'")
    }

    private mutating func checkInteger(_ literal: LiteralSyntax, _ kind: ScalarKind) -> DefaultModel? {
        let bits = kind.integerBits ?? 64
        let largest = Int64.max >> Int64(64 - bits)
        let range = "\(-largest - 1) to \(largest)"
        guard literal.form == .bare else { return mismatch(literal, kind, "write a whole number without quotes") }
        switch WholeNumber(literal.text) {
        case .value(let value) where value >= -largest - 1 && value <= largest: return .integer(value)
        case .value, .tooLarge:
            return reportBadDefault(
                literal, "'\(literal.text.shortened)' does not fit '\(kind.rawValue)', which holds \(range)")
        case .ambiguous(let corrected, let isCertain):
            let fits = Int64(corrected).map { $0 >= -largest - 1 && $0 <= largest } == true
            return ambiguous(literal, "a number", corrected, isCertain && fits ? .safe : .suggested)
        case .none: return mismatch(literal, kind, "write a whole number")
        }
    }

    private mutating func checkFloating(_ literal: LiteralSyntax, _ kind: ScalarKind) -> DefaultModel? {
        guard literal.form == .bare else { return mismatch(literal, kind, "write a number without quotes") }
        if case .ambiguous(let corrected, let isCertain) = WholeNumber(literal.text) {
            return ambiguous(literal, "a number", corrected, isCertain ? .safe : .suggested)
        }
        guard let number = DecimalNumber(literal.text) else {
            return mismatch(literal, kind, "write a number such as 0.5")
        }
        guard let value = Double(number.text), value.isFinite, kind == .double || Float(value).isFinite else {
            return reportBadDefault(
                literal, "'\(literal.text.shortened)' does not fit '\(kind.rawValue)'; write a number closer to 0")
        }
        guard number.isZero || (kind == .double ? value != 0 : Float(value) != 0) else {
            return reportBadDefault(
                literal,
                "'\(literal.text.shortened)' is too small for '\(kind.rawValue)', which would make it 0; write 0")
        }
        return .floating(value)
    }

    private mutating func checkString(_ literal: LiteralSyntax) -> DefaultModel? {
        if literal.form == .quoted { return .string(literal.text) }
        let isWord = literal.text.unicodeScalars.allSatisfy(QuotingRules.isWordCharacter)
        let looksLikeOtherType = literal.text == "true" || literal.text == "false" || DecimalNumber(literal.text) != nil
        if isWord, !looksLikeOtherType { return .string(literal.text) }
        let inside = QuotingRules.unquoted(literal.text)
        let text = inside ?? literal.text
        let quoted = "\"\(text)\""
        let isPlain = !text.utf8.contains(Byte.doubleQuote) && !text.utf8.contains(Byte.backslash)
        let reason =
            inside == nil
            ? "text that is not one plain word needs quotes"
            : "these characters are not quotes in the schema language"
        return reportBadDefault(
            literal, isPlain ? "\(reason); write '\(quoted)'" : "\(reason); write \" before and after it",
            replacement: isPlain ? quoted : nil)
    }

    private mutating func checkData(_ literal: LiteralSyntax) -> DefaultModel? {
        guard literal.form == .quoted, let bytes = ByteText.base64(literal.text) else {
            return mismatch(literal, .data, "write Base64 in quotes")
        }
        return .data(bytes)
    }

    private mutating func checkDate(_ literal: LiteralSyntax) -> DefaultModel? {
        if literal.form == .bare, literal.text == "now" { return .now }
        switch DateText.parse(literal.text) {
        case .seconds(let seconds): return .date(seconds)
        case .noZone:
            let corrected = literal.form == .quoted ? "\"\(literal.text)Z\"" : "\(literal.text)Z"
            return reportBadDefault(
                literal, "a time of day needs its zone; write '\(corrected)' for UTC", replacement: corrected)
        case .none: return mismatch(literal, .date, "write 'now' or a date such as 2024-05-31T12:00:00Z")
        }
    }

    private mutating func checkUUID(_ literal: LiteralSyntax) -> DefaultModel? {
        if literal.form == .bare, literal.text == "new" { return .newUUID }
        guard let bytes = ByteText.uuid(literal.text) else {
            return mismatch(literal, .uuid, "write 'new' or 8-4-4-4-12 hexadecimal digits")
        }
        return .uuid(bytes)
    }

    private mutating func checkObjectId(_ literal: LiteralSyntax) -> DefaultModel? {
        if literal.form == .bare, literal.text == "new" { return .newObjectId }
        guard let bytes = ByteText.hexadecimal(literal.text), bytes.count == 12 else {
            return mismatch(literal, .objectId, "write 'new' or 24 hexadecimal digits")
        }
        return .objectId(bytes)
    }

    private mutating func checkDecimal(_ literal: LiteralSyntax) -> DefaultModel? {
        if literal.form == .bare, case .ambiguous(let corrected, let isCertain) = WholeNumber(literal.text) {
            return ambiguous(literal, "a number", corrected, isCertain ? .safe : .suggested)
        }
        guard let number = DecimalNumber(literal.text) else {
            return mismatch(literal, .decimal128, "write a number such as 19.95")
        }
        guard number.fitsDecimal128 else {
            let limit = number.hasTooManyDigits ? "34 digits" : "exponents from -6176 to 6144"
            return reportBadDefault(
                literal, "'\(literal.text.shortened)' does not fit 'Decimal128', which holds \(limit)")
        }
        return .decimal128(number.text)
    }

    private mutating func checkAnyValue(_ literal: LiteralSyntax) -> DefaultModel? {
        if literal.form == .quoted { return .string(literal.text) }
        if literal.text == "true" || literal.text == "false" { return .bool(literal.text == "true") }
        switch WholeNumber(literal.text) {
        case .value(let value): return .integer(value)
        case .ambiguous(let corrected, let isCertain):
            return ambiguous(literal, "a number", corrected, isCertain ? .safe : .suggested)
        case .tooLarge, .none: break
        }
        if let number = DecimalNumber(literal.text), let value = Double(number.text), value.isFinite {
            return .floating(value)
        }
        return mismatch(literal, .anyValue, "write 'true', 'false', a number or text in quotes")
    }

    // MARK: Findings

    private mutating func mismatch(_ literal: LiteralSyntax, _ kind: ScalarKind, _ advice: String) -> DefaultModel? {
        reportBadDefault(literal, "'\(literal.text.shortened)' is not a default for '\(kind.rawValue)'; \(advice)")
    }

    private mutating func ambiguous(
        _ literal: LiteralSyntax, _ what: String, _ corrected: String, _ applicability: Fix.Applicability
    ) -> DefaultModel? {
        report(
            .ambiguousScalar, "'\(literal.text.shortened)' is \(what) only in some YAML versions; write '\(corrected)'",
            at: literal.span, help: "write '\(corrected)'",
            fixes: [Fix("write '\(corrected)'", applicability, [Edit(literal.span, corrected)])])
        return nil
    }

    private mutating func reportBadDefault(
        _ literal: LiteralSyntax, _ message: String, replacement: String? = nil, removesDefault: Bool = false
    ) -> DefaultModel? {
        var fixes: [Fix] = []
        if let replacement {
            fixes.append(Fix("write '\(replacement)'", .suggested, [Edit(literal.span, replacement)]))
        }
        if removesDefault, let removal = literal.removal {
            fixes.append(Fix("remove the default", .suggested, [Edit(removal, "")]))
        }
        report(.badDefault, message, at: literal.span, help: fixes.first?.title, fixes: fixes)
        return nil
    }
}
