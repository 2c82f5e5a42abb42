import MartletSchema

/// Translates libyaml's syntax errors into diagnostics of the schema language. Each rule recognizes one kind of
/// mistake, and returns nil for other mistakes. The result also contains edits, after which the text is parsed again.
enum RecoveryRules {
    static func recovery(text: PatchedText, failure: YAMLFailure) -> SyntaxRecovery {
        let site = FailureSite(text: text, failure: failure)
        for rule in rules {
            if let recovery = rule(site) { return recovery }
        }
        return unknown(site)
    }

    private static let rules: [@Sendable (FailureSite) -> SyntaxRecovery?] = [
        tabIndentation, longKey, bracketType, bracketTypeInBraces, unclosedQuote, strayClosing, badEscape, attribute,
        reservedStart, aliasOrDirective, missingSpace, missingColon, colonInValue, wrongIndentation, unclosedBracket,
        listOnKeyLine, textAfterValue,
    ]

    /// Recovers from a tab where YAML does not allow one. If the tab indents a line, the diagnostic also covers all
    /// later lines that are indented with tabs, and its fix replaces all of these tabs.
    private static func tabIndentation(_ site: FailureSite) -> SyntaxRecovery? {
        let lines = site.lines
        var offset = site.failure.offset
        if site.problemContains("found a tab character") {
            let indentation = lines.range(site.line).lowerBound..<lines.content(site.line).lowerBound
            guard let tab = indentation.first(where: { site.bytes[$0] == Byte.tab }) else { return nil }
            offset = tab
        } else if !site.problemContains("cannot start any token") || site.byteAtFailure != Byte.tab {
            return nil
        }
        var run = offset..<offset + 1
        while run.upperBound < site.bytes.count, site.bytes[run.upperBound].isBlank {
            run = run.lowerBound..<run.upperBound + 1
        }
        guard offset <= lines.content(site.line).lowerBound else {
            return site.recovery(
                "a tab is not allowed here; use a space", at: run, replace: run, with: " ", title: "use a space", .safe)
        }
        let indentation = TabIndentation(lines, from: site.line)
        let edits = indentation.edits
        guard !edits.isEmpty else { return nil }
        var notes: [DiagnosticNote] = []
        if edits.count == 2 { notes.append(DiagnosticNote("one more line is indented with tabs")) }
        if edits.count > 2 { notes.append(DiagnosticNote("\(edits.count - 1) more lines are indented with tabs")) }
        if !indentation.isCertain {
            notes.append(DiagnosticNote("tabs and spaces are mixed here, so check the resulting nesting"))
        }
        let title = "use spaces"
        let fix = Fix(
            title, indentation.isCertain ? .safe : .suggested,
            edits.map { Edit(site.text.span($0.range), $0.replacement) })
        let diagnostic = Diagnostic(
            .yamlMistake, "tabs cannot indent YAML; use spaces", at: site.text.span(run), label: "tab here",
            notes: notes, help: title, fixes: [fix])
        var recovery = SyntaxRecovery(diagnostic, edits: edits)
        recovery.unreliableRange = indentation.uncertainRange
        return recovery
    }

    /// Recovers from a key that is too long. For a key of more than 1,024 characters, libyaml reports a misleading
    /// error. This rule replaces the error if the key has more than 1,000 bytes. (The schema language allows 128
    /// bytes.)
    private static func longKey(_ site: FailureSite) -> SyntaxRecovery? {
        guard
            site.problemContains("could not find expected ':'")
                || site.problemContains("mapping values are not allowed")
        else {
            return nil
        }
        let line = site.lines.line(at: site.failure.contextOffset ?? site.failure.offset)
        let content = site.lines.content(line)
        let key = site.bytes[content].prefix { $0 != Byte.colon }
        guard key.count > 1000 else { return nil }
        let range = content.lowerBound..<content.lowerBound + key.count
        let message = "a key of \(key.count) bytes, more than the 128 allowed; shorten it"
        return site.blank(line, Diagnostic(.limitExceeded, message, at: site.text.span(range)))
    }

    /// Recovers from a type in square brackets with a '?' or a default after it, as in `[String]?` or `[String] = []`.
    private static func bracketType(_ site: FailureSite) -> SyntaxRecovery? {
        for line in [site.line, site.line - 1] where line >= 0 {
            guard let value = site.lines.keyAndValue(line)?.value, let first = value.first,
                site.bytes[first] == UInt8(ascii: "["),
                let close = value.first(where: { site.bytes[$0] == UInt8(ascii: "]") }), close + 1 < value.upperBound
            else { continue }
            let tail = site.lines.text(close + 1..<value.upperBound)
            guard tail.hasPrefix("?") || tail.hasPrefix(" =") || tail.hasPrefix("=") else { continue }
            let inside = site.lines.text(first + 1..<close)
            guard let type = collectionType(inside) else { continue }
            return site.recovery(
                "square brackets make a YAML list, not a type; write '\(type)'", at: value,
                replace: value, with: type, title: "write '\(type)'",
                isCertainCollection(inside) && isDroppable(tail) ? .safe : .suggested)
        }
        return nil
    }

    /// The collection type for the text inside square brackets: `List<String>` for `String`, `Map<Int>` for
    /// `String: Int`.
    static func collectionType(_ inside: String) -> String? {
        let parts = inside.split(separator: ":", maxSplits: 1).map { trimmed($0) }
        guard let last = parts.last, last.utf8.first?.isLetter == true,
            last.utf8.allSatisfy({ $0.isNameByte || $0 == UInt8(ascii: "?") })
        else { return nil }
        let element = ForeignTypes.rightSpelling(of: last)
        return parts.count == 2 ? "Map<\(element)>" : "List<\(element)>"
    }

    /// Whether the collection type certainly has the meaning that the author intended with the brackets. This is false
    /// if the brackets contain a key type other than a string type, because the keys of maps are always strings.
    static func isCertainCollection(_ inside: String) -> Bool {
        let parts = inside.split(separator: ":", maxSplits: 1)
        return parts.count < 2 || isTextKey(trimmed(parts[0]))
    }

    /// Whether a key type is a string type, such as `String` or `str`.
    static func isTextKey(_ key: String) -> Bool {
        let name = trimmed(key[...])
        return ForeignTypes.isCertain(name) && ForeignTypes.scalar(for: name) == ScalarKind.string.rawValue
    }

    /// Whether the text after a collection type can be removed, because it only makes the collection optional or
    /// empty by default.
    static func isDroppable(_ tail: String) -> Bool {
        ["", "?", "=[]", "?=[]", "={}", "?=nil", "?=null"].contains(tail.filter { $0 != " " })
    }

    private static func trimmed(_ text: Substring) -> String {
        var bytes = text.utf8[...]
        while bytes.first?.isBlank == true { bytes = bytes.dropFirst() }
        while bytes.last?.isBlank == true { bytes = bytes.dropLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Recovers from an unclosed quote. The diagnostic is at the opening quote, even if libyaml stopped at another
    /// place.
    private static func unclosedQuote(_ site: FailureSite) -> SyntaxRecovery? {
        guard
            site.problemContains("unexpected end of stream") || site.problemContains("did not find expected")
                || site.problemContains("mapping values are not allowed") || site.problemContains("unknown escape")
                || site.problemContains("could not find expected ':'")
                || site.problemContains("unexpected document indicator")
        else { return nil }
        let line: Int
        if site.contextContains("quoted scalar"), let opening = site.failure.contextOffset,
            site.problemContains("unexpected")
        {
            line = site.lines.line(at: opening)
        } else if let suspect = lineWithOpenQuote(site) {
            line = suspect
        } else {
            return nil
        }
        guard let opening = openQuote(site, line: line) else { return nil }
        let end = endOfText(site, from: opening, line: line)
        let quote = site.lines.text(opening..<opening + 1)
        var recovery = site.recovery(
            "this quote is never closed; add a closing \(quote)", at: opening..<opening + 1, label: "opened here",
            replace: end..<end, with: quote, title: "close the quote", .suggested)
        recovery.unreliableRange = opening..<end
        return recovery
    }

    /// The offset where the missing quote is inserted: the end of the line. If the line ends with closing brackets
    /// whose opening brackets precede the quote, the quote is inserted before these closing brackets.
    private static func endOfText(_ site: FailureSite, from opening: Int, line: Int) -> Int {
        let range = site.lines.range(line)
        var open: [UInt8] = []
        for byte in site.bytes[range.lowerBound..<opening] {
            if byte == UInt8(ascii: "[") { open.append(UInt8(ascii: "]")) }
            if byte == UInt8(ascii: "{") { open.append(UInt8(ascii: "}")) }
            if byte == open.last { open.removeLast() }
        }
        var end = range.upperBound
        for close in open {
            guard end - 1 > opening, site.bytes[end - 1] == close else { break }
            end -= 1
        }
        return end
    }

    /// The last line whose value opens a quote and does not close it. The line of the failure and at most 200 lines
    /// above it are searched.
    private static func lineWithOpenQuote(_ site: FailureSite) -> Int? {
        let first = max(0, site.line - 200)
        return stride(from: site.line, through: first, by: -1).first { openQuote(site, line: $0) != nil }
    }

    /// The offset of a quote that starts a value and is not closed on its line.
    private static func openQuote(_ site: FailureSite, line: Int) -> Int? {
        let range = site.lines.range(line)
        var index = range.lowerBound
        var isAtValueStart = true
        while index < range.upperBound {
            let byte = site.bytes[index]
            if isAtValueStart, byte == Byte.doubleQuote || byte == Byte.singleQuote {
                let opening = index
                index += 1
                while index < range.upperBound, site.bytes[index] != byte {
                    if byte == Byte.doubleQuote, site.bytes[index] == Byte.backslash { index += 1 }
                    index += 1
                }
                if index >= range.upperBound { return opening }
                isAtValueStart = false
            } else if byte == Byte.hash, isAtValueStart {
                return nil
            } else if byte.isBlank {
                let before = index > range.lowerBound ? site.bytes[index - 1] : Byte.space
                isAtValueStart = isAtValueStart || before == Byte.colon || before == Byte.dash || before == Byte.comma
            } else {
                isAtValueStart = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") || byte == Byte.comma
            }
            index += 1
        }
        return nil
    }

    /// Recovers from an attribute before a type, as in `@Persisted Int`. The fix removes the attribute, because the
    /// schema language has no attributes.
    private static func attribute(_ site: FailureSite) -> SyntaxRecovery? {
        guard site.problemContains("cannot start any token"), site.byteAtFailure == UInt8(ascii: "@") else {
            return nil
        }
        let content = site.lines.content(site.line)
        let start = site.failure.offset
        var end = start + 1
        while end < content.upperBound, site.bytes[end].isNameByte { end += 1 }
        let name = start..<end
        while end < content.upperBound, site.bytes[end].isBlank { end += 1 }
        guard ForeignTypes.attributes.contains(site.lines.text(name)), end < content.upperBound,
            site.bytes[end].isLetter
        else { return nil }
        let advice = "write the type alone"
        return site.recovery(
            "'\(site.lines.text(name))' is not part of the schema language; \(advice)", at: name,
            replace: start..<end, with: "", title: advice, .safe)
    }

    /// Recovers from `@`, a backtick or `%` at the start of a value.
    private static func reservedStart(_ site: FailureSite) -> SyntaxRecovery? {
        guard site.problemContains("cannot start any token"), let byte = site.byteAtFailure else { return nil }
        let end = max(site.lines.content(site.line).upperBound, site.failure.offset + 1)
        let range = site.failure.offset..<min(end, site.bytes.count)
        let character = String(UnicodeScalar(byte))
        let escaped = site.lines.text(range).split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''")
        var recovery = site.recovery(
            "'\(character)' cannot begin a value in YAML; quote the value", at: range.lowerBound..<range.lowerBound + 1,
            replace: range, with: "'\(escaped)'", title: "quote the value", .suggested)
        recovery.unreliableRange = range
        return recovery
    }

    /// Recovers from an invalid anchor, alias, tag or directive.
    private static func aliasOrDirective(_ site: FailureSite) -> SyntaxRecovery? {
        let message: String
        if site.contextContains("alias") || site.contextContains("anchor") {
            message = "anchors and aliases are not part of the schema language; quote the value or write it out"
        } else if site.contextContains("tag") {
            message = "tags are not part of the schema language; quote the value or remove it"
        } else if site.contextContains("directive") || site.problemContains("directive") {
            message = "directives are not part of the schema language; remove the line"
        } else {
            return nil
        }
        let line = site.lines.line(at: site.failure.contextOffset ?? site.failure.offset)
        let start = site.failure.contextOffset ?? site.failure.offset
        let range = start..<min(start + 1, site.bytes.count)
        return site.blank(line, Diagnostic(.yamlSubset, message, at: site.text.span(range)))
    }

    /// Recovers from an error to which no rule applies.
    private static func unknown(_ site: FailureSite) -> SyntaxRecovery {
        let range = site.token(at: min(site.failure.offset, max(0, site.bytes.count - 1)))
        let detail = [site.failure.context, site.failure.problem].filter { !$0.isEmpty }.joined(separator: " ")
        var notes: [DiagnosticNote] = []
        if let context = site.failure.contextOffset, context < site.bytes.count, context != site.failure.offset {
            notes.append(
                DiagnosticNote("the text that is being parsed begins here", at: site.text.span(context, context + 1)))
        }
        let diagnostic = Diagnostic(
            .yamlMistake, "this is not valid YAML, \(detail); correct the line, or quote its text",
            at: site.text.span(range), notes: notes)
        let line = site.lines.isBlankOrComment(site.line) ? site.lines.previous(site.line) : site.line
        return site.blank(line ?? site.line, diagnostic)
    }
}
