import MartletSchema

/// Translates libyaml's syntax errors into diagnostics of the schema language, and finds the edits with which parsing
/// continues.
enum TrapFinder {
    static func trap(text: PatchedText, failure: YAMLFailure) -> Trap {
        let scene = TrapScene(text: text, failure: failure)
        for rule in rules {
            if let trap = rule(scene) { return trap }
        }
        return unknown(scene)
    }

    private static let rules: [@Sendable (TrapScene) -> Trap?] = [
        tabIndentation, longKey, bracketType, bracketTypeInBraces, unclosedQuote, strayClosing, badEscape, attribute,
        reservedStart, aliasOrDirective, missingSpace, missingColon, colonInValue, wrongIndentation, unclosedBracket,
        listOnKeyLine, textBehindValue,
    ]

    /// Tabs at the start of a line. One diagnostic for the file, whose fix replaces all of them.
    private static func tabIndentation(_ scene: TrapScene) -> Trap? {
        let lines = scene.lines
        var offset = scene.failure.offset
        if scene.says("found a tab character") {
            let indentation = lines.range(scene.line).lowerBound..<lines.content(scene.line).lowerBound
            guard let tab = indentation.first(where: { scene.bytes[$0] == Byte.tab }) else { return nil }
            offset = tab
        } else if !scene.says("cannot start any token") || scene.stoppedAt != Byte.tab {
            return nil
        }
        var run = offset..<offset + 1
        while run.upperBound < scene.bytes.count, scene.bytes[run.upperBound].isBlank {
            run = run.lowerBound..<run.upperBound + 1
        }
        guard offset <= lines.content(scene.line).lowerBound else {
            return scene.mend(
                "a tab cannot stand here; use a space", at: run, replace: run, with: " ", title: "use a space", .safe)
        }
        let indentation = TabIndentation(lines, from: scene.line)
        let edits = indentation.edits
        guard !edits.isEmpty else { return nil }
        var notes: [DiagnosticNote] = []
        if edits.count == 2 { notes.append(DiagnosticNote("one more line is indented with tabs")) }
        if edits.count > 2 { notes.append(DiagnosticNote("\(edits.count - 1) more lines are indented with tabs")) }
        if !indentation.isCertain {
            notes.append(DiagnosticNote("tabs stand among spaces here, so look at the nesting that comes out"))
        }
        let title = "use spaces"
        let fix = Fix(
            title, indentation.isCertain ? .safe : .suggested,
            edits.map { Edit(scene.text.span($0.range), $0.replacement) })
        let diagnostic = Diagnostic(
            .yamlTrap, "tabs cannot indent YAML; use spaces", at: scene.text.span(run), label: "tab here",
            notes: notes, help: title, fixes: [fix])
        var trap = Trap(diagnostic, edits: edits)
        trap.doubtful = indentation.guess
        return trap
    }

    /// A key of more than 1,024 characters, for which libyaml reports a misleading error.
    private static func longKey(_ scene: TrapScene) -> Trap? {
        guard scene.says("could not find expected ':'") || scene.says("mapping values are not allowed") else {
            return nil
        }
        let line = scene.lines.line(at: scene.failure.contextOffset ?? scene.failure.offset)
        let content = scene.lines.content(line)
        let key = scene.bytes[content].prefix { $0 != Byte.colon }
        guard key.count > 1000 else { return nil }
        let range = content.lowerBound..<content.lowerBound + key.count
        let message = "a key of \(key.count) bytes, more than the 128 allowed; shorten it"
        return scene.blank(line, Diagnostic(.limitExceeded, message, at: scene.text.span(range)))
    }

    /// `[String]?`, and other text after square brackets.
    private static func bracketType(_ scene: TrapScene) -> Trap? {
        for line in [scene.line, scene.line - 1] where line >= 0 {
            guard let value = scene.lines.keyAndValue(line)?.value, let first = value.first,
                scene.bytes[first] == UInt8(ascii: "["),
                let close = value.first(where: { scene.bytes[$0] == UInt8(ascii: "]") }), close + 1 < value.upperBound
            else { continue }
            let tail = scene.lines.text(close + 1..<value.upperBound)
            guard tail.hasPrefix("?") || tail.hasPrefix(" =") || tail.hasPrefix("=") else { continue }
            let inside = scene.lines.text(first + 1..<close)
            guard let type = collectionType(inside) else { continue }
            return scene.mend(
                "square brackets are lists of YAML, not types; write '\(type)'", at: value,
                replace: value, with: type, title: "write '\(type)'",
                isCertainCollection(inside) && isDroppable(tail) ? .safe : .suggested)
        }
        return nil
    }

    /// `String` to `List<String>`, `String: Int` to `Map<Int>`.
    static func collectionType(_ inside: String) -> String? {
        let parts = inside.split(separator: ":", maxSplits: 1).map { trimmed($0) }
        guard let last = parts.last, last.utf8.first?.isLetter == true,
            last.utf8.allSatisfy({ $0.isNameByte || $0 == UInt8(ascii: "?") })
        else { return nil }
        let element = ForeignTypes.rightSpelling(of: last)
        return parts.count == 2 ? "Map<\(element)>" : "List<\(element)>"
    }

    /// Whether the collection type is an exact replacement for the brackets. Map keys are always strings.
    static func isCertainCollection(_ inside: String) -> Bool {
        let parts = inside.split(separator: ":", maxSplits: 1)
        return parts.count < 2 || isTextKey(trimmed(parts[0]))
    }

    /// Whether a key type is a string type: `String`, `str`.
    static func isTextKey(_ key: String) -> Bool {
        let name = trimmed(key[...])
        return ForeignTypes.isCertain(name) && ForeignTypes.scalar(for: name) == ScalarKind.string.rawValue
    }

    /// Whether the text after a collection type can be removed. It only makes the collection optional or empty by
    /// default.
    static func isDroppable(_ tail: String) -> Bool {
        ["", "?", "=[]", "?=[]", "={}", "?=nil", "?=null"].contains(tail.filter { $0 != " " })
    }

    private static func trimmed(_ text: Substring) -> String {
        var bytes = text.utf8[...]
        while bytes.first?.isBlank == true { bytes = bytes.dropFirst() }
        while bytes.last?.isBlank == true { bytes = bytes.dropLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// An unclosed quote. The diagnostic is at the opening quote, wherever libyaml stopped.
    private static func unclosedQuote(_ scene: TrapScene) -> Trap? {
        guard
            scene.says("unexpected end of stream") || scene.says("did not find expected")
                || scene.says("mapping values are not allowed") || scene.says("unknown escape")
                || scene.says("could not find expected ':'") || scene.says("unexpected document indicator")
        else { return nil }
        let line: Int
        if scene.isInside("quoted scalar"), let opening = scene.failure.contextOffset, scene.says("unexpected") {
            line = scene.lines.line(at: opening)
        } else if let suspect = lineWithOpenQuote(scene) {
            line = suspect
        } else {
            return nil
        }
        guard let opening = openQuote(scene, line: line) else { return nil }
        let end = endOfText(scene, from: opening, line: line)
        let quote = scene.lines.text(opening..<opening + 1)
        var trap = scene.mend(
            "this quote is never closed; add a closing \(quote)", at: opening..<opening + 1, label: "opened here",
            replace: end..<end, with: quote, title: "close the quote", .suggested)
        trap.doubtful = opening..<end
        return trap
    }

    /// The end of the line, without brackets that close a bracket opened before the quote.
    private static func endOfText(_ scene: TrapScene, from opening: Int, line: Int) -> Int {
        let range = scene.lines.range(line)
        var open: [UInt8] = []
        for byte in scene.bytes[range.lowerBound..<opening] {
            if byte == UInt8(ascii: "[") { open.append(UInt8(ascii: "]")) }
            if byte == UInt8(ascii: "{") { open.append(UInt8(ascii: "}")) }
            if byte == open.last { open.removeLast() }
        }
        var end = range.upperBound
        for close in open {
            guard end - 1 > opening, scene.bytes[end - 1] == close else { break }
            end -= 1
        }
        return end
    }

    /// The last line before the failure whose value opens a quote and does not close it. It may be several lines above.
    private static func lineWithOpenQuote(_ scene: TrapScene) -> Int? {
        let first = max(0, scene.line - 200)
        return stride(from: scene.line, through: first, by: -1).first { openQuote(scene, line: $0) != nil }
    }

    /// The offset of a quote that starts a value and is not closed on its line.
    private static func openQuote(_ scene: TrapScene, line: Int) -> Int? {
        let range = scene.lines.range(line)
        var index = range.lowerBound
        var begins = true
        while index < range.upperBound {
            let byte = scene.bytes[index]
            if begins, byte == Byte.doubleQuote || byte == Byte.singleQuote {
                let opening = index
                index += 1
                while index < range.upperBound, scene.bytes[index] != byte {
                    if byte == Byte.doubleQuote, scene.bytes[index] == Byte.backslash { index += 1 }
                    index += 1
                }
                if index >= range.upperBound { return opening }
                begins = false
            } else if byte == Byte.hash, begins {
                return nil
            } else if byte.isBlank {
                let before = index > range.lowerBound ? scene.bytes[index - 1] : Byte.space
                begins = begins || before == Byte.colon || before == Byte.dash || before == Byte.comma
            } else {
                begins = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") || byte == Byte.comma
            }
            index += 1
        }
        return nil
    }

    /// `@Persisted Int`. The schema language has no attributes, and the type is complete without it.
    private static func attribute(_ scene: TrapScene) -> Trap? {
        guard scene.says("cannot start any token"), scene.stoppedAt == UInt8(ascii: "@") else { return nil }
        let content = scene.lines.content(scene.line)
        let start = scene.failure.offset
        var end = start + 1
        while end < content.upperBound, scene.bytes[end].isNameByte { end += 1 }
        let name = start..<end
        while end < content.upperBound, scene.bytes[end].isBlank { end += 1 }
        guard ForeignTypes.attributes.contains(scene.lines.text(name)), end < content.upperBound,
            scene.bytes[end].isLetter
        else { return nil }
        let advice = "write the type alone"
        return scene.mend(
            "'\(scene.lines.text(name))' is not part of the schema language; \(advice)", at: name,
            replace: start..<end, with: "", title: advice, .safe)
    }

    /// `@`, a backtick or `%` at the start of a value.
    private static func reservedStart(_ scene: TrapScene) -> Trap? {
        guard scene.says("cannot start any token"), let byte = scene.stoppedAt else { return nil }
        let end = max(scene.lines.content(scene.line).upperBound, scene.failure.offset + 1)
        let range = scene.failure.offset..<min(end, scene.bytes.count)
        let sign = String(UnicodeScalar(byte))
        let escaped = scene.lines.text(range).split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''")
        var trap = scene.mend(
            "'\(sign)' cannot begin a value in YAML; quote the value", at: range.lowerBound..<range.lowerBound + 1,
            replace: range, with: "'\(escaped)'", title: "quote the value", .suggested)
        trap.doubtful = range
        return trap
    }

    private static func aliasOrDirective(_ scene: TrapScene) -> Trap? {
        let message: String
        if scene.isInside("alias") || scene.isInside("anchor") {
            message = "anchors and aliases are not part of the schema language; quote the value or write it out"
        } else if scene.isInside("tag") {
            message = "tags are not part of the schema language; quote the value or remove it"
        } else if scene.isInside("directive") || scene.says("directive") {
            message = "directives are not part of the schema language; remove the line"
        } else {
            return nil
        }
        let line = scene.lines.line(at: scene.failure.contextOffset ?? scene.failure.offset)
        let start = scene.failure.contextOffset ?? scene.failure.offset
        let range = start..<min(start + 1, scene.bytes.count)
        return scene.blank(line, Diagnostic(.yamlSubset, message, at: scene.text.span(range)))
    }

    private static func unknown(_ scene: TrapScene) -> Trap {
        let range = scene.token(at: min(scene.failure.offset, max(0, scene.bytes.count - 1)))
        let detail = [scene.failure.context, scene.failure.problem].filter { !$0.isEmpty }.joined(separator: " ")
        var notes: [DiagnosticNote] = []
        if let context = scene.failure.contextOffset, context < scene.bytes.count, context != scene.failure.offset {
            notes.append(DiagnosticNote("what is being read begins here", at: scene.text.span(context, context + 1)))
        }
        let diagnostic = Diagnostic(
            .yamlTrap, "this is not valid YAML, \(detail); correct the line, or quote its text",
            at: scene.text.span(range), notes: notes)
        let line = scene.lines.isBlankOrComment(scene.line) ? scene.lines.previous(scene.line) : scene.line
        return scene.blank(line ?? scene.line, diagnostic)
    }
}
