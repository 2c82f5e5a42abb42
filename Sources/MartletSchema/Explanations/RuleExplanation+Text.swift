/// The explanation as text and as a page.
extension RuleExplanation {
    /// For a terminal: paragraphs without line breaks; examples are indented by four blanks.
    public var paragraphs: [String] {
        var result = ["\(code.rawValue): \(code.meaning) (\(severity))", problem, "Why it matters: \(reason)"]
        switch example {
        case .schema(let wrong, let mended):
            result += ["Wrong:", RuleExplanation.indented(wrong), "Right:", RuleExplanation.indented(mended)]
        case .configuration(let wrong, let mended):
            result += [
                "Wrong, in 'martlet.yaml':", RuleExplanation.indented(wrong), "Right:",
                RuleExplanation.indented(mended),
            ]
        case .none(let sentence): result.append(sentence)
        }
        return result + ["To silence it: \(silencing)"]
    }

    /// The explanation as a piece of a page, without a heading.
    public var markdown: String {
        var parts = [RuleExplanation.prose(problem), RuleExplanation.prose(reason)]
        switch example {
        case .schema(let wrong, let mended):
            parts += ["Wrong:", RuleExplanation.block(wrong), "Right:", RuleExplanation.block(mended)]
        case .configuration(let wrong, let mended):
            parts += [
                "Wrong, in `martlet.yaml`:", RuleExplanation.block(wrong), "Right:", RuleExplanation.block(mended),
            ]
        case .none(let sentence): parts.append(RuleExplanation.prose(sentence))
        }
        parts.append(RuleExplanation.prose("To silence it: " + silencing))
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// What stands in single quotes becomes code, so that `List<String>` is not taken for HTML.
    static func code(in text: String) -> String {
        String(text.map { $0 == "'" ? "`" : $0 })
    }

    /// In lines of at most so many columns, as long as single words allow.
    public static func wrapped(_ paragraph: String, width: Int) -> String {
        var lines: [String] = []
        var line = ""
        for word in paragraph.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " " + word
        }
        return (lines + [line]).joined(separator: "\n")
    }

    private static func prose(_ text: String) -> String { wrapped(code(in: text), width: 120) }

    private static func indented(_ example: String) -> String {
        example.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n")
    }

    private static func block(_ example: String) -> String { "```yaml\n\(example)```" }
}

/// `Documentation/Rules.md`, made of the explanations.
public enum RulesPage {
    public static var text: String {
        var text = introduction
        text += "| code | severity | meaning |\n|---|---|---|\n"
        for code in DiagnosticCode.allCases {
            let link = "[\(code.rawValue)](#\(code.rawValue.lowercased()))"
            text += "| \(link) | \(code.explanation.severity) | \(RuleExplanation.code(in: code.meaning)) |\n"
        }
        for code in DiagnosticCode.allCases {
            let explanation = code.explanation
            text += "\n## \(code.rawValue)\n\n"
            text += "\(RuleExplanation.code(in: code.meaning).capitalizedFirst) (\(explanation.severity)).\n\n"
            text += explanation.markdown
        }
        return text
    }

    private static let introduction = """
        # Rules

        Every code a finding can bear. Errors stop generation and cannot be silenced; warnings and notes can, by a comment
        (`# martlet:ignore CODE`) or in `martlet.yaml`. The preset `standard` shows errors and warnings, `strict` notes too.
        `martlet explain CODE` says the same at the command line; this page is made from the same source.


        """
}

extension String {
    /// With its first letter in upper case, as a sentence begins; code and names of formats stay.
    fileprivate var capitalizedFirst: String {
        guard let first, first.isLetter else { return self }
        return first.uppercased() + dropFirst()
    }
}
