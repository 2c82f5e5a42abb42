/// A JSON value. The members of an object keep their order, unlike the entries of a dictionary.
indirect enum JSONValue {
    case null
    case bool(Bool)
    case integer(Int)
    case string(String)
    case array([JSONValue])
    case object([(name: String, value: JSONValue)])

    /// An object with the given members. Members whose value is nil are left out.
    static func members(_ members: [(String, JSONValue?)]) -> JSONValue {
        .object(members.compactMap { name, value in value.map { (name, $0) } })
    }

    /// The JSON text, indented by two spaces, with a trailing line feed.
    var text: String {
        var text = ""
        write(into: &text, indent: "")
        return text + "\n"
    }

    private func write(into text: inout String, indent: String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .string(let value): text += JSONValue.quoted(value)
        case .array(let values):
            JSONValue.write(values, between: ("[", "]"), into: &text, indent: indent) { value, text, inner in
                value.write(into: &text, indent: inner)
            }
        case .object(let members):
            JSONValue.write(members, between: ("{", "}"), into: &text, indent: indent) { member, text, inner in
                text += JSONValue.quoted(member.name) + ": "
                member.value.write(into: &text, indent: inner)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], between brackets: (String, String), into text: inout String, indent: String,
        element: (Element, inout String, String) -> Void
    ) {
        text += brackets.0
        let inner = indent + "  "
        for (index, value) in elements.enumerated() {
            text += (index == 0 ? "\n" : ",\n") + inner
            element(value, &text, inner)
        }
        text += (elements.isEmpty ? "" : "\n" + indent) + brackets.1
    }

    /// Quotes and escapes a string as JSON requires. This function also escapes the control characters from U+007F to
    /// U+009F, and the separators U+2028 and U+2029, which JavaScript treats as line breaks.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension JSONValue: ExpressibleByStringLiteral {
    init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
    init(integerLiteral value: Int) { self = .integer(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
    init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { (name: $0.0, value: $0.1) })
    }
}
