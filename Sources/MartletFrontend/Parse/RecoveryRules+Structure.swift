import MartletSchema

/// Recovery from errors with colons, indentation and brackets.
extension RecoveryRules {
    /// Recovers from `name:String` (no space after the colon) and `name :String` (a space before the colon).
    @Sendable static func missingSpace(_ site: FailureSite) -> SyntaxRecovery? {
        guard !site.problemContains("cannot start any token") else { return nil }
        for line in suspects(site) {
            let content = site.lines.content(line)
            var end = content.lowerBound
            while end < content.upperBound, site.bytes[end].isNameByte { end += 1 }
            let name = content.lowerBound..<end
            while end < content.upperBound, site.bytes[end].isBlank { end += 1 }
            guard !name.isEmpty, end + 1 < content.upperBound, site.bytes[end] == Byte.colon,
                !site.bytes[end + 1].isBlank
            else { continue }
            let colon = end..<end + 1
            let key = site.lines.text(name)
            guard name.upperBound == end else {
                return site.recovery(
                    "the space belongs after the ':' of '\(key.shortened)', not before it; write '\(key.shortened): '",
                    at: colon, replace: name.upperBound..<colon.upperBound, with: ": ",
                    title: "write '\(key.shortened): '", .safe)
            }
            return site.recovery(
                "no space after the ':' of '\(key.shortened)'; YAML reads this as one word", at: colon,
                label: "a space belongs after this", replace: colon.upperBound..<colon.upperBound, with: " ",
                title: "write '\(key.shortened): '", .safe)
        }
        return nil
    }

    /// Recovers from a missing colon, as in `name String`, or in `Dog` above nested lines.
    @Sendable static func missingColon(_ site: FailureSite) -> SyntaxRecovery? {
        guard
            site.problemContains("could not find expected ':'")
                || site.problemContains("mapping values are not allowed")
        else {
            return nil
        }
        for line in suspects(site) {
            let content = site.lines.content(line)
            var end = content.lowerBound
            while end < content.upperBound, site.bytes[end].isNameByte { end += 1 }
            guard end > content.lowerBound, site.bytes[content.lowerBound].isLetter else { continue }
            let isAlone = end == content.upperBound
            guard isAlone || site.bytes[end] == Byte.space, !site.bytes[content].contains(Byte.colon) else {
                continue
            }
            let range = content.lowerBound..<end
            let key = site.lines.text(range)
            if let recovery = equalsSign(site, key: key, range, content) { return recovery }
            return site.recovery(
                "no ':' after '\(key.shortened)'; write '\(key.shortened):'", at: range,
                label: "a ':' belongs after this", replace: end..<end, with: ":", title: "add the ':'", .suggested)
        }
        return nil
    }

    /// Recovers from an equals sign in place of the colon, as in `name = String`.
    private static func equalsSign(
        _ site: FailureSite, key: String, _ range: Range<Int>, _ content: Range<Int>
    ) -> SyntaxRecovery? {
        guard let sign = (range.upperBound..<content.upperBound).first(where: { !site.bytes[$0].isBlank }),
            site.bytes[sign] == UInt8(ascii: "=")
        else { return nil }
        return site.recovery(
            "a ':' separates a name and its type, not '='; write '\(key.shortened): '", at: sign..<sign + 1,
            replace: range.upperBound..<sign + 1, with: ":", title: "write '\(key.shortened):'", .suggested)
    }

    /// Recovers from a `]` or `}` that has no opening bracket and is in the place of a key or value.
    @Sendable static func strayClosing(_ site: FailureSite) -> SyntaxRecovery? {
        guard let byte = site.byteAtFailure, byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}"),
            !isInsideFlow(site), site.problemContains("did not find expected")
        else { return nil }
        let content = site.lines.content(site.line)
        let place = site.failure.offset..<site.failure.offset + 1
        let before = site.lines.keyAndValue(site.line)?.value.lowerBound ?? content.lowerBound
        guard content.contains(place.lowerBound), before == place.lowerBound else { return nil }
        return site.blank(
            site.line,
            Diagnostic(
                .yamlMistake, "'\(site.lines.text(place))' closes nothing; remove it", at: site.text.span(place),
                help: "remove it", fixes: [Fix("remove it", .suggested, [Edit(site.text.span(place), "")])]))
    }

    /// Recovers from a colon and a space inside a value, as in `name: String = "a: b"`. The fix quotes the whole value.
    @Sendable static func colonInValue(_ site: FailureSite) -> SyntaxRecovery? {
        guard site.problemContains("mapping values are not allowed"),
            let (_, value) = site.lines.keyAndValue(site.line), value.contains(site.failure.offset)
        else { return nil }
        let colon = site.failure.offset..<site.failure.offset + 1
        if let recovery = bareText(site, value, colon) { return recovery }
        let quoted = site.lines.text(value).split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''")
        return site.recovery(
            "a ': ' inside a value begins another key; quote the whole value", at: colon,
            replace: value, with: "'\(quoted)'", title: "quote the whole value", .safe)
    }

    /// Recovers from a colon and a space in a default without quotes, as in `String = a: b`. The fix puts the text in
    /// double quotes, and the whole value in single quotes.
    private static func bareText(_ site: FailureSite, _ value: Range<Int>, _ colon: Range<Int>) -> SyntaxRecovery? {
        guard let sign = value.first(where: { site.bytes[$0] == UInt8(ascii: "=") }), sign < colon.lowerBound,
            let start = (sign + 1..<value.upperBound).first(where: { !site.bytes[$0].isBlank }),
            site.bytes[start] != Byte.doubleQuote, site.bytes[start] != Byte.singleQuote
        else { return nil }
        let isText = ["String ", "String? "].contains(site.lines.text(value.lowerBound..<sign))
        var corrected = "'" + site.lines.text(value.lowerBound..<start) + "\""
        for character in site.lines.text(start..<value.upperBound).unicodeScalars {
            switch character {
            case "'": corrected += "''"
            case "\"", "\\": corrected += "\\" + String(character)
            default: corrected.unicodeScalars.append(character)
            }
        }
        var recovery = site.recovery(
            "a ': ' inside a value begins another key; quote the text, and the whole value", at: colon,
            replace: value, with: corrected + "\"'", title: "quote the text, and the whole value",
            isText ? .safe : .suggested)
        if !isText { recovery.unreliableRange = value }
        return recovery
    }

    /// Recovers from a line whose indentation matches no level above it.
    @Sendable static func wrongIndentation(_ site: FailureSite) -> SyntaxRecovery? {
        let lines = site.lines
        guard
            site.problemContains("did not find expected key") || site.problemContains("mapping values are not allowed")
                || site.problemContains("did not find expected '-' indicator")
                || site.problemContains("did not find expected <document start>")
        else { return nil }
        let line = site.line
        let depth = lines.indentation(line)
        guard !lines.isBlankOrComment(line), !isInsideFlow(site), let above = lines.previous(line) else { return nil }
        let isFirst = site.failure.offset == lines.content(line).lowerBound || site.byteAtFailure == Byte.colon
        guard isFirst, lines.keyAndValue(line) != nil || site.bytes[lines.content(line).lowerBound] == Byte.dash
        else { return nil }
        var levels: [(depth: Int, line: Int)] = []
        var current: Int? = above
        while let candidate = current, levels.last?.depth ?? 1 > 0, line - candidate < 2000 {
            let indentation = lines.indentation(candidate)
            if indentation < levels.last?.depth ?? Int.max { levels.append((indentation, candidate)) }
            current = lines.previous(candidate)
        }
        guard !levels.contains(where: { $0.depth == depth }) else { return nil }
        // If the line is a key with nested lines, it must be indented less than the nested lines. Levels that are at
        // least as deep as the nested lines are therefore excluded.
        let below = (line + 1..<lines.count).prefix(50).first { !lines.isBlankOrComment($0) }
        let opens = lines.keyAndValue(line)?.value.isEmpty == true
        let childDepth = below.map { lines.indentation($0) }.flatMap { opens && $0 > depth ? $0 : nil } ?? Int.max
        guard
            let sibling = levels.filter({ $0.depth < childDepth }).min(by: {
                (abs($0.depth - depth), -$0.depth) < (abs($1.depth - depth), -$1.depth)
            })
        else { return nil }
        let content = lines.content(line)
        let key = lines.keyAndValue(line)?.key ?? content.lowerBound..<content.lowerBound + 1
        let siblingContent = lines.content(sibling.line)
        let note = DiagnosticNote(
            "this line is indented by \(sibling.depth)",
            at: site.text.span(site.token(at: siblingContent.lowerBound)))
        let name = lines.text(key)
        return site.recovery(
            "'\(name.shortened)' is indented by \(depth), which matches no level above it; indent it by "
                + "\(sibling.depth)",
            at: key, replace: lines.range(line).lowerBound..<content.lowerBound,
            with: String(repeating: " ", count: sibling.depth), title: "indent by \(sibling.depth)", .suggested,
            notes: [note])
    }

    /// Recovers from a missing closing bracket, as in `[name, age` or `{of: Dog`.
    @Sendable static func unclosedBracket(_ site: FailureSite) -> SyntaxRecovery? {
        guard let opening = openingBracket(site) else { return nil }
        let line = site.lines.line(at: opening)
        let isSequence = site.bytes[opening] == UInt8(ascii: "[")
        let close = isSequence ? "]" : "}"
        let isOpen = depth(site, from: opening, to: min(site.failure.offset, site.bytes.count)) > 0
        guard isOpen, line != site.line || site.failure.offset >= site.lines.content(line).upperBound else {
            return nil
        }
        let bracket = site.lines.text(opening..<opening + 1)
        var end = site.lines.content(line).upperBound
        if end > opening + 1, site.bytes[end - 1] == Byte.comma { end -= 1 }
        var recovery = site.recovery(
            "this '\(bracket)' is never closed; add a '\(close)'", at: opening..<opening + 1, label: "opened here",
            replace: end..<max(end, site.lines.content(line).upperBound), with: close, title: "add a '\(close)'",
            .suggested)
        // The rule cannot determine which text belongs inside the brackets.
        if site.contextContains("flow node") { recovery.unreliableRange = opening..<max(end, opening + 1) }
        return recovery
    }

    /// The offset of the opening bracket of the flow collection that libyaml was parsing. At the end of a line, libyaml
    /// does not always report the bracket. In this case, the text before the failure is searched backwards for an
    /// unclosed bracket.
    private static func openingBracket(_ site: FailureSite) -> Int? {
        if isInsideFlow(site) { return site.failure.contextOffset.flatMap { $0 < site.bytes.count ? $0 : nil } }
        guard site.contextContains("flow node"), site.lines.content(site.line).upperBound <= site.failure.offset else {
            return nil
        }
        var closed = 0
        for offset in stride(from: min(site.failure.offset, site.bytes.count) - 1, through: 0, by: -1) {
            switch site.bytes[offset] {
            case UInt8(ascii: "]"), UInt8(ascii: "}"): closed += 1
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                if closed == 0 { return offset }
                closed -= 1
            default: break
            }
        }
        return nil
    }

    /// Recovers from a type in square brackets inside braces, as in `{names: [String]?}`.
    @Sendable static func bracketTypeInBraces(_ site: FailureSite) -> SyntaxRecovery? {
        guard isInsideFlow(site), let byte = site.byteAtFailure, byte == UInt8(ascii: "?") || byte == UInt8(ascii: "=")
        else { return nil }
        let content = site.lines.content(site.line)
        var close = site.failure.offset - 1
        while close > content.lowerBound, site.bytes[close].isBlank { close -= 1 }
        guard close > content.lowerBound, site.bytes[close] == UInt8(ascii: "]"),
            let open = (content.lowerBound..<close).last(where: { site.bytes[$0] == UInt8(ascii: "[") }),
            let type = collectionType(site.lines.text(open + 1..<close))
        else { return nil }
        let end = endInFlow(site, from: site.failure.offset, to: content.upperBound) ?? content.upperBound
        let range = open..<end
        let isCertain =
            isCertainCollection(site.lines.text(open + 1..<close)) && isDroppable(site.lines.text(close + 1..<end))
        return site.recovery(
            "square brackets make a YAML list, not a type; write '\(type)'", at: range, replace: range, with: type,
            title: "write '\(type)'", isCertain ? .safe : .suggested)
    }

    /// Recovers from a list that begins on the line of its key, as in `index: - name`.
    @Sendable static func listOnKeyLine(_ site: FailureSite) -> SyntaxRecovery? {
        guard site.problemContains("block sequence entries are not allowed") else { return nil }
        let place = site.failure.offset..<min(site.failure.offset + 1, site.bytes.count)
        guard let (_, value) = site.lines.keyAndValue(site.line), value.lowerBound == place.lowerBound else {
            return nil
        }
        let item = site.lines.text(value).drop { $0 == "-" || $0 == " " }
        return site.recovery(
            "a list with dashes begins on its own line; write '[\(item)]'", at: place, replace: value,
            with: "[\(item)]", title: "write '[\(item)]'", .suggested)
    }

    /// Recovers from text after a closing quote or bracket.
    @Sendable static func textAfterValue(_ site: FailureSite) -> SyntaxRecovery? {
        guard site.problemContains("did not find expected"), let (key, value) = site.lines.keyAndValue(site.line),
            site.failure.offset > value.lowerBound, site.failure.offset < value.upperBound
        else { return nil }
        // Inside braces, the value ends before the next comma, and the closing brace must stay.
        let end = isInsideFlow(site) ? endInFlow(site, from: site.failure.offset, to: value.upperBound) : nil
        let rest = site.failure.offset..<(end ?? value.upperBound)
        let text = site.lines.text(rest)
        if site.bytes[rest].allSatisfy({ $0 == UInt8(ascii: "]") || $0 == UInt8(ascii: "}") }) {
            return site.recovery(
                "'\(text.shortened)' closes nothing; remove it", at: rest, replace: rest, with: "", title: "remove it",
                .suggested)
        }
        let first = site.bytes[value.lowerBound]
        let isQuoted = first == Byte.doubleQuote || first == Byte.singleQuote
        let advice = isQuoted ? "quote the whole value, or none of it" : "put it inside the brackets, or remove it"
        let diagnostic = Diagnostic(
            .yamlMistake,
            end == nil
                ? "'\(text.shortened)' cannot follow the value of '\(site.lines.text(key).shortened)'; \(advice)"
                : "'\(text.shortened)' cannot follow this value; quote all of it, or remove what follows",
            at: site.text.span(rest), label: "the value ends before this")
        return SyntaxRecovery(diagnostic, replace: rest, with: "")
    }

    /// The offset of the comma or bracket that ends a value inside brackets; nil if there is none, or if it is
    /// at `start`.
    private static func endInFlow(_ site: FailureSite, from start: Int, to limit: Int) -> Int? {
        var depth = 0
        for offset in start..<max(start, limit) {
            switch site.bytes[offset] {
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]") where depth > 0, UInt8(ascii: "}") where depth > 0: depth -= 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): return offset > start ? offset : nil
            case Byte.comma where depth == 0: return offset > start ? offset : nil
            default: break
            }
        }
        return nil
    }

    /// The number of opening brackets minus the number of closing brackets between two offsets. Brackets inside quotes
    /// are counted too.
    private static func depth(_ site: FailureSite, from start: Int, to end: Int) -> Int {
        var depth = 0
        for byte in site.bytes[start..<max(start, end)] {
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") { depth += 1 }
            if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") { depth -= 1 }
        }
        return depth
    }

    private static func isInsideFlow(_ site: FailureSite) -> Bool {
        site.contextContains("flow sequence") || site.contextContains("flow mapping")
    }

    /// The lines that can lack a colon, or the space after a colon:
    /// - the line of libyaml's context, if this context is a simple key,
    /// - the line where libyaml stopped, if the line does not contain a complete key,
    /// - the nearest line above that is neither blank nor a comment, if the line does not contain a complete key.
    private static func suspects(_ site: FailureSite) -> [Int] {
        var result: [Int] = []
        if let context = site.failure.contextOffset {
            let line = site.lines.line(at: min(context, site.bytes.count))
            if site.contextContains("simple key") { result.append(line) }
        }
        if site.lines.keyAndValue(site.line) == nil { result.append(site.line) }
        if let above = site.lines.previous(site.line), site.lines.keyAndValue(above) == nil { result.append(above) }
        return result
    }
}
