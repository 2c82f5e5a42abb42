import MartletSchema

/// Formats explanations as plain text and as Markdown.
extension RuleExplanation {
    /// The explanation as paragraphs for a terminal. A paragraph of prose has no line breaks. An example has several
    /// lines, which are indented by four spaces.
    public var paragraphs: [String] {
        var result = ["\(code.rawValue): \(code.meaning) (\(severity))", problem, "Why it matters: \(reason)"]
        switch example {
        case .schema(let wrong, let fixed):
            result += ["Wrong:", RuleExplanation.indented(wrong), "Right:", RuleExplanation.indented(fixed)]
        case .configuration(let wrong, let fixed):
            result += [
                "Wrong, in 'martlet.yaml':", RuleExplanation.indented(wrong), "Right:",
                RuleExplanation.indented(fixed),
            ]
        case .none(let sentence): result.append(sentence)
        }
        return result + ["To silence it: \(silencing)"]
    }

    /// The explanation as Markdown, without a heading.
    public var markdown: String {
        var parts = [RuleExplanation.prose(problem), RuleExplanation.prose(reason)]
        switch example {
        case .schema(let wrong, let fixed):
            parts += ["Wrong:", RuleExplanation.block(wrong), "Right:", RuleExplanation.block(fixed)]
        case .configuration(let wrong, let fixed):
            parts += [
                "Wrong, in `martlet.yaml`:", RuleExplanation.block(wrong), "Right:", RuleExplanation.block(fixed),
            ]
        case .none(let sentence): parts.append(RuleExplanation.prose(sentence))
        }
        parts.append(RuleExplanation.prose("To silence it: " + silencing))
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// Replaces single quotes with backquotes. In Markdown, backquotes mark code, so that `List<String>` is not read as
    /// HTML.
    static func code(in text: String) -> String {
        String(text.map { $0 == "'" ? "`" : $0 })
    }

    /// Wraps a paragraph at `width` columns. Only a line with a single word can be longer.
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

/// Generates the text of `Documentation/Rules.md` from the explanations.
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

        The codes of all findings. Errors stop generation and cannot be silenced. Warnings and notes can be silenced by a
        comment (`# martlet:ignore CODE`) or in `martlet.yaml`, except those of `martlet breaking`. The preset `standard`
        shows errors and warnings; `strict` also shows notes. `martlet explain CODE` prints the same text; this page is
        generated from the same source.


        """
}

extension String {
    /// The text with an uppercase first letter. A text that does not begin with a letter is unchanged.
    fileprivate var capitalizedFirst: String {
        guard let first, first.isLetter else { return self }
        return first.uppercased() + dropFirst()
    }
}
