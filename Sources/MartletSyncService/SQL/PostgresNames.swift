package import MartletEngine

/// The names of tables and columns that `martlet postgres` writes.
///
/// The service does not use the compiler's code, so the rule is written twice. `PostgresNameTests` compares the two.
package enum PostgresNames {
    /// The table of the objects of a type.
    package static func table(_ type: ObjectTypeSchema) -> String { quoted(snakeCase(type.name)) }

    /// The table of the elements of a collection. It has the columns `owner` and `value`.
    package static func table(_ type: ObjectTypeSchema, _ property: PropertySchema) -> String {
        quoted(snakeCase(type.name) + "_" + snakeCase(property.name))
    }

    package static func column(_ property: PropertySchema) -> String { quoted(snakeCase(property.name)) }

    // `homeAddress` becomes `home_address`, `URLName` becomes `url_name`, `line2` stays.
    private static func snakeCase(_ name: String) -> String {
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

    private static func quoted(_ name: String) -> String { "\"\(name)\"" }
}
