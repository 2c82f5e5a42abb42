import MartletCompiler
public import MartletSchema

/// Prints findings as text. The style `full` shows the source line of a finding with carets. The style `brief` prints
/// one line for each finding, for editors and build logs.
public struct DiagnosticPrinter {
    public enum Style: Sendable {
        case full
        /// The format of `BriefPrinter`.
        case brief
    }

    private let sources: [SourceFileID: SourceText]
    private let brief: BriefPrinter
    private let style: Style
    private let palette: Palette

    public init(sources: [SourceText], style: Style = .full, isColored: Bool = false) {
        self.sources = Dictionary(sources.map { ($0.file, $0) }) { first, _ in first }
        brief = BriefPrinter(sources: sources)
        self.style = style
        palette = Palette(isOn: isColored)
    }

    /// The text of all findings; empty if there are none.
    public func text(_ diagnostics: [Diagnostic]) -> String {
        switch style {
        case .full: diagnostics.map { full($0) + "\n" }.joined()
        case .brief: brief.text(diagnostics)
        }
    }

    /// A summary such as `3 errors and 1 warning`; nil if there are no findings.
    public static func summary(_ diagnostics: [Diagnostic]) -> String? {
        let parts = [Severity.error, .warning, .note].compactMap { severity in
            let count = diagnostics.count { $0.severity == severity }
            return count == 0 ? nil : "\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
        }
        guard let last = parts.last else { return nil }
        return parts.count == 1 ? last : parts.dropLast().joined(separator: ", ") + " and " + last
    }

    // MARK: Many lines

    private func full(_ finding: Diagnostic) -> String {
        let severity = palette.paint("\(finding.severity.rawValue)[\(finding.code.rawValue)]", as: finding.severity)
        var text = "\(severity): \(palette.bold(finding.message))\n"
        if let span = finding.span, let source = sources[span.file] {
            text += excerpt(span, in: source, label: finding.label, severity: finding.severity)
        }
        for note in finding.notes {
            text += "note: \(note.message)\n"
            if let span = note.span, let source = sources[span.file] {
                text += excerpt(span, in: source, label: nil, severity: .note)
            }
        }
        if let help = finding.help { text += "help: \(help)\n" }
        return text
    }

    private func excerpt(_ span: SourceSpan, in source: SourceText, label: String?, severity: Severity) -> String {
        let position = source.position(at: span.start)
        let line = position.line - 1
        let number = String(position.line)
        let margin = String(repeating: " ", count: number.utf8.count)
        let bar = palette.blue("|")
        let range = source.lineRange(line)
        let window = LineWindow(source: source, line: range, span: span)
        var carets = String(repeating: "^", count: window.caretCount)
        if let label { carets += " " + label }
        var text =
            "\(margin)\(palette.blue("-->")) \(source.displayPath.printable):\(position.line):\(position.column)\n"
        text += "\(margin) \(bar)\n"
        text += "\(palette.blue(number)) \(bar) \(window.text)\n"
        text += "\(margin) \(bar) \(window.padding)\(palette.paint(carets, as: severity))\n"
        return text
    }
}

/// The visible part of a source line, and the position of the carets. A long line is truncated before and after the
/// finding.
private struct LineWindow {
    private static let maximumScalars = 160

    let text: String
    let padding: String
    let caretCount: Int

    init(source: SourceText, line: Range<Int>, span: SourceSpan) {
        let start = min(max(span.start, line.lowerBound), line.upperBound)
        let end = min(max(span.end, start), line.upperBound)
        // Most lines need no truncation and no replacements. This branch is fast.
        if line.count <= Self.maximumScalars, start - line.lowerBound <= Self.maximumScalars / 2,
            source.bytes[line].allSatisfy({ (0x20...0x7E).contains($0) })
        {
            text = LineWindow.string(source, line)
            padding = String(repeating: " ", count: start - line.lowerBound)
            caretCount = max(1, end - start)
            return
        }
        var before = Array(LineWindow.string(source, LineWindow.tail(line.lowerBound..<start, source)).unicodeScalars)
        let marked = Array(
            LineWindow.string(source, LineWindow.head(start..<end, source)).unicodeScalars.prefix(Self.maximumScalars))
        var after = Array(LineWindow.string(source, LineWindow.head(end..<line.upperBound, source)).unicodeScalars)
        if before.count > Self.maximumScalars / 2 {
            before = ["…"] + before.suffix(Self.maximumScalars / 2 - 1)
        }
        let room = max(0, Self.maximumScalars - before.count - marked.count)
        if after.count > room { after = after.prefix(room) + ["…"] }
        text = LineWindow.shown(before + marked + after)
        padding = String(repeating: " ", count: LineWindow.width(before))
        caretCount = max(1, LineWindow.width(marked))
    }

    /// The first bytes of a range. They contain the scalars of the visible part and at least one more scalar, and end
    /// at a scalar boundary.
    private static func head(_ range: Range<Int>, _ source: SourceText) -> Range<Int> {
        var end = min(range.upperBound, range.lowerBound + 4 * (maximumScalars + 1))
        while end < range.upperBound, source.bytes[end] & 0xC0 == 0x80 { end += 1 }
        return range.lowerBound..<end
    }

    /// The last bytes of a range. They contain the scalars of the visible part and at least one more scalar, and begin
    /// at a scalar boundary.
    private static func tail(_ range: Range<Int>, _ source: SourceText) -> Range<Int> {
        var start = max(range.lowerBound, range.upperBound - 4 * (maximumScalars + 1))
        while start > range.lowerBound, source.bytes[start] & 0xC0 == 0x80 { start -= 1 }
        return start..<range.upperBound
    }

    private static func string(_ source: SourceText, _ range: Range<Int>) -> String {
        String(decoding: source.bytes[range], as: UTF8.self)
    }

    /// Replaces tabs with spaces, and replaces control characters with a placeholder, so that the text of a schema
    /// cannot change the state of the terminal.
    private static func shown(_ scalars: [Unicode.Scalar]) -> String {
        var view = String.UnicodeScalarView()
        for scalar in scalars {
            if (0x20..<0x7F).contains(scalar.value) {
                view.append(scalar)
            } else if scalar == "\t" {
                view.append(" ")
            } else if scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format {
                view.append("\u{FFFD}")
            } else {
                view.append(scalar)
            }
        }
        return String(view)
    }

    /// The number of terminal columns of the scalars. A combining mark has no column, and a wide character has two
    /// columns.
    private static func width(_ scalars: [Unicode.Scalar]) -> Int {
        scalars.reduce(0) { $0 + width($1) }
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x7F { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
