import MartletFrontend
public import MartletSchema

/// The output of `martlet explain`.
public enum ExplanationText {
    private static let width = 80

    /// The code that a user has entered; nil if there is no such code. `MRT0203`, `mrt0203` and `203` are equivalent.
    public static func code(named word: String) -> DiagnosticCode? {
        DiagnosticCode(rawValue: spelling(of: word))
    }

    /// A suggestion for an unknown code, such as `did you mean 'MRT0203'?`; nil if no code is similar.
    public static func suggestion(for word: String) -> String? {
        Frontend.suggestion(for: spelling(of: word), among: DiagnosticCode.allCases.map(\.rawValue))
    }

    /// All codes, with one line for each code. A line contains the code and its meaning.
    public static var list: String {
        DiagnosticCode.allCases.map { "\($0.rawValue)  \($0.meaning)\n" }.joined()
    }

    /// The complete explanation of a code. Its prose is wrapped at 80 columns.
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
