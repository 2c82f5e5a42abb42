/// An XML element. Attributes keep their order.
struct XMLTag {
    let name: String
    let attributes: [(name: String, value: String)]
    /// The text content. Text and child elements are never mixed.
    let text: String
    let children: [XMLTag]

    init(_ name: String, _ attributes: [(String, String)] = [], text: String = "", children: [XMLTag] = []) {
        self.name = name
        self.attributes = attributes.map { (name: $0.0, value: $0.1) }
        self.text = text
        self.children = children
    }

    /// An XML document with this element as its root. Each level is indented by two spaces. The text ends with a line
    /// feed.
    var document: String {
        var result = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        write(into: &result, indent: "")
        return result
    }

    private func write(into result: inout String, indent: String) {
        result += "\(indent)<\(name)"
        for attribute in attributes {
            result += " \(attribute.name)=\"\(XMLTag.escaped(attribute.value, isAttribute: true))\""
        }
        if children.isEmpty, text.isEmpty {
            result += "/>\n"
        } else if children.isEmpty {
            result += ">\(XMLTag.escaped(text, isAttribute: false))</\(name)>\n"
        } else {
            result += ">\n"
            for child in children { child.write(into: &result, indent: indent + "  ") }
            result += "\(indent)</\(name)>\n"
        }
    }

    /// Escapes a text. Control characters other than tabs and line breaks become replacement characters, because XML
    /// 1.0 forbids or discourages them. In attributes, line breaks and tabs are written as character references,
    /// because XML readers replace unescaped line breaks and tabs with spaces.
    static func escaped(_ text: String, isAttribute: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"" where isAttribute: result += "&quot;"
            case "\r": result += "&#13;"
            case "\n" where isAttribute: result += "&#10;"
            case "\t" where isAttribute: result += "&#9;"
            case "\n", "\t": result.unicodeScalars.append(scalar)
            case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
