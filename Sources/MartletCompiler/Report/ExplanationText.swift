import MartletFrontend
public import MartletSchema

/// What `martlet explain` says.
public enum ExplanationText {
    private static let width = 80

    /// The code that a person means: `MRT0203`, `mrt0203` and `203` are one.
    public static func code(named word: String) -> DiagnosticCode? {
        DiagnosticCode(rawValue: spelling(of: word))
    }

    /// For a word that names no code: `did you mean 'MRT0203'?`, nil when nothing is near.
    public static func question(about word: String) -> String? {
        Frontend.question(about: spelling(of: word), among: DiagnosticCode.allCases.map(\.rawValue))
    }

    /// Every code with its meaning, one line each.
    public static var list: String {
        DiagnosticCode.allCases.map { "\($0.rawValue)  \($0.meaning)\n" }.joined()
    }

    /// The whole explanation of a code, in lines of at most 80 columns where they are prose.
    public static func text(of code: DiagnosticCode) -> String {
        code.explanation.paragraphs.map { paragraph in
            paragraph.hasPrefix("    ") ? paragraph : RuleExplanation.wrapped(paragraph, width: width)
        }.joined(separator: "\n\n") + "\n"
    }

    private static func spelling(of word: String) -> String {
        let upper = word.uppercased()
        guard !upper.isEmpty, upper.utf8.count <= 4, upper.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return upper
        }
        return "MRT" + String(repeating: "0", count: 4 - upper.utf8.count) + upper
    }
}
