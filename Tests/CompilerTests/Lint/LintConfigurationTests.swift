import MartletCompiler
import MartletLint
import MartletSchema
import MartletTools
import Testing

@Suite("Lint: configuration")
struct LintConfigurationTests {
    private static let schema = """
        objects:
          Dogs:
            index: [isGood]
            properties: {isGood: Bool}

        """

    /// Returns the findings of two files that differ only in the name of the type. Each finding is a text of the form
    /// `path severity code`, in which the path is cut to four characters.
    private func lint(_ configuration: String?, preset: LintPreset? = nil) -> [String] {
        let cats = Self.schema.replacing("Dogs", with: "Cats")
        var input = SchemaInput(sources: [
            SourceText(file: SourceFileID(0), path: "Dogs.yaml", text: Self.schema),
            SourceText(file: SourceFileID(1), path: "Legacy/Old/Cats.yaml", text: cats),
        ])
        input.configuration = configuration.map { SourceText(file: SourceFileID(2), path: "martlet.yaml", text: $0) }
        let findings = Compiler.lint(input, options: CompilerOptions(preset: preset)).diagnostics
        return findings.map { finding in
            let path = input.allSources.first { $0.file == finding.span?.file }?.displayPath ?? ""
            return "\(path.prefix(4)) \(finding.severity.rawValue) \(finding.code.rawValue)"
        }
    }

    private let standardFindings = ["warning MRT0501"]
    private let strictFindings = ["note MRT0403", "warning MRT0501", "note MRT0504", "note MRT0502"]

    private func both(_ findings: [String]) -> [String] {
        ["Dogs", "Lega"].flatMap { path in findings.map { "\(path) \($0)" } }
    }

    @Test("a preset selects the enabled rules S41")
    func presets() {
        #expect(lint(nil) == both(standardFindings))
        #expect(lint("lint: {preset: minimal}\n") == [])
        #expect(lint("lint: {preset: standard}\n") == both(standardFindings))
        #expect(lint("lint: {preset: strict}\n") == both(strictFindings))
        #expect(lint("lint: {preset: strict}\n", preset: .minimal) == [])
        #expect(lint("lint: {preset: minimal}\n", preset: .strict) == both(strictFindings))
    }

    @Test("the severity of a single rule overrides the preset S7")
    func severities() {
        let text = "lint:\n  preset: minimal\n  rules: {MRT0403: error, MRT0501: note, MRT0504: off}\n"
        #expect(lint(text) == both(["error MRT0403", "note MRT0501"]))
        #expect(lint("lint: {rules: {MRT0501: off}}\n") == [])
        #expect(
            lint("lint: {rules: {MRT0501: off, MRT0504: warning}}\n") == both(["warning MRT0504"]))
    }

    @Test("overrides apply by path, and the last matching override wins S7")
    func overrides() {
        let text = """
            lint:
              rules: {MRT0504: off}
              overrides:
                - paths: [Legacy/**]
                  preset: strict
                  rules: {MRT0501: off, MRT0403: warning}
                - paths: ["**/Cats.yaml"]
                  rules: {MRT0502: error}

            """
        #expect(lint(text) == ["Dogs warning MRT0501", "Lega warning MRT0403", "Lega error MRT0502"])
    }

    @Test("'MRT0003: off' silences all findings about comments, whatever the comment says S7 MRT0003")
    func uselessComments() {
        let comments = [
            "ignore", "ignor MRT0501", "ignore MRT9999", "ignore MRT0203", "ignore MRT0003", "ignore MRT0403",
        ]
        let text =
            comments.map { "# martlet:\($0)\n" }.joined()
            + "objects:\n  Dog: {primaryKey: id, properties: {id: Int}}\n"
        var input = SchemaInput(sources: [SourceText(file: SourceFileID(0), path: "A.yaml", text: text)])
        #expect(Compiler.lint(input).diagnostics.map(\.code) == comments.map { _ in .uselessIgnore })
        input.configuration = SourceText(
            file: SourceFileID(1), path: "martlet.yaml", text: "lint: {rules: {MRT0003: off}}\n")
        #expect(Compiler.lint(input).diagnostics.map(\.message) == [])
    }

    @Test("an override is reported if its path matches no file MRT0003")
    func unmatched() {
        let text = "lint:\n  preset: standard\n  overrides:\n    - {paths: [Dogs.yaml, legacy], preset: minimal}\n"
        #expect(lint(text) == both(standardFindings).suffix(1) + ["mart warning MRT0003"])
    }

    @Test(
        "patterns match paths S7",
        arguments: [
            ("Dog.yaml", "Dog.yaml", true), ("Dog.yaml", "Sub/Dog.yaml", false), ("*.yaml", "Dog.yaml", true),
            ("*.yaml", "Sub/Dog.yaml", false), ("**/*.yaml", "Dog.yaml", true), ("**/*.yaml", "A/B/Dog.yaml", true),
            ("Sub", "Sub/A/Dog.yaml", true), ("Sub/", "Sub/Dog.yaml", true), ("Sub", "Subs/Dog.yaml", false),
            ("Sub/**", "Sub/A/B.yaml", true), ("Sub/**", "Sub", false), ("A/**/Z.yaml", "A/Z.yaml", true),
            ("A/**/Z.yaml", "A/B/C/Z.yaml", true), ("A/**/Z.yaml", "A/B/C/Y.yaml", false),
            ("D*g*.yaml", "Doggy.yaml", true), ("D*z.yaml", "Dog.yaml", false), ("./Dog.yaml", "Dog.yaml", true),
            ("", "Dog.yaml", false), ("*a*a*a*a*b", String(repeating: "a", count: 60), false),
        ])
    func patterns(pattern: String, path: String, matches: Bool) {
        #expect(PathPattern(pattern).matches(path) == matches)
    }
}
