import Foundation
import Martlet

/// Compares the answers of Martlet queries with the answers that Scripts/flights-answers.py computed directly from the
/// CSV files.
struct Verification {
    /// A question of Scripts/flights-answers.py, and the Martlet query that answers the question.
    struct Check: Sendable {
        let question: String
        let answer: @Sendable (Realm) throws -> Answer

        init(_ question: String, _ answer: @escaping @Sendable (Realm) throws -> Answer) {
            self.question = question
            self.answer = answer
        }
    }

    static let checks = countChecks + aggregateChecks + linkChecks + weatherChecks + textChecks

    let expected: [String: Answer]

    init(answers: URL) throws {
        let data: Data
        do {
            data = try Data(contentsOf: answers)
        } catch {
            throw UsageError("the answers '\(answers.path)' cannot be read: run Scripts/flights-answers.py")
        }
        do {
            expected = try JSONDecoder().decode([String: Answer].self, from: data)
        } catch {
            throw UsageError("'\(answers.path)' does not contain answers: run Scripts/flights-answers.py")
        }
    }

    /// Prints ok or FAIL for each question. Returns true if all answers are equal to the expected answers.
    func run(in realm: Realm) throws -> Bool {
        var failures = 0
        for check in Self.checks {
            let start = ContinuousClock.now
            let answer = try check.answer(realm)
            let time = "\(Int((ContinuousClock.now - start) / .milliseconds(1))) ms"
            if let expected = expected[check.question], expected.isApproximatelyEqual(to: answer) {
                print("ok    \(check.question): \(Self.shortened(answer)) (\(time))")
            } else {
                failures += 1
                let wanted = expected[check.question].map(\.description) ?? "no such question in the file"
                print("FAIL  \(check.question)\n      Martlet  \(answer)\n      expected \(wanted)")
            }
        }
        print("\(Self.checks.count - failures) of \(Self.checks.count) answers agree")
        return failures == 0
    }

    private static func shortened(_ answer: Answer) -> String {
        let text = answer.description
        return text.count <= 90 ? text : text.prefix(87) + "…"
    }
}
