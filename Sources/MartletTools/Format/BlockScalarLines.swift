import MartletFrontend
import MartletSchema

/// Reindents the lines of a literal or folded scalar.
enum BlockScalarLines {
    /// The header line with `|` or `>`.
    ///
    /// - Parameter isCut: whether the file ends inside the scalar, without a line break. The formatter adds a line
    ///   break, and a `-` in the header excludes this line break from the scalar's value.
    static func header(_ text: String, isCut: Bool) -> String {
        let header = text.trimmedAtEnd(isQuoted: false)
        guard isCut else { return header }
        let end = header.utf8.firstIndex { $0.isBlank || $0 == Byte.hash } ?? header.endIndex
        let indicators = header[..<end].filter { $0 != "+" && $0 != "-" }
        return indicators + "-" + header[end...]
    }

    /// - Parameter texts: the lines after the header.
    static func lines(
        _ texts: [String], of scalar: YAMLScalar, header: String, indentation: String
    ) -> [String] {
        var texts = texts
        // The scalar's range ends at the start of the next line, so the last text can be empty.
        if texts.last?.isEmpty == true { texts.removeLast() }
        let keepsEnd = header.utf8.prefix { $0 != Byte.hash }.contains(UInt8(ascii: "+"))
        if !keepsEnd {
            while texts.last?.utf8.allSatisfy(\.isBlank) == true { texts.removeLast() }
        }
        // In a scalar of blank lines only, all spaces are indentation.
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

    /// The number of spaces at the start of the scalar's value. A value can begin with spaces only if the header has an
    /// indentation indicator.
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

    /// The text without trailing spaces and tabs. In a quoted scalar, a blank after a backslash is kept.
    func trimmedAtEnd(isQuoted: Bool) -> String {
        var bytes = utf8[...]
        while bytes.last?.isBlank == true { bytes = bytes.dropLast() }
        if isQuoted, bytes.last == Byte.backslash { return self }
        return String(decoding: bytes, as: UTF8.self)
    }
}
