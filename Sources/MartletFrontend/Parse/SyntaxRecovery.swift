import MartletSchema

/// A diagnosed syntax error, and the edits after which the text is parsed again.
struct SyntaxRecovery {
    let diagnostic: Diagnostic
    /// Edits of the patched text, sorted, without overlaps.
    let edits: [(range: Range<Int>, replacement: [UInt8])]
    /// A range that may be misread after the edits. Findings of the schema parser and the resolver in this range are
    /// not reported.
    var unreliableRange: Range<Int>?

    init(_ diagnostic: Diagnostic, replace range: Range<Int>, with replacement: String) {
        self.init(diagnostic, edits: [(range, replacement)])
    }

    init(_ diagnostic: Diagnostic, edits: [(range: Range<Int>, replacement: String)]) {
        self.diagnostic = diagnostic
        self.edits = edits.map { ($0.range, Array($0.replacement.utf8)) }
    }
}

/// The input of the recovery rules: the text, its lines, and the place where libyaml stopped.
struct FailureSite {
    let text: PatchedText
    let lines: TextLines
    let failure: YAMLFailure
    /// The line in which libyaml stopped.
    let line: Int

    init(text: PatchedText, failure: YAMLFailure) {
        self.text = text
        self.failure = failure
        lines = TextLines(text.bytes)
        line = lines.line(at: min(failure.offset, text.bytes.count))
    }

    var bytes: [UInt8] { text.bytes }

    func problemContains(_ words: String) -> Bool {
        failure.problem.utf8.count >= words.utf8.count && failure.problem.contains(words)
    }

    func contextContains(_ words: String) -> Bool { failure.context.contains(words) }

    /// The byte at which libyaml stopped.
    var byteAtFailure: UInt8? { failure.offset < bytes.count ? bytes[failure.offset] : nil }

    /// Creates a recovery in which the fix of the diagnostic also edits the text for the next attempt to parse it.
    func recovery(
        _ message: String, at range: Range<Int>, label: String? = nil,
        replace: Range<Int>, with replacement: String, title: String, _ applicability: Fix.Applicability,
        notes: [DiagnosticNote] = []
    ) -> SyntaxRecovery {
        let fix = Fix(title, applicability, [Edit(text.span(replace), replacement)])
        let diagnostic = Diagnostic(
            .yamlMistake, message, at: text.span(range), label: label, notes: notes, help: title, fixes: [fix])
        return SyntaxRecovery(diagnostic, replace: replace, with: replacement)
    }

    /// Creates a recovery that replaces a line and its nested lines with spaces. The recovery rules use it if no
    /// smaller edit is known.
    func blank(_ line: Int, _ diagnostic: Diagnostic) -> SyntaxRecovery {
        let range = lines.block(line)
        let blanked = bytes[range].map { $0.isLineBreak ? $0 : Byte.space }
        return SyntaxRecovery(diagnostic, replace: range, with: String(decoding: blanked, as: UTF8.self))
    }

    /// The range of the word or character at an offset.
    func token(at offset: Int) -> Range<Int> {
        let line = lines.line(at: min(offset, bytes.count))
        let content = lines.content(line)
        guard offset < content.upperBound, offset >= content.lowerBound else {
            return content.isEmpty ? lines.range(line) : content
        }
        var end = offset + 1
        if bytes[offset].isNameByte {
            while end < content.upperBound, bytes[end].isNameByte { end += 1 }
        } else {
            while end < content.upperBound, bytes[end] & 0xC0 == 0x80 { end += 1 }
        }
        return offset..<end
    }
}
