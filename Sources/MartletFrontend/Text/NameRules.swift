import MartletSchema

/// Checks which names are valid in generated code. Swift keywords are valid, because they are written in backticks.
package enum NameRules {
    package static let maximumLength = 63

    /// The only valid property name that begins with '_'. Document databases use this name for the primary key.
    package static let documentKey = "_id"

    /// Whether the characters of the text are valid in a property name.
    static func isPropertyName(_ text: String) -> Bool { text.isName || text == documentKey }

    /// The kinds of names that refer to properties. `earlier` is the kind of the names in `renamedFrom`.
    private static let kindsOfProperties: Set<String> = ["property", "label", "earlier"]

    private static let databasePrefixes = ["sqlite_", "martlet_"]

    struct Problem {
        let message: String
        let replacement: String?
    }

    /// The reason why a text is not a valid name; nil if it is valid.
    static func problem(of text: String, kind: String) -> Problem? {
        if text == documentKey, kindsOfProperties.contains(kind) { return nil }
        if text.isName {
            if kind == "type", let prefix = databasePrefixes.first(where: text.lowercased().hasPrefix) {
                return Problem(
                    message: "a type name cannot begin with '\(prefix)', which is reserved for the database; "
                        + "begin with another word", replacement: nil)
            }
            guard text.utf8.count > maximumLength else { return nil }
            return Problem(
                message: "\(article(kind)) name of \(text.utf8.count) characters, more than the 63 allowed; shorten it",
                replacement: nil)
        }
        if text.isEmpty { return Problem(message: "\(article(kind)) name is missing; write one", replacement: nil) }
        let message: String
        if text.hasPrefix("_") {
            message = "'\(text.shortened)' begins with '_', which is reserved for generated code; begin with a letter"
        } else if text.utf8.first?.isDigit == true {
            message = "'\(text.shortened)' begins with a digit; begin \(article(kind)) name with a letter"
        } else {
            let rule =
                kind == "namespace"
                ? "namespaces consist of ASCII letters and digits"
                : "names consist of ASCII letters, digits and '_'"
            message = "'\(text.shortened)' cannot be \(article(kind)) name; \(rule)"
        }
        return Problem(message: message, replacement: replacement(for: text))
    }

    /// The reason why a text is not a valid namespace; nil if it is valid. For example, a namespace cannot have the
    /// name of a Swift type to which generated code refers.
    static func problem(ofNamespace text: String) -> Problem? {
        if let problem = problem(of: text, kind: "namespace") {
            return Problem(message: problem.message, replacement: upperCamelReplacement(for: text))
        }
        if ScalarKind(rawValue: text) != nil {
            return Problem(message: "'\(text)' is a built-in type; choose another namespace", replacement: nil)
        }
        if reservedTypeNames.contains(text) {
            return Problem(
                message: "a namespace cannot be named '\(text)', which generated code needs; choose another name",
                replacement: nil)
        }
        if text.utf8.first?.isUppercase == true, !text.utf8.contains(Byte.underscore) { return nil }
        let replacement = upperCamelReplacement(for: text)
        let advice = replacement.map { "write '\($0)'" } ?? "choose another name"
        return Problem(message: "the namespace '\(text)' is not UpperCamelCase; \(advice)", replacement: replacement)
    }

    /// The UpperCamelCase form of a text, such as `MyZoo` for `my-zoo`. nil if this form is not a valid namespace, or
    /// if the text already has this form.
    private static func upperCamelReplacement(for text: String) -> String? {
        let camel = (camelCase(text) ?? "").capitalizedFirst
        return camel != text && problem(ofNamespace: camel) == nil ? camel : nil
    }

    static func article(_ kind: String) -> String {
        kind.hasPrefix("e") || kind.hasPrefix("i") || kind.hasPrefix("o") ? "an \(kind)" : "a \(kind)"
    }

    /// A valid name that is similar to an invalid name, such as `firstName` for `first-name`; nil if there is none.
    private static func replacement(for text: String) -> String? {
        guard let result = camelCase(text) else { return nil }
        let isFree = !reservedPropertyNames.contains(result) && !reservedTypeNames.contains(result)
        return result != text && result.utf8.count <= maximumLength && isFree ? result : nil
    }

    /// Joins the words of a text in camel case, and keeps the case of the first word. All characters except letters and
    /// digits separate words. The result is nil if the text contains a non-ASCII character, or if its first word does
    /// not begin with a letter.
    private static func camelCase(_ text: String) -> String? {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let words = text.utf8.split { !($0.isLetter || $0.isDigit) }
        guard let first = words.first, first.first?.isLetter == true else { return nil }
        var bytes = Array(first)
        for word in words.dropFirst() {
            if let head = word.first {
                bytes.append(head.isLetter && !head.isUppercase ? head - 0x20 : head)
                bytes += word.dropFirst()
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Names that a property cannot have: members of the runtime's classes, names to which generated code refers, and
    /// words that Swift reserves even in backticks. A property can have the name of a static member (`fields`). It can
    /// also have the name of most methods whose first argument has a label, such as `encode(to:)` and `hash(into:)`.
    package static let reservedPropertyNames: Set<String> = [
        "realm", "objectSchema", "isInvalidated", "isFrozen", "description", "debugDescription", "hashValue",
        "self", "init", "freeze", "thaw", "observe", "objectWillChange", "className", "setValue",
        "isSameObject", "isEqual", "dynamicList", "dynamicSet", "dynamicMap", "detached", "mutableArrayValue",
        "addObserver", "removeObserver", "Fields", "KeyPaths", "Type", "Protocol", "Martlet", "Swift",
        "Foundation", "Model", "Root",
    ]

    /// Names that a label of a projection cannot have.
    package static let reservedLabelNames: Set<String> = reservedPropertyNames.union(["rootObject"])

    /// Names that a key path cannot have.
    package static let reservedKeyPathNames: Set<String> = [
        "self", "init", "Type", "Protocol", "Martlet", "Swift", "Foundation",
    ]

    /// Names that a case cannot have.
    package static let reservedCaseNames: Set<String> = [
        "Type", "Protocol", "allCases", "rawValue", "hashValue", "hash", "RawValue", "AllCases",
    ]

    /// Names that a type cannot have. Most of them would shadow types to which generated code refers.
    package static let reservedTypeNames: Set<String> = [
        "Type", "Protocol", "Self", "Any", "self", "Martlet", "Swift", "Foundation", "Fields", "KeyPaths", "Model",
        "Root", "RootFields", "init",
    ]
}
