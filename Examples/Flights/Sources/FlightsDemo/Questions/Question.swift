import Martlet

/// A question about the flights, and the query that answers the question.
struct Question: Sendable {
    let text: String
    let answer: @Sendable (Realm) -> String

    init(_ text: String, _ answer: @escaping @Sendable (Realm) -> String) {
        self.text = text
        self.answer = answer
    }

    static func askAll(of realm: Realm) {
        for question in all {
            let start = ContinuousClock.now
            let answer = question.answer(realm)
            let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
            let time = "\((milliseconds * 10).rounded() / 10) ms"
            print("  \(question.text.padded(to: 50)) \(answer.padded(to: 54)) \(time.padded(to: 9, left: true))")
        }
    }
}
