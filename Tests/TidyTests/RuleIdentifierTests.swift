import Testing

/// The ids of the contracts: S for the schema language and its tools, O for objects, N for observation, K for
/// KVO-style observation. A test that shows a rule carries its id in its display name.
enum RuleIdentifiers {
    static let ranges: [String: String] = [
        "S": "1-7 10-14 20-24 30-34 40-46",
        "O": "1-8 10-15 20-24 30-35 40-47 50-56",
        "N": """
        1-14 16-54 56-61 63-72 74-75 77-79 82-88 90-91 93-94 96 98-104 108 110-115 117 119-130 132-135 137-138
        """,
        "K": "1-17 20-29",
    ]

    static let all: Set<String> = Set(
        ranges.flatMap { letter, ranges in
            ranges.split(separator: " ").flatMap { range in
                let ends = range.split(separator: "-").compactMap { Int($0) }
                return (ends[0]...ends[ends.count - 1]).map { "\(letter)\($0)" }
            }
        })

    /// Words of a display name that look like an id.
    static func named(in displayName: Substring) -> [String] {
        displayName.split { !($0.isLetter || $0.isNumber) }.map(String.init).filter { word in
            guard let letter = word.first, ranges[String(letter)] != nil else { return false }
            return word.count > 1 && word.dropFirst().allSatisfy(\.isNumber)
        }
    }
}

/// The name that a test shows.
struct DisplayName {
    let text: Substring
    let line: Int

    static func all(in file: SwiftFile) -> [DisplayName] {
        var names: [DisplayName] = []
        var rest = file.text.withoutComments[...]
        var line = 1
        while let start = rest.firstRange(of: "@Test(") ?? rest.firstRange(of: "@Suite(") {
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
                    mend: "correct the id, or add the rule to RuleIdentifiers")
            }
        }
    }
}

@Suite("architecture page")
struct ArchitecturePageTests {
    @Test("every test that the page names exists")
    func namedTestsExist() throws {
        let page = try #require(Repository.files.first { $0.path == "ARCHITECTURE.md" })
        let suites = Set(Repository.tests.flatMap { TypeDeclaration.all(in: $0).map(\.name) })
        let named = page.text.split { !($0.isLetter || $0.isNumber) }.filter { $0.hasSuffix("Tests") && $0 != "Tests" }
        let targets: Set<String> = ["CompilerTests", "EngineTests", "RuntimeTests", "TidyTests"]
        #expect(Set(named.map(String.init)).subtracting(suites).subtracting(targets).isEmpty)
    }
}
