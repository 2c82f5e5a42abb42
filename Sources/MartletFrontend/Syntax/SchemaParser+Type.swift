import MartletSchema

/// Parses the types of properties, and recovers from common mistakes, such as `[String]`, which YAML parses as a list.
extension SchemaParser {
    mutating func parseType(
        _ node: YAMLNode, of name: Spanned<String>
    ) -> (type: TypeSyntax?, defaultValue: LiteralSyntax?) {
        switch node {
        case .broken: return (nil, nil)
        case .mapping:
            report(.wrongShape, "the type of '\(name.value)' is text, not a mapping", at: node.span)
            return (nil, nil)
        case .sequence(let sequence):
            return (refuseBrackets(sequence, of: name), nil)
        case .scalar(let scalar) where scalar.isEmpty:
            report(
                .wrongShape, "property '\(name.value)' has no type; write one after the ':'", at: name.span,
                label: "needs a type")
            return (nil, nil)
        case .scalar(let scalar):
            let first = firstLine(scalar, of: name)
            let result = TypeExpressionParser.parse(first)
            diagnostics += result.diagnostics.map { explainingComment($0, in: first) }
            return (result.type, result.defaultValue)
        }
    }

    /// Returns the first line of a plain scalar, and reports the next line if the scalar continues there. The author
    /// usually meant that line as the next property.
    private mutating func firstLine(_ scalar: YAMLScalar, of name: Spanned<String>) -> YAMLScalar {
        guard scalar.isPlain, scalar.contentStart == nil else { return scalar }
        let first = source.lineIndex(at: scalar.span.start)
        guard source.lineIndex(at: scalar.span.end) > first else { return scalar }
        var next = first + 1
        var start = source.lineRange(next).lowerBound
        while start < scalar.span.end, source.bytes[start].isBlank || source.bytes[start].isLineBreak {
            if source.bytes[start].isLineBreak { next += 1 }
            start += 1
        }
        let line = source.lineIndex(at: start)
        let end = min(source.lineRange(line).upperBound, scalar.span.end)
        let span = SourceSpan(file: scalar.span.file, start: start, end: end)
        let text = source.text(of: span)
        let hasColon = text.utf8.contains(Byte.colon)
        let advice = hasColon ? "write a space after its ':' and indent it like '\(name.value)'" : "join the lines"
        report(
            .yamlMistake, "'\(text.shortened)' continues the type of '\(name.value)' on a new line; \(advice)",
            at: span,
            label: "part of the value above",
            notes: [DiagnosticNote("the value begins here", at: scalar.span.beginning)])
        var stop = source.lineRange(first).upperBound
        while stop > scalar.span.start, source.bytes[stop - 1].isBlank { stop -= 1 }
        let firstSpan = SourceSpan(file: scalar.span.file, start: scalar.span.start, end: stop)
        return YAMLScalar(
            text: source.text(of: firstSpan), span: firstSpan, style: .plain, contentStart: firstSpan.start)
    }

    /// Reports a YAML list at the position of a type. For `[String]` and `[String: Int]`, returns the list type or map
    /// type that the author most likely meant.
    private mutating func refuseBrackets(_ sequence: YAMLSequence, of name: Spanned<String>) -> TypeSyntax? {
        var element: YAMLScalar?
        var inside = ""
        if sequence.items.count == 1 {
            switch sequence.items[0] {
            case .scalar(let scalar):
                element = scalar
                inside = scalar.text
            case .mapping(let mapping) where mapping.entries.count == 1:
                element = mapping.entries[0].value.scalar
                inside = "\(mapping.entries[0].key.text): \(element?.text ?? "")"
            default: break
            }
        }
        guard sequence.isFlow, let element, let type = RecoveryRules.collectionType(inside) else {
            report(
                .wrongShape, "the type of '\(name.value)' is text, not a list; write 'List<…>' for a collection",
                at: sequence.span)
            return nil
        }
        report(
            .unknownType, "square brackets are not part of a type; write '\(type)'", at: sequence.span,
            help: "write '\(type)'",
            fixes: [
                Fix(
                    "write '\(type)'", RecoveryRules.isCertainCollection(inside) ? .safe : .suggested,
                    [Edit(sequence.span, type)])
            ])
        let parsed = TypeExpressionParser.parse(element).type
        return parsed.map {
            TypeSyntax(
                shape: type.hasPrefix("Map") ? .map : .list, name: $0.name, optional: $0.optional, outerOptional: nil,
                span: sequence.span)
        }
    }

    /// Reports `{String: Int}`, the syntax of map types in some other languages, and returns the map type.
    mutating func dictionaryType(_ mapping: YAMLMapping, of name: Spanned<String>) -> TypeSyntax? {
        guard mapping.isFlow, mapping.entries.count == 1, let entry = mapping.entries.first, entry.key.text.isName,
            !MappingKind.property.keys.contains(entry.key.text), ForeignTypes.scalar(for: entry.key.text) != nil,
            let value = entry.value.scalar, let type = RecoveryRules.collectionType("String: \(value.text)")
        else { return nil }
        report(
            .unknownType, "braces are not part of a type; write '\(type)'", at: mapping.span, help: "write '\(type)'",
            fixes: [
                Fix(
                    "write '\(type)'", RecoveryRules.isTextKey(entry.key.text) ? .safe : .suggested,
                    [Edit(mapping.span, type)])
            ])
        return TypeExpressionParser.parse(value).type.map {
            TypeSyntax(shape: .map, name: $0.name, optional: $0.optional, outerOptional: nil, span: mapping.span)
        }
    }

    /// Replaces a diagnostic whose cause is a comment that truncates the value, as in `String = "a # b"`. The new
    /// diagnostic is about the comment, and its fix quotes the whole value.
    private func explainingComment(_ diagnostic: Diagnostic, in scalar: YAMLScalar) -> Diagnostic {
        guard diagnostic.code == .yamlMistake || diagnostic.message.hasPrefix(LiteralParser.missingDefault),
            scalar.isPlain, let place = diagnostic.span
        else { return diagnostic }
        let line = source.lineRange(source.lineIndex(at: scalar.span.end))
        let rest = source.bytes[min(scalar.span.end, line.upperBound)..<line.upperBound]
        guard rest.first(where: { !$0.isBlank }) == Byte.hash else { return diagnostic }
        if diagnostic.code == .badDefault { return hiddenDefault(after: scalar, rest) }
        let all = SourceSpan(file: scalar.span.file, start: scalar.span.start, end: line.upperBound)
        let quoted = source.text(of: all).split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''")
        return Diagnostic(
            .yamlMistake, "a ' #' inside this text begins a comment; quote the whole value", at: place,
            label: "opened here", help: "quote the whole value",
            fixes: [Fix("quote the whole value", .safe, [Edit(all, "'\(quoted)'")])])
    }

    /// The diagnostic for `String = #5`, in which YAML reads the intended default as a comment.
    private func hiddenDefault(after scalar: YAMLScalar, _ rest: ArraySlice<UInt8>) -> Diagnostic {
        let start = rest.firstIndex(of: Byte.hash) ?? rest.startIndex
        var end = rest.endIndex
        while end > start, source.bytes[end - 1].isBlank { end -= 1 }
        let file = scalar.span.file
        let text = source.text(of: SourceSpan(file: file, start: start, end: end))
        let isPlain = !text.utf8.contains { [Byte.doubleQuote, Byte.singleQuote, Byte.backslash].contains($0) }
        let all = SourceSpan(file: file, start: scalar.span.start, end: end)
        let right = "'\(source.text(of: scalar.span)) \"\(text)\"'"
        let advice = "write \(right), or remove the '='"
        return Diagnostic(
            .yamlMistake, "a ' #' begins a comment, so that no default follows '='; quote it, or remove the '='",
            at: SourceSpan(file: file, start: start, end: start + 1), label: "the comment begins here",
            help: isPlain ? advice : nil, fixes: isPlain ? [Fix("write \(right)", .suggested, [Edit(all, right)])] : [])
    }

    /// The entries of a mapping. In a flow mapping, YAML ends a value at a comma, and reads the text after the comma as
    /// a further key. This function reports such a key, and appends it to the value again.
    mutating func entries(_ mapping: YAMLMapping) -> [YAMLEntry] {
        guard mapping.isFlow else { return mapping.entries }
        var result: [YAMLEntry] = []
        for entry in mapping.entries {
            guard let value = entry.value.scalar, value.isEmpty, let previous = result.last,
                case .scalar(let cut) = previous.value, cut.isPlain,
                Self.isUnbalanced(cut.text) || Self.isDecimalComma(cut.text, entry.key.text, previous.key.text)
                    || ["doc", "deprecated"].contains(previous.key.text)
                        && !MappingKind.property.keys.contains(entry.key.text)
            else {
                result.append(entry)
                continue
            }
            let whole =
                Self.isUnbalanced(cut.text) || !Self.isDecimalComma(cut.text, entry.key.text, previous.key.text)
                ? reportComma(between: cut, and: entry.key) : reportDecimalComma(between: cut, and: entry.key)
            result[result.count - 1] = YAMLEntry(key: previous.key, value: .scalar(whole))
        }
        return result
    }

    /// Reports a comma that ends a value too early. `cut` is the part of the value before the comma. `stray` is the part
    /// after the comma, which YAML reads as a key. Returns the value that results from the fix.
    private mutating func reportComma(between cut: YAMLScalar, and stray: YAMLScalar) -> YAMLScalar {
        let whole = cut.span.union(stray.span)
        var comma = cut.span.end
        while comma < stray.span.start, source.bytes[comma] != Byte.comma { comma += 1 }
        let text = source.text(of: whole)
        let parsed = TypeExpressionParser.parse(
            YAMLScalar(text: text, span: whole, style: .plain, contentStart: whole.start))
        var right = "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
        var advice = "quote the value"
        var isCertain = true
        var result = YAMLScalar(text: text, span: whole, style: .singleQuoted, contentStart: whole.start)
        if let type = parsed.type, case .map = type.shape, parsed.defaultValue == nil {
            right = "Map<\(ForeignTypes.rightSpelling(of: type.name.value))\(type.optional == nil ? "" : "?")>"
            advice = "write '\(right)'"
            isCertain = parsed.diagnostics.flatMap(\.fixes).allSatisfy { $0.applicability == .safe }
            result = YAMLScalar(text: right, span: type.name.span, style: .plain, contentStart: nil)
        }
        let place = SourceSpan(file: whole.file, start: comma, end: comma + 1)
        report(
            .yamlMistake, "a comma inside '{…}' ends the value; \(advice)", at: place, label: "the value ends here",
            help: advice, fixes: [Fix(advice, isCertain ? .safe : .suggested, [Edit(whole, right)])])
        return result
    }

    /// Whether `cut` and `stray` are the parts of a number with a decimal comma, such as `1,5`.
    private static func isDecimalComma(_ cut: String, _ stray: String, _ key: String) -> Bool {
        guard !stray.isEmpty, stray.utf8.allSatisfy(\.isDigit), cut.utf8.last?.isDigit == true else { return false }
        return key == "default" || cut.utf8.contains(UInt8(ascii: "="))
    }

    /// Reports a decimal comma between the two parts of a number.
    ///
    /// - Returns: the number that results from the fix.
    private mutating func reportDecimalComma(between cut: YAMLScalar, and stray: YAMLScalar) -> YAMLScalar {
        var comma = cut.span.end
        while comma < stray.span.start, source.bytes[comma] != Byte.comma { comma += 1 }
        let gap = SourceSpan(file: cut.span.file, start: cut.span.end, end: stray.span.start)
        let number = cut.text.split { $0 == " " || $0 == "=" }.last.map(String.init) ?? cut.text
        let advice = "write '\(number.shortened).\(stray.text.shortened)'"
        report(
            .yamlMistake, "a comma inside '{…}' ends the value, and numbers are written with a point; \(advice)",
            at: SourceSpan(file: cut.span.file, start: comma, end: comma + 1), label: "the value ends here",
            help: advice, fixes: [Fix(advice, .suggested, [Edit(gap, ".")])])
        return YAMLScalar(
            text: "\(cut.text).\(stray.text)", span: cut.span.union(stray.span), style: .plain, contentStart: nil)
    }

    /// Whether the text contains an unclosed bracket or quote.
    private static func isUnbalanced(_ text: String) -> Bool {
        var depth = 0
        var quotes = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "<") || byte == UInt8(ascii: "(") { depth += 1 }
            if byte == UInt8(ascii: ">") || byte == UInt8(ascii: ")") { depth -= 1 }
            if byte == Byte.doubleQuote { quotes += 1 }
        }
        return depth > 0 || quotes % 2 == 1
    }
}
