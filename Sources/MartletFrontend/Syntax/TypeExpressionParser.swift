import MartletSchema

/// Parses the type expressions of properties: `Name`, `Name?`, `List<Name?>` and `LinkingObjects<Type.property>`. A
/// default in the form ` = literal` can follow the type.
struct TypeExpressionParser {
    let scalar: YAMLScalar
    var bytes: [UInt8]
    var index = 0
    /// True if invalid text follows the type.
    private var hasInvalidSuffix = false
    var diagnostics: [Diagnostic] = []

    struct Result {
        let type: TypeSyntax?
        let defaultValue: LiteralSyntax?
        let diagnostics: [Diagnostic]
    }

    static func parse(_ scalar: YAMLScalar) -> Result {
        var parser = TypeExpressionParser(scalar)
        parser.replaceUnicodeBlanks()
        let type = parser.parseType()
        let defaultValue = type == nil ? nil : parser.parseDefault()
        return Result(
            type: parser.hasInvalidSuffix ? nil : type, defaultValue: defaultValue, diagnostics: parser.diagnostics)
    }

    private init(_ scalar: YAMLScalar) {
        self.scalar = scalar
        bytes = Array(scalar.text.utf8)
    }

    // MARK: Types

    mutating func parseType() -> TypeSyntax? {
        skipBlanks()
        skipForeignPrefix()
        let start = index
        if peek == UInt8(ascii: "[") { return refuseBrackets() }
        if peek == UInt8(ascii: "?") { return readLeadingOptional() }
        guard let name = readName() else { return refuseStart(start) }
        if peek == UInt8(ascii: "["), let type = readTrailingBrackets(name, start: start) { return type }
        skipBlanks(before: UInt8(ascii: "<"))
        guard peek == UInt8(ascii: "<") || peek == UInt8(ascii: "(") else {
            let optional = readOptional() ?? readOrNull(name)
            return finish(.single, name, optional: optional, outer: nil, start: start)
        }
        return parseGeneric(name, start: start)
    }

    mutating func parseGeneric(_ container: Spanned<String>, start: Int) -> TypeSyntax? {
        let close = peek == UInt8(ascii: "(") ? UInt8(ascii: ")") : UInt8(ascii: ">")
        index += 1
        skipBlanks()
        let containerName = ContainerName(container.value)
        let innerStart = index
        if containerName?.kind == .linkingObjects, let link = readLabeledLink(close: close, start: start) {
            return link
        }
        guard var element = readName() else { return refuseStart(innerStart) }
        skipBlanks()
        if containerName?.kind == .map, peek == Byte.comma || peek == Byte.colon {
            return parseKeyedMap(container, keyStart: innerStart, close: close, start: start)
        }
        if peek == UInt8(ascii: "<") {
            return refuse(
                from: innerStart, to: bytes.count,
                "a collection cannot contain another collection; store objects that have a collection as a property")
        }
        var member: Spanned<String>?
        if peek == Byte.dot {
            index += 1
            guard let name = readName() else { return refuse(from: index, "expected the name of a property") }
            member = name
        }
        if containerName?.kind == .linkingObjects, peek == Byte.comma || peek == Byte.dot {
            return parseForeignLink(container, element, member: member, close: close, start: start)
        }
        let optional = readOptional()
        skipBlanks()
        guard peek == close else { return refuseUnclosed(container, close, from: innerStart, start: start) }
        index += 1
        let outer = readOptional()
        guard let containerName else {
            return readWrapper(container, element, optional ?? outer, start: start)
                ?? refuseContainer(container, start: start)
        }
        if containerName.kind == .optional {
            reportReplacement(start..<index, with: "\(element.value)?", "'\(container.value)<\(element.value)>'")
            return TypeSyntax(
                shape: .single, name: element, optional: container.span, outerOptional: nil, span: element.span)
        }
        if containerName.kind == .linkingObjects {
            guard let member else {
                return refuse(
                    from: innerStart, to: innerStart + element.value.utf8.count,
                    "linking objects name a property; write 'LinkingObjects<\(element.value).property>'")
            }
            element = Spanned(element.value, element.span)
            reportForeignSyntax(
                container, containerName, close: close, start: start, inside: "\(element.value).\(member.value)")
            return finish(.linkingObjects(member), element, optional: optional, outer: outer, start: start)
        }
        if let member { return refuse(member.span, "only 'LinkingObjects' names a property of a type") }
        reportForeignSyntax(
            container, containerName, close: close, start: start,
            inside: ForeignTypes.rightSpelling(of: element.value) + (optional == nil ? "" : "?"))
        let shape: TypeSyntax.Shape =
            containerName.kind == .list ? .list : containerName.kind == .set ? .set : .map
        return finish(shape, element, optional: optional, outer: outer, start: start)
    }

    /// Parses a map with a key type, as in other languages: `Map<String, Int>`. The key type is reported, because a
    /// `Map` in a schema names only the type of its values.
    mutating func parseKeyedMap(
        _ container: Spanned<String>, keyStart: Int, close: UInt8, start: Int
    ) -> TypeSyntax? {
        let key = String(decoding: bytes[keyStart..<index], as: UTF8.self)
        index += 1
        skipBlanks()
        let valueStart = index
        guard let value = readName() else { return refuse(from: index, "expected the type of the values") }
        if peek == UInt8(ascii: "<") {
            return refuse(
                from: valueStart, to: bytes.count,
                "a collection cannot contain another collection; store objects that have a collection as a property")
        }
        let optional = readOptional()
        skipBlanks()
        guard peek == close else { return refuseUnclosed(container, close, from: valueStart, start: start) }
        index += 1
        let outer = readOptional()
        let type = "Map<\(ForeignTypes.rightSpelling(of: value.value))\(optional == nil ? "" : "?")>"
        let isText = RecoveryRules.isTextKey(key)
        let reason = isText ? "keys are always 'String'" : "keys can only be 'String'"
        reportReplacement(
            start..<index, with: type, "'\(container.value)' names only the type of its values, \(reason);",
            isText ? .safe : .suggested)
        return finish(.map, value, optional: optional, outer: outer, start: start)
    }

    mutating func finish(
        _ shape: TypeSyntax.Shape, _ name: Spanned<String>, optional: SourceSpan?, outer: SourceSpan?, start: Int
    ) -> TypeSyntax {
        TypeSyntax(
            shape: shape, name: name, optional: optional, outerOptional: outer, span: scalar.span(of: start..<index))
    }

    /// Reads an optional mark. A `!` or a second `?` is reported and counts as `?`.
    mutating func readOptional() -> SourceSpan? {
        let start = index
        var marks = 0
        while peek == UInt8(ascii: "?") || peek == UInt8(ascii: "!") {
            index += 1
            marks += 1
        }
        guard marks > 0 else { return nil }
        let range = start..<index
        if marks > 1 || bytes[start] != UInt8(ascii: "?") {
            let text = String(decoding: bytes[range], as: UTF8.self)
            report(.unknownType, "'\(text.shortened)' is not part of a type; write '?'", range, replacement: "?")
        }
        return scalar.span(of: range)
    }

    // MARK: Defaults

    mutating func parseDefault() -> LiteralSyntax? {
        let before = index
        skipBlanks()
        guard index < bytes.count else { return nil }
        guard peek == UInt8(ascii: "=") else {
            hasInvalidSuffix = true
            if index == before, let byte = peek, byte == Byte.dash || byte >= 0x80 {
                let word = String(
                    decoding: bytes[..<(bytes.firstIndex(where: \.isBlank) ?? bytes.count)], as: UTF8.self)
                _ = refuse(
                    from: 0, to: word.utf8.count,
                    "'\(word.shortened)' is not the name of a type; names consist of ASCII letters, digits and '_'")
                return nil
            }
            _ = refuse(from: index, to: bytes.count, "expected ' = ' and a default, or nothing, after the type")
            return nil
        }
        index += 1
        skipBlanks()
        let literal = LiteralParser.parse(
            bytes, from: index, in: scalar, removal: scalar.span(of: before..<bytes.count))
        diagnostics += literal.diagnostics
        return literal.literal
    }

    // MARK: Findings

    /// Reports `[String]` or `[String: Int]` in a quoted YAML scalar. Without the quotes, YAML parses a list.
    mutating func refuseBrackets() -> TypeSyntax? {
        let close = bytes.lastIndex(of: UInt8(ascii: "]")) ?? bytes.count
        let inside = String(decoding: bytes[(index + 1)..<max(index + 1, close)], as: UTF8.self)
        let end = min(bytes.count, close + 1)
        if let type = RecoveryRules.collectionType(inside) {
            reportReplacement(
                index..<end, with: type, "square brackets are not part of a type;",
                RecoveryRules.isCertainCollection(inside) ? .safe : .suggested)
            return nil
        }
        return refuse(from: index, to: end, "square brackets are not part of a type; write 'List<…>'")
    }

    mutating func refuseContainer(_ container: Spanned<String>, start: Int) -> TypeSyntax? {
        var suggestions = Suggestions()
        let names = suggestions.nearest(to: container.value, among: ContainerName.all)
        let fixes = names.map { Fix("write '\($0)'", .suggested, [Edit(container.span, $0)]) }
        diagnostics.append(
            Diagnostic(
                .unknownType, "unknown collection '\(container.value.shortened)'; there are 'List', 'Set' and 'Map'",
                at: container.span, label: "no collection with this name", help: Suggestions.question(names),
                fixes: fixes))
        return nil
    }

    /// Reports the collection names and brackets of other languages: `Array<Int>`, `list<Int>`,
    /// `LinkingObjects(Dog.owner)`.
    mutating func reportForeignSyntax(
        _ container: Spanned<String>, _ containerName: ContainerName, close: UInt8, start: Int, inside: String
    ) {
        guard container.value != containerName.spelling || close != UInt8(ascii: ">") else { return }
        let right = "\(containerName.spelling)<\(inside)>"
        let end = (bytes[..<index].lastIndex(of: close) ?? index - 1) + 1
        if container.value != containerName.spelling {
            let range = start..<start + container.value.utf8.count
            let all = scalar.span(of: start..<end)
            diagnostics.append(
                Diagnostic(
                    .unknownType, "unknown collection '\(container.value)'; write '\(right)'",
                    at: scalar.span(of: range), help: "write '\(right)'",
                    fixes: scalar.contentStart == nil
                        ? []
                        : [Fix("write '\(right)'", containerName.isCertain ? .safe : .suggested, [Edit(all, right)])]))
        } else {
            report(
                .unknownType, "parentheses are not part of a type; write '\(right)'", start..<end, replacement: right)
        }
    }

    /// Reports text that is not valid in a schema, with a fix that replaces the text with `type`. `reason` is either
    /// the invalid text, or a clause that ends with ';'.
    mutating func reportReplacement(
        _ range: Range<Int>, with type: String, _ reason: String, _ applicability: Fix.Applicability = .safe
    ) {
        let isClause = reason.hasSuffix(";")
        let message = isClause ? "\(reason) write '\(type)'" : "\(reason) is not part of the language; write '\(type)'"
        report(.unknownType, message, range, replacement: type, applicability)
    }

    /// Reports an error at a range, with a fix.
    ///
    /// - Parameter all: the range that the fix replaces. It contains the reported range.
    mutating func report(
        _ code: DiagnosticCode, _ message: String, _ range: Range<Int>, replacing all: Range<Int>, with text: String
    ) {
        let title = message.split(separator: ";").last.map { String($0.drop { $0 == " " }) } ?? message
        let fixes = scalar.contentStart == nil ? [] : [Fix(title, .safe, [Edit(scalar.span(of: all), text)])]
        diagnostics.append(Diagnostic(code, message, at: scalar.span(of: range), help: title, fixes: fixes))
    }

    mutating func report(
        _ code: DiagnosticCode, _ message: String, _ range: Range<Int>, replacement: String,
        _ applicability: Fix.Applicability = .safe
    ) {
        let span = scalar.span(of: range)
        let title = "write '\(replacement)'"
        let fixes = scalar.contentStart == nil ? [] : [Fix(title, applicability, [Edit(span, replacement)])]
        diagnostics.append(Diagnostic(code, message, at: span, help: title, fixes: fixes))
    }

    /// Reports a missing type name.
    mutating func refuseStart(_ start: Int) -> TypeSyntax? {
        let rest = String(decoding: bytes[min(start, bytes.count)...], as: UTF8.self)
        if let first = rest.unicodeScalars.first, QuotingRules.isTypographicQuote(first) || first == "`" {
            return refuse(from: start, "a type has no quotes; remove them")
        }
        return refuse(from: start, "expected the name of a type")
    }

    /// Reports a missing closing bracket, or invalid text before the closing bracket.
    mutating func refuseUnclosed(
        _ container: Spanned<String>, _ close: UInt8, from inner: Int, start: Int
    ) -> TypeSyntax? {
        let open = close == UInt8(ascii: ")") ? "(" : "<"
        guard let end = bytes[index...].firstIndex(of: close) else {
            return refuse(from: start, "'\(container.value)\(open)' is never closed; add a '>'")
        }
        let inside = String(decoding: bytes[inner..<end], as: UTF8.self)
        return refuse(
            from: inner, to: end,
            "'\(inside.shortened)' is not the name of a type; names consist of ASCII letters, digits and '_'")
    }

    mutating func refuse(from start: Int, to end: Int? = nil, _ reason: String) -> TypeSyntax? {
        let stop = end ?? max(bytes.count, start)
        return refuse(scalar.span(of: min(start, stop)..<stop), reason)
    }

    mutating func refuse(_ span: SourceSpan, _ reason: String) -> TypeSyntax? {
        let place = span.isEmpty ? scalar.span : span
        diagnostics.append(
            Diagnostic(.unknownType, "cannot read '\(scalar.text.shortened)' as a type; \(reason)", at: place))
        return nil
    }

    // MARK: Bytes

    var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func skipBlanks() {
        while let byte = peek, byte.isBlank { index += 1 }
    }

    /// Skips blanks if `byte` follows them. Otherwise, the blanks remain for `parseDefault`, because a fix that removes
    /// a default also removes the blanks before its `=`.
    mutating func skipBlanks(before byte: UInt8) {
        let start = index
        skipBlanks()
        if peek != byte { index = start }
    }

    mutating func readName() -> Spanned<String>? {
        let start = index
        guard let first = peek, first.isLetter else { return nil }
        while let byte = peek, byte.isNameByte { index += 1 }
        return Spanned(String(decoding: bytes[start..<index], as: UTF8.self), scalar.span(of: start..<index))
    }
}
