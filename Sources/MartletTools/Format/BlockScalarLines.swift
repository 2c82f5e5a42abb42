import MartletFrontend
import MartletSchema

/// Changes the indentation of the lines of a block scalar, which is a literal (`|`) or folded (`>`) scalar.
enum BlockScalarLines {
    /// The formatted header line, which contains `|` or `>`.
    ///
    /// - Parameter isCut: whether the file ends inside the scalar without a line break. The formatter then adds a line
    ///   break. It also writes a `-` into the header, so that the line break does not become part of the value.
    static func header(_ text: String, isCut: Bool) -> String {
        let header = text.trimmedAtEnd(isQuoted: false)
        guard isCut else { return header }
        let end = header.utf8.firstIndex { $0.isBlank || $0 == Byte.hash } ?? header.endIndex
        let indicators = header[..<end].filter { $0 != "+" && $0 != "-" }
        return indicators + "-" + header[end...]
    }

    /// The formatted lines after the header.
    ///
    /// - Parameters:
    ///   - texts: the lines after the header in the source.
    ///   - indentation: the new indentation.
    static func lines(
        _ texts: [String], of scalar: YAMLScalar, header: String, indentation: String
    ) -> [String] {
        var texts = texts
        // The range of the scalar ends at the start of the next line, so the last text can be empty.
        if texts.last?.isEmpty == true { texts.removeLast() }
        let keepsEnd = header.utf8.prefix { $0 != Byte.hash }.contains(UInt8(ascii: "+"))
        if !keepsEnd {
            while texts.last?.utf8.allSatisfy(\.isBlank) == true { texts.removeLast() }
        }
        // If a scalar consists only of blank lines, all its spaces are indentation.
        if scalar.text.utf8.allSatisfy({ $0 == Byte.lineFeed }) { return texts.map { _ in "" } }
        let removed = sourceIndentation(texts) - contentIndentation(scalar)
        return texts.map { text in
            let blanks = text.utf8.prefix(removed).prefix { $0 == Byte.space }.count
            let rest = String(decoding: text.utf8.dropFirst(blanks), as: UTF8.self)
            return rest.isEmpty ? "" : indentation + rest
        }
    }

    private static func sourceIndentation(_ texts: [String]) -> Int {
        indentation(texts.first { !$0.utf8.allSatisfy(\.isBlank) } ?? "")
    }

    /// The number of spaces at the start of the value. These spaces are content, not indentation. A value can begin
    /// with spaces only if the header has an indentation indicator.
    private static func contentIndentation(_ scalar: YAMLScalar) -> Int {
        let lines = scalar.text.utf8.split(separator: Byte.lineFeed)
        return indentation(lines.first.map { String(decoding: $0, as: UTF8.self) } ?? "")
    }

    private static func indentation(_ text: String) -> Int {
        text.utf8.prefix { $0 == Byte.space }.count
    }
}

extension SourceText {
    /// The lines of a range, without their line breaks.
    func lineTexts(of span: SourceSpan) -> [String] {
        let first = lineIndex(at: span.start)
        let last = lineIndex(at: span.end)
        return (first...last).map { line in
            let range = lineRange(line)
            let start = max(range.lowerBound, span.start)
            return text(of: SourceSpan(file: file, start: start, end: max(start, min(range.upperBound, span.end))))
        }
    }
}

extension String {
    var trimmedAtStart: String { String(decoding: utf8.drop(while: \.isBlank), as: UTF8.self) }

    /// The text without trailing spaces and tabs. In a quoted scalar, blanks after a backslash are part of an escape,
    /// so they are kept.
    func trimmedAtEnd(isQuoted: Bool) -> String {
        var bytes = utf8[...]
        while bytes.last?.isBlank == true { bytes = bytes.dropLast() }
        if isQuoted, bytes.last == Byte.backslash { return self }
        return String(decoding: bytes, as: UTF8.self)
    }
}
