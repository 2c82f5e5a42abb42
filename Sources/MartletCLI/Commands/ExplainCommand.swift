import ArgumentParser
import MartletSchema
import MartletTools

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain a code: what is wrong, why it matters, and how to fix it.",
        discussion: "Without a code, the command lists all codes.")

    @Argument(
        help: "A code, such as MRT0203, mrt0203 or 203.",
        completion: .list(DiagnosticCode.allCases.map(\.rawValue)))
    var code: String?

    func run() throws {
        guard let word = code else {
            try Console.write(ExplanationText.list)
            return
        }
        guard let code = ExplanationText.code(named: word) else {
            let advice = ExplanationText.suggestion(for: word) ?? "'martlet explain' lists all codes"
            throw CommandFailure(.usage, "unknown code '\(word)'; \(advice)")
        }
        try Console.write(ExplanationText.text(of: code))
    }
}
