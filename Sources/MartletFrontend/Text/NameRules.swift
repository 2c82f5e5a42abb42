import MartletSchema

/// Which names generated code can use. Swift keywords are fine: they are written in backticks.
enum NameRules {
    static let maximumLength = 63

    /// The one name of a property that begins with '_': what document stores call their primary key.
    static let documentKey = "_id"

    /// True for what a property can be called, as far as letters go.
    static func canName(property text: String) -> Bool { text.isName || text == documentKey }

    private static let kindsOfProperties: Set<String> = ["property", "label", "earlier", "index"]

    private static let databasePrefixes = ["sqlite_", "martlet_"]

    struct Problem {
        let message: String
        let replacement: String?
    }

    /// What makes a text no name at all.
    static func problem(of text: String, kind: String) -> Problem? {
        if text == documentKey, kindsOfProperties.contains(kind) { return nil }
        if text.isName {
            if kind == "type", let prefix = databasePrefixes.first(where: text.lowercased().hasPrefix) {
                return Problem(
                    message: "a type name cannot begin with '\(prefix)', which the database keeps for itself; "
                        + "begin with another word", replacement: nil)
            }
            guard text.utf8.count > maximumLength else { return nil }
            return Problem(
                message: "\(article(kind)) name of \(text.utf8.count) letters, more than the 63 allowed; shorten it",
                replacement: nil)
        }
        if text.isEmpty { return Problem(message: "\(article(kind)) name is missing; write one", replacement: nil) }
        let message: String
        if text.hasPrefix("_") {
            message = "'\(text.shortened)' begins with '_', which generated code keeps for itself; begin with a letter"
        } else if text.utf8.first?.isDigit == true {
            message = "'\(text.shortened)' begins with a digit; begin \(article(kind)) name with a letter"
        } else {
            let signs = kind == "namespace" ? "letters and digits" : "letters, digits and '_'"
            message = "'\(text.shortened)' cannot be \(article(kind)) name; use \(signs) of ASCII"
        }
        return Problem(message: message, replacement: replacement(for: text))
    }

    /// What keeps a text from being the name of a namespace: a Swift type that generated code speaks of everywhere.
    static func problem(ofNamespace text: String) -> Problem? {
        if let problem = problem(of: text, kind: "namespace") {
            return Problem(message: problem.message, replacement: upperCamelReplacement(for: text))
        }
        if ScalarKind(rawValue: text) != nil {
            return Problem(message: "'\(text)' is a built-in type; choose another namespace", replacement: nil)
        }
        if types.contains(text) {
            return Problem(
                message: "a namespace cannot be named '\(text)', which generated code needs; choose another name",
                replacement: nil)
        }
        if text.utf8.first?.isUppercase == true, !text.utf8.contains(Byte.underscore) { return nil }
        let replacement = upperCamelReplacement(for: text)
        let mend = replacement.map { "write '\($0)'" } ?? "choose another name"
        return Problem(message: "the namespace '\(text)' is not UpperCamelCase; \(mend)", replacement: replacement)
    }

    /// `my-zoo` to `MyZoo`; nil where that cannot be a namespace either.
    private static func upperCamelReplacement(for text: String) -> String? {
        let camel = (camelCase(text) ?? "").capitalizedFirst
        return camel != text && problem(ofNamespace: camel) == nil ? camel : nil
    }

    static func article(_ kind: String) -> String {
        kind.hasPrefix("e") || kind.hasPrefix("i") || kind.hasPrefix("o") ? "an \(kind)" : "a \(kind)"
    }

    /// `first-name` to `firstName`; nil where nothing good comes out.
    private static func replacement(for text: String) -> String? {
        guard let result = camelCase(text) else { return nil }
        let isFree = !members.contains(result) && !types.contains(result)
        return result != text && result.utf8.count <= maximumLength && isFree ? result : nil
    }

    /// The words of a text written as one, the first as it is; nil where it holds what cannot stand in a name.
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

    /// Members of the runtime's classes, those that publishers add among them, and what Swift keeps even in backticks.
    /// Methods with labels (`value(forKey:)`, `encode(to:)`, `hash(into:)`, `changes(keyPaths:)`) and static members
    /// (`fields`) leave their names to properties.
    static let members: Set<String> = [
        "realm", "objectSchema", "isInvalidated", "isFrozen", "description", "debugDescription", "hashValue",
        "self", "init", "freeze", "thaw", "observe", "objectWillChange", "className", "setValue",
        "isSameObject", "isEqual", "dynamicList", "dynamicSet", "dynamicMap", "detached", "mutableArrayValue",
        "addObserver", "removeObserver", "Fields", "KeyPaths", "Type", "Protocol", "Martlet", "Swift",
        "Foundation", "Model", "Root",
    ]

    /// Projections have these beside the members of objects.
    static let projectionMembers: Set<String> = members.union(["rootObject"])

    static let keyPathNames: Set<String> = ["self", "init", "Type", "Protocol", "Martlet", "Swift", "Foundation"]

    static let caseNames: Set<String> = [
        "Type", "Protocol", "allCases", "rawValue", "hashValue", "hash", "RawValue", "AllCases",
    ]

    /// Names that would hide what generated code says by its full name.
    static let types: Set<String> = [
        "Type", "Protocol", "Self", "Any", "self", "Martlet", "Swift", "Foundation", "Fields", "KeyPaths", "Model",
        "Root", "RootFields", "init",
    ]
}
