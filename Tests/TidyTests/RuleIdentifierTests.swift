import Testing

/// The ids of the rules in `Documentation/Behavior`: S for the schema language and its tools, O for objects and
/// queries, N for observation and threads, K for key-value observation, D for files and durability, Y for
/// synchronization. A test that proves a rule contains the id of the rule in its display name.
enum RuleIdentifiers {
    static let letters: Set<Character> = ["S", "O", "N", "K", "D", "Y"]

    static let all = Set(BehaviorRule.all.map(\.id))

    static func isIdentifier(_ word: Substring) -> Bool {
        guard let letter = word.first, letters.contains(letter) else { return false }
        return word.count > 1 && word.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// Returns the words of a text that have the form of an id. `$K0` is an argument of a query, and not an id.
    static func named(in text: Substring) -> [String] {
        text.split { !($0.isLetter || $0.isNumber || $0 == "$") }.filter(isIdentifier).map(String.init)
    }
}

/// The display name of a test or a suite.
struct DisplayName {
    let text: Substring
    let line: Int

    static func all(in file: SwiftFile) -> [DisplayName] {
        var names: [DisplayName] = []
        var rest = file.text.withoutComments[...]
        var line = 1
        func next() -> Range<Substring.Index>? {
            ["@Test(", "@Suite("].compactMap { rest.firstRange(of: $0) }.min { $0.lowerBound < $1.lowerBound }
        }
        while let start = next() {
            line += rest[..<start.upperBound].count { $0.isNewline }
            rest = rest[start.upperBound...]
            let argument = rest.drop { $0.isWhitespace }
            guard argument.first == "\"" else { continue }
            names.append(DisplayName(text: argument.dropFirst().prefix { $0 != "\"" }, line: line))
        }
        return names
    }
}

@Suite("rule ids")
struct RuleIdentifierTests {
    @Test("every rule id in the name of a test exists")
    func identifiersExist() {
        expectTidy(
            Repository.tests.filter { !$0.file.isUnder("Tests/TidyTests") }.flatMap(Self.findings))
    }

    static func findings(in file: SwiftFile) -> [Finding] {
        DisplayName.all(in: file).flatMap { name in
            RuleIdentifiers.named(in: name.text).filter { !RuleIdentifiers.all.contains($0) }.map {
                Finding(
                    path: file.path, line: name.line, what: "there is no rule '\($0)'",
                    fix: "correct the id, or add the rule to \(BehaviorRule.folder)")
            }
        }
    }
}
