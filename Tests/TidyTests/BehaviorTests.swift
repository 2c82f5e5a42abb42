import Testing

/// A rule of `Documentation/Behavior`: a list item that begins with an id in bold, as `- **N38** …`.
struct BehaviorRule {
    let id: String
    let path: String
    let line: Int

    static let folder = "Documentation/Behavior"

    /// The rules of all pages, in the order of the pages.
    static let all: [BehaviorRule] = Repository.files.filter { $0.isUnder(folder) }.flatMap(rules)

    static func rules(in page: RepositoryFile) -> [BehaviorRule] {
        let lines = page.text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.compactMap { index in
            guard lines[index].hasPrefix("- **") else { return nil }
            let bold = lines[index].dropFirst(4).prefix { $0 != "*" }
            guard RuleIdentifiers.isIdentifier(bold) else { return nil }
            return BehaviorRule(id: String(bold), path: page.path, line: index + 1)
        }
    }
}

/// Checks that every rule in `Documentation/Behavior` has a test, and that no text cites a rule that does not exist.
@Suite("rules of behavior")
struct BehaviorTests {
    @Test("every rule id in decisions, in ARCHITECTURE.md and in comments of sources exists")
    func citedRulesExist() {
        let pages = Repository.files.filter { $0.path == "ARCHITECTURE.md" || $0.isUnder("Documentation/Decisions") }
        let texts = pages + Repository.sources.map { RepositoryFile(path: $0.path, text: Self.comments(of: $0)) }
        expectTidy(texts.flatMap { Self.unknownRules(in: $0, known: RuleIdentifiers.all) })
    }

    @Test("every rule is cited in the display name of a test, or in a check of a script")
    func rulesHaveTests() {
        let scripts = Repository.files.filter {
            $0.isUnder("Tests") && $0.path.hasSuffix(".sh") || $0.isUnder("Benchmarks") && $0.path.hasSuffix(".py")
        }
        let texts = Repository.tests.flatMap(DisplayName.all).map(\.text) + scripts.map { Substring($0.text) }
        let cited = Set(texts.flatMap { RuleIdentifiers.named(in: $0) })
        #expect(!BehaviorRule.all.isEmpty)
        expectTidy(Self.untestedRules(of: BehaviorRule.all, cited: cited))
    }

    @Test("no rule is defined twice")
    func rulesAreUnique() {
        expectTidy(Self.repeatedRules(of: BehaviorRule.all))
    }

    @Test("unknown, untested and repeated rules are found in samples")
    func samples() {
        let page = RepositoryFile(
            path: "A.md",
            text: "# N1\n- **N1** One (N2).\n- **Note** N3\n- plain **N4**\n- **K2** Two.\n- **N1** Again.")
        let rules = BehaviorRule.rules(in: page)
        #expect(rules.map(\.id) == ["N1", "K2", "N1"] && rules.map(\.line) == [2, 5, 6])
        #expect(Self.repeatedRules(of: rules).map(\.line) == [6])
        #expect(Self.untestedRules(of: rules, cited: ["N1"]).map(\.what) == ["no test cites 'K2'"])
        let file = SwiftFile(
            path: "A.swift", "let n = \"N5\" // é N46-N49 and `$K0`, UN7, N8x\n/* D2 */ let s = S9 // N46")
        let text = RepositoryFile(path: file.path, text: Self.comments(of: file))
        let unknown = Self.unknownRules(in: text, known: ["N46"])
        #expect(unknown.map(\.what) == ["there is no rule 'N49'", "there is no rule 'D2'"])
        #expect(unknown.map(\.line) == [1, 2])
    }

    // MARK: Findings

    /// Returns the text of a file in which spaces replace the code. Line numbers do not change.
    static func comments(of file: SwiftFile) -> String {
        let bytes = zip(file.file.text.utf8, file.text.withoutComments.utf8).map { original, code in
            let isComment = original != code
            return isComment || original == UInt8(ascii: "\n") ? original : UInt8(ascii: " ")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func unknownRules(in file: RepositoryFile, known: Set<String>) -> [Finding] {
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.flatMap { index in
            RuleIdentifiers.named(in: lines[index]).filter { !known.contains($0) }.map {
                Finding(
                    path: file.path, line: index + 1, what: "there is no rule '\($0)'",
                    fix: "correct the id, or add the rule to \(BehaviorRule.folder)")
            }
        }
    }

    static func untestedRules(of rules: [BehaviorRule], cited: Set<String>) -> [Finding] {
        rules.filter { !cited.contains($0.id) }.map {
            Finding(
                path: $0.path, line: $0.line, what: "no test cites '\($0.id)'",
                fix: "write the id at the end of the display name of the test that proves the rule")
        }
    }

    static func repeatedRules(of rules: [BehaviorRule]) -> [Finding] {
        var seen: Set<String> = []
        return rules.filter { !seen.insert($0.id).inserted }.map {
            Finding(
                path: $0.path, line: $0.line, what: "the rule '\($0.id)' is defined twice",
                fix: "give the new rule the next free number, or merge the two")
        }
    }
}
