import MartletSchema

/// Recovery from errors with colons, indentation and brackets.
extension TrapFinder {
    /// `name:String`, or `name :String`.
    @Sendable static func missingSpace(_ scene: TrapScene) -> Trap? {
        guard !scene.says("cannot start any token") else { return nil }
        for line in suspects(scene) {
            let content = scene.lines.content(line)
            var end = content.lowerBound
            while end < content.upperBound, scene.bytes[end].isNameByte { end += 1 }
            let name = content.lowerBound..<end
            while end < content.upperBound, scene.bytes[end].isBlank { end += 1 }
            guard !name.isEmpty, end + 1 < content.upperBound, scene.bytes[end] == Byte.colon,
                !scene.bytes[end + 1].isBlank
            else { continue }
            let colon = end..<end + 1
            let key = scene.lines.text(name)
            guard name.upperBound == end else {
                return scene.mend(
                    "the space belongs behind the ':' of '\(key.shortened)', not before it; write '\(key.shortened): '",
                    at: colon, replace: name.upperBound..<colon.upperBound, with: ": ",
                    title: "write '\(key.shortened): '", .safe)
            }
            return scene.mend(
                "no space behind the ':' of '\(key.shortened)'; YAML reads this as one word", at: colon,
                label: "a space belongs behind this", replace: colon.upperBound..<colon.upperBound, with: " ",
                title: "write '\(key.shortened): '", .safe)
        }
        return nil
    }

    /// `Dog` without a colon above nested lines, or `name String`.
    @Sendable static func missingColon(_ scene: TrapScene) -> Trap? {
        guard scene.says("could not find expected ':'") || scene.says("mapping values are not allowed") else {
            return nil
        }
        for line in suspects(scene) {
            let content = scene.lines.content(line)
            var end = content.lowerBound
            while end < content.upperBound, scene.bytes[end].isNameByte { end += 1 }
            guard end > content.lowerBound, scene.bytes[content.lowerBound].isLetter else { continue }
            let isAlone = end == content.upperBound
            guard isAlone || scene.bytes[end] == Byte.space, !scene.bytes[content].contains(Byte.colon) else {
                continue
            }
            let range = content.lowerBound..<end
            let key = scene.lines.text(range)
            if let trap = equalsSign(scene, key: key, range, content) { return trap }
            return scene.mend(
                "no ':' behind '\(key.shortened)'; write '\(key.shortened):'", at: range,
                label: "a ':' belongs behind this", replace: end..<end, with: ":", title: "add the ':'", .suggested)
        }
        return nil
    }

    /// `name = String`.
    private static func equalsSign(
        _ scene: TrapScene, key: String, _ range: Range<Int>, _ content: Range<Int>
    ) -> Trap? {
        guard let sign = (range.upperBound..<content.upperBound).first(where: { !scene.bytes[$0].isBlank }),
            scene.bytes[sign] == UInt8(ascii: "=")
        else { return nil }
        return scene.mend(
            "a ':' stands between a name and its type, not '='; write '\(key.shortened): '", at: sign..<sign + 1,
            replace: range.upperBound..<sign + 1, with: ":", title: "write '\(key.shortened):'", .suggested)
    }

    /// A `]` or `}` without an opening bracket, at the position of a key or value.
    @Sendable static func strayClosing(_ scene: TrapScene) -> Trap? {
        guard let byte = scene.stoppedAt, byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}"),
            !isInsideFlow(scene), scene.says("did not find expected")
        else { return nil }
        let content = scene.lines.content(scene.line)
        let place = scene.failure.offset..<scene.failure.offset + 1
        let before = scene.lines.keyAndValue(scene.line)?.value.lowerBound ?? content.lowerBound
        guard content.contains(place.lowerBound), before == place.lowerBound else { return nil }
        return scene.blank(
            scene.line,
            Diagnostic(
                .yamlTrap, "'\(scene.lines.text(place))' closes nothing; remove it", at: scene.text.span(place),
                help: "remove it", fixes: [Fix("remove it", .suggested, [Edit(scene.text.span(place), "")])]))
    }

    /// `name: String = "a: b"`. The fix quotes the whole value.
    @Sendable static func colonInValue(_ scene: TrapScene) -> Trap? {
        guard scene.says("mapping values are not allowed"),
            let (_, value) = scene.lines.keyAndValue(scene.line), value.contains(scene.failure.offset)
        else { return nil }
        let colon = scene.failure.offset..<scene.failure.offset + 1
        if let trap = bareText(scene, value, colon) { return trap }
        let quoted = scene.lines.text(value).split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''")
        return scene.mend(
            "a ': ' inside a value begins another key; quote the whole value", at: colon,
            replace: value, with: "'\(quoted)'", title: "quote the whole value", .safe)
    }

    /// `String = a: b`. The fix quotes the text, and quotes the whole value around it.
    private static func bareText(_ scene: TrapScene, _ value: Range<Int>, _ colon: Range<Int>) -> Trap? {
        guard let sign = value.first(where: { scene.bytes[$0] == UInt8(ascii: "=") }), sign < colon.lowerBound,
            let start = (sign + 1..<value.upperBound).first(where: { !scene.bytes[$0].isBlank }),
            scene.bytes[start] != Byte.doubleQuote, scene.bytes[start] != Byte.singleQuote
        else { return nil }
        let isText = ["String ", "String? "].contains(scene.lines.text(value.lowerBound..<sign))
        var right = "'" + scene.lines.text(value.lowerBound..<start) + "\""
        for byte in scene.lines.text(start..<value.upperBound).unicodeScalars {
            switch byte {
            case "'": right += "''"
            case "\"", "\\": right += "\\" + String(byte)
            default: right.unicodeScalars.append(byte)
            }
        }
        var trap = scene.mend(
            "a ': ' inside a value begins another key; quote the text, and the whole value", at: colon,
            replace: value, with: right + "\"'", title: "quote the text, and the whole value",
            isText ? .safe : .suggested)
        if !isText { trap.doubtful = value }
        return trap
    }

    /// A line whose indentation matches no level above it.
    @Sendable static func wrongIndentation(_ scene: TrapScene) -> Trap? {
        let lines = scene.lines
        guard
            scene.says("did not find expected key") || scene.says("mapping values are not allowed")
                || scene.says("did not find expected '-' indicator")
                || scene.says("did not find expected <document start>")
        else { return nil }
        let line = scene.line
        let depth = lines.indentation(line)
        guard !lines.isBlankOrComment(line), !isInsideFlow(scene), let above = lines.previous(line) else { return nil }
        let isFirst = scene.failure.offset == lines.content(line).lowerBound || scene.stoppedAt == Byte.colon
        guard isFirst, lines.keyAndValue(line) != nil || scene.bytes[lines.content(line).lowerBound] == Byte.dash
        else { return nil }
        var levels: [(depth: Int, line: Int)] = []
        var current: Int? = above
        while let candidate = current, levels.last?.depth ?? 1 > 0, line - candidate < 2000 {
            let indentation = lines.indentation(candidate)
            if indentation < levels.last?.depth ?? Int.max { levels.append((indentation, candidate)) }
            current = lines.previous(candidate)
        }
        guard !levels.contains(where: { $0.depth == depth }) else { return nil }
        // Lines below a key are indented more deeply, so a level is excluded if it leaves no room for them.
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
        let neighbour = lines.content(sibling.line)
        let note = DiagnosticNote(
            "this line is indented by \(sibling.depth)",
            at: scene.text.span(scene.token(at: neighbour.lowerBound)))
        let name = lines.text(key)
        return scene.mend(
            "'\(name.shortened)' is indented by \(depth), but no line above it at this level is; indent it by "
                + "\(sibling.depth)",
            at: key, replace: lines.range(line).lowerBound..<content.lowerBound,
            with: String(repeating: " ", count: sibling.depth), title: "indent by \(sibling.depth)", .suggested,
            notes: [note])
    }

    /// `[name, age` or `{of: Dog` without a closing bracket.
    @Sendable static func unclosedBracket(_ scene: TrapScene) -> Trap? {
        guard let opening = openingBracket(scene) else { return nil }
        let line = scene.lines.line(at: opening)
        let isSequence = scene.bytes[opening] == UInt8(ascii: "[")
        let close = isSequence ? "]" : "}"
        let isOpen = depth(scene, from: opening, to: min(scene.failure.offset, scene.bytes.count)) > 0
        guard isOpen, line != scene.line || scene.failure.offset >= scene.lines.content(line).upperBound else {
            return nil
        }
        let sign = scene.lines.text(opening..<opening + 1)
        var end = scene.lines.content(line).upperBound
        if end > opening + 1, scene.bytes[end - 1] == Byte.comma { end -= 1 }
        var trap = scene.mend(
            "this '\(sign)' is never closed; add a '\(close)'", at: opening..<opening + 1, label: "opened here",
            replace: end..<max(end, scene.lines.content(line).upperBound), with: close, title: "add a '\(close)'",
            .suggested)
        // The content of the bracket is unknown.
        if scene.isInside("flow node") { trap.doubtful = opening..<max(end, opening + 1) }
        return trap
    }

    /// The opening bracket of the flow collection that libyaml was parsing. At the end of the file, libyaml does not
    /// report it.
    private static func openingBracket(_ scene: TrapScene) -> Int? {
        if isInsideFlow(scene) { return scene.failure.contextOffset.flatMap { $0 < scene.bytes.count ? $0 : nil } }
        guard scene.isInside("flow node"), scene.lines.content(scene.line).upperBound <= scene.failure.offset else {
            return nil
        }
        var closed = 0
        for offset in stride(from: min(scene.failure.offset, scene.bytes.count) - 1, through: 0, by: -1) {
            switch scene.bytes[offset] {
            case UInt8(ascii: "]"), UInt8(ascii: "}"): closed += 1
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                if closed == 0 { return offset }
                closed -= 1
            default: break
            }
        }
        return nil
    }

    /// `{names: [String]?}`.
    @Sendable static func bracketTypeInBraces(_ scene: TrapScene) -> Trap? {
        guard isInsideFlow(scene), let sign = scene.stoppedAt, sign == UInt8(ascii: "?") || sign == UInt8(ascii: "=")
        else { return nil }
        let content = scene.lines.content(scene.line)
        var close = scene.failure.offset - 1
        while close > content.lowerBound, scene.bytes[close].isBlank { close -= 1 }
        guard close > content.lowerBound, scene.bytes[close] == UInt8(ascii: "]"),
            let open = (content.lowerBound..<close).last(where: { scene.bytes[$0] == UInt8(ascii: "[") }),
            let type = collectionType(scene.lines.text(open + 1..<close))
        else { return nil }
        let end = endInFlow(scene, from: scene.failure.offset, to: content.upperBound) ?? content.upperBound
        let range = open..<end
        let isCertain =
            isCertainCollection(scene.lines.text(open + 1..<close)) && isDroppable(scene.lines.text(close + 1..<end))
        return scene.mend(
            "square brackets are lists of YAML, not types; write '\(type)'", at: range, replace: range, with: type,
            title: "write '\(type)'", isCertain ? .safe : .suggested)
    }

    /// `index: - name`.
    @Sendable static func listOnKeyLine(_ scene: TrapScene) -> Trap? {
        guard scene.says("block sequence entries are not allowed") else { return nil }
        let place = scene.failure.offset..<min(scene.failure.offset + 1, scene.bytes.count)
        guard let (_, value) = scene.lines.keyAndValue(scene.line), value.lowerBound == place.lowerBound else {
            return nil
        }
        let item = scene.lines.text(value).drop { $0 == "-" || $0 == " " }
        return scene.mend(
            "a list with dashes begins on its own line; write '[\(item)]'", at: place, replace: value,
            with: "[\(item)]", title: "write '[\(item)]'", .suggested)
    }

    /// Text after a closing quote or bracket.
    @Sendable static func textBehindValue(_ scene: TrapScene) -> Trap? {
        guard scene.says("did not find expected"), let (key, value) = scene.lines.keyAndValue(scene.line),
            scene.failure.offset > value.lowerBound, scene.failure.offset < value.upperBound
        else { return nil }
        // Inside braces, the value ends before the next comma, and the closing brace must stay.
        let end = isInsideFlow(scene) ? endInFlow(scene, from: scene.failure.offset, to: value.upperBound) : nil
        let rest = scene.failure.offset..<(end ?? value.upperBound)
        let text = scene.lines.text(rest)
        if scene.bytes[rest].allSatisfy({ $0 == UInt8(ascii: "]") || $0 == UInt8(ascii: "}") }) {
            return scene.mend(
                "'\(text.shortened)' closes nothing; remove it", at: rest, replace: rest, with: "", title: "remove it",
                .suggested)
        }
        let first = scene.bytes[value.lowerBound]
        let isQuoted = first == Byte.doubleQuote || first == Byte.singleQuote
        let advice = isQuoted ? "quote the whole value, or none of it" : "put it inside the brackets, or remove it"
        let diagnostic = Diagnostic(
            .yamlTrap,
            end == nil
                ? "'\(text.shortened)' cannot follow the value of '\(scene.lines.text(key).shortened)'; \(advice)"
                : "'\(text.shortened)' cannot follow this value; quote all of it, or remove what follows",
            at: scene.text.span(rest), label: "the value ends before this")
        return Trap(diagnostic, replace: rest, with: "")
    }

    /// The offset of the comma or bracket that ends a value inside brackets; nil if it follows immediately.
    private static func endInFlow(_ scene: TrapScene, from start: Int, to limit: Int) -> Int? {
        var depth = 0
        for offset in start..<max(start, limit) {
            switch scene.bytes[offset] {
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]") where depth > 0, UInt8(ascii: "}") where depth > 0: depth -= 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): return offset > start ? offset : nil
            case Byte.comma where depth == 0: return offset > start ? offset : nil
            default: break
            }
        }
        return nil
    }

    /// The number of brackets that are open between two offsets. Quotes are ignored.
    private static func depth(_ scene: TrapScene, from start: Int, to end: Int) -> Int {
        var depth = 0
        for byte in scene.bytes[start..<max(start, end)] {
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") { depth += 1 }
            if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") { depth -= 1 }
        }
        return depth
    }

    private static func isInsideFlow(_ scene: TrapScene) -> Bool {
        scene.isInside("flow sequence") || scene.isInside("flow mapping")
    }

    /// The lines that may contain the error: the line of libyaml's context, and the lines directly above the place
    /// where it stopped.
    private static func suspects(_ scene: TrapScene) -> [Int] {
        var result: [Int] = []
        if let context = scene.failure.contextOffset {
            let line = scene.lines.line(at: min(context, scene.bytes.count))
            if scene.isInside("simple key") { result.append(line) }
        }
        if scene.lines.keyAndValue(scene.line) == nil { result.append(scene.line) }
        if let above = scene.lines.previous(scene.line), scene.lines.keyAndValue(above) == nil { result.append(above) }
        return result
    }
}
