/// Writes names of tables and columns in SQL, and SQL literals.
public enum SQLName {
    /// The maximum length of a name in PostgreSQL, which truncates longer names.
    public static let maximumBytes = 63

    /// The name in snake case: `home_address` for `homeAddress`, `url_name` for `URLName`, and `line2` for `line2`.
    public static func snakeCase(_ name: String) -> String {
        let letters = Array(name)
        var words = ""
        for (index, letter) in letters.enumerated() {
            let previous = index > 0 ? letters[index - 1] : nil
            let next = index + 1 < letters.count ? letters[index + 1] : nil
            let startsWord =
                letter.isUppercase
                && (previous.map { $0.isLowercase || $0.isNumber } ?? false
                    || previous?.isUppercase ?? false && next?.isLowercase ?? false)
            if startsWord { words.append("_") }
            words.append(letter.lowercased())
        }
        return words
    }

    /// The name as a quoted identifier. The quotes are always written, because a name may be a reserved word of SQL.
    public static func quoted(_ name: String) -> String { "\"\(name)\"" }

    /// A text as an SQL literal. The function does not handle NUL, because no text of a schema contains it.
    public static func literal(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }

    /// Bytes as an SQL literal.
    public static func literal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return "'\\x" + String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }) + "'"
    }
}
