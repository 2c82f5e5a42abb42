package import MartletSchema

/// Reads the comments of a file: documentation, directives such as `# martlet:ignore MRT0501`, and other comments.
///
/// libyaml does not report comments, so this type finds them in the source text outside of scalars.
package struct CommentReader {
    private enum Line {
        case documentation(String)
        case other
    }

    private let source: SourceText
    private var lines: [Int: Line] = [:]
    /// The number of the first line that is neither blank nor a comment. Lines are numbered from 0. Directives above
    /// this line apply to the whole file.
    private var headEnd = Int.max
    /// The last search for the end of a sequence of comment lines: the line where the search began, and the line after
    /// the sequence. Without this cache, thousands of consecutive directives would take quadratic time.
    private var lastTarget = (start: 0, end: 0)
    private(set) var ignores: [IgnoreModel] = []
    private(set) var diagnostics = LimitedFindings()

    /// - Parameter scalars: the ranges of the scalars that have several lines or contain a `#`, in source order. Only
    ///   these scalars can contain text that looks like a comment.
    init(_ source: SourceText, outside scalars: [SourceSpan]) {
        self.source = source
        var scalar = 0
        var directives: [(line: Int, range: Range<Int>)] = []
        func isInScalar(_ offset: Int) -> Bool {
            while scalar < scalars.count, scalars[scalar].end <= offset { scalar += 1 }
            return scalar < scalars.count && scalars[scalar].start < offset
        }
        for line in 0..<source.lineCount {
            let range = source.lineRange(line)
            var start = range.lowerBound
            while start < range.upperBound, source.bytes[start].isBlank { start += 1 }
            guard start < range.upperBound else { continue }
            guard source.bytes[start] == Byte.hash else {
                headEnd = min(headEnd, line)
                var hash = start + 1
                while let next = source.bytes[hash..<range.upperBound].firstIndex(of: Byte.hash) {
                    hash = next + 1
                    let comment = source.bytes[next..<range.upperBound]
                    guard source.bytes[next - 1].isBlank, Self.isDirective(comment), !isInScalar(next) else { continue }
                    directives.append((line, next..<range.upperBound))
                    break
                }
                continue
            }
            if isInScalar(start) { continue }
            lines[line] = Self.kind(source.bytes[start..<range.upperBound])
            if Self.isDirective(source.bytes[start..<range.upperBound]) {
                directives.append((line, start..<range.upperBound))
            }
        }
        for directive in directives { read(directive.range, line: directive.line) }
    }

    /// The documentation of a line: the texts of the `##` comments among the comment lines directly above it.
    func documentation(above line: Int) -> String? {
        var texts: [String] = []
        var current = line - 1
        while current >= 0, let comment = lines[current] {
            if case .documentation(let text) = comment { texts.append(text) }
            current -= 1
        }
        while texts.last?.isEmpty == true { texts.removeLast() }
        while texts.first?.isEmpty == true { texts.removeFirst() }
        return texts.isEmpty ? nil : texts.reversed().joined(separator: "\n")
    }

    /// The documentation of the token at a span. The result is nil if anything other than indentation and a dash
    /// precedes the token on its line.
    package func documentation(before span: SourceSpan) -> String? {
        let line = source.lineIndex(at: span.start)
        guard lines[line - 1] != nil else { return nil }
        let indentation = source.bytes[source.lineRange(line).lowerBound..<span.start]
        guard indentation.allSatisfy({ $0.isBlank || $0 == Byte.dash }) else { return nil }
        return documentation(above: line)
    }

    private static func kind(_ comment: ArraySlice<UInt8>) -> Line {
        let text = comment.dropFirst(2)
        guard comment.count >= 2, comment[comment.startIndex + 1] == Byte.hash else { return .other }
        guard let first = text.first else { return .documentation("") }
        guard first.isBlank else { return .other }
        var content = text.dropFirst()
        while let last = content.last, last.isBlank { content = content.dropLast() }
        return .documentation(String(decoding: content, as: UTF8.self))
    }

    private static func isDirective(_ comment: ArraySlice<UInt8>) -> Bool {
        let text = comment.dropFirst().drop(while: \.isBlank)
        return text.starts(with: Array("martlet:".utf8))
    }

    /// Parses a directive, such as `# martlet:ignore MRT0501, MRT0504`.
    private mutating func read(_ range: Range<Int>, line: Int) {
        var words: [(text: String, span: SourceSpan)] = []
        var index = range.lowerBound + 1
        while index < range.upperBound {
            let start = index
            while index < range.upperBound, !source.bytes[index].isBlank, source.bytes[index] != Byte.comma {
                index += 1
            }
            if index > start {
                let span = SourceSpan(file: source.file, start: start, end: index)
                words.append((source.text(of: span), span))
            }
            index += 1
        }
        guard let verb = words.first else { return }
        guard verb.text == "martlet:ignore" else {
            report("unknown directive '\(verb.text.shortened)'; the only one is 'martlet:ignore'", verb.span)
            return
        }
        if words.count == 1 { report("'martlet:ignore' names no code; write '# martlet:ignore MRT0501'", verb.span) }
        let target = line < headEnd ? nil : target(of: line)
        for word in words.dropFirst() {
            switch DiagnosticCode(rawValue: word.text) {
            case nil: report("unknown code '\(word.text.shortened)'; write one such as 'MRT0501'", word.span)
            case let code? where !code.canBeSilenced:
                report("'\(word.text)' is an error and cannot be silenced; fix the error", word.span)
            default: ignores.append(IgnoreModel(code: Spanned(word.text, word.span), line: target))
            }
        }
    }

    /// The line to which a directive applies. This is the line of the directive itself if other content precedes the
    /// directive there. Otherwise, it is the next line that is not a comment.
    private mutating func target(of line: Int) -> Int {
        guard lines[line] != nil else { return line }
        if line < lastTarget.end, line >= lastTarget.start { return lastTarget.end }
        var target = line + 1
        while lines[target] != nil { target += 1 }
        lastTarget = (line, target)
        return target
    }

    private mutating func report(_ message: @autoclosure () -> String, _ span: SourceSpan) {
        guard diagnostics.storesFindings(at: span) else { return diagnostics.recordDropped(at: span, isError: false) }
        diagnostics.append(Diagnostic(.uselessIgnore, message(), at: span))
    }
}
