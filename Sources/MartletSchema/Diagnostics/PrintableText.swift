extension String {
    /// The text with its invisible characters replaced by escapes: `\n`, `\u{1B}`, `\u{202E}`, `\u{A0}`, and `\xFF` for
    /// a byte of a file name that is not UTF-8.
    ///
    /// Diagnostics quote text of the schema. Without escapes, a line feed in this text would split a line of output,
    /// and a control character could change the state of the terminal. A reader could not distinguish a Unicode space
    /// from an ASCII space.
    public var printable: String {
        guard utf8.contains(where: { $0 < 0x20 || $0 >= 0x7F }), unicodeScalars.contains(where: \.isInvisible) else {
            return self
        }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.isInvisible { result += scalar.escape } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is a control, format or separator character other than the ASCII space. A scalar that
    /// represents a byte of a file name that is not UTF-8 counts as invisible too.
    fileprivate var isInvisible: Bool {
        if value < 0x7F { return value < 0x20 }
        return switch properties.generalCategory {
        case .privateUse: FileName.strayByte(of: self) != nil
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator: true
        default: false
        }
    }

    fileprivate var escape: String {
        if let byte = FileName.strayByte(of: self) { return byte.escape }
        return switch self {
        case "\n": "\\n"
        case "\t": "\\t"
        case "\r": "\\r"
        case "\0": "\\0"
        default: "\\u{\(String(value, radix: 16, uppercase: true))}"
        }
    }
}
