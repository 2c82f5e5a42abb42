import MartletBackend
import MartletSchema
import Testing

/// Texts that would inject code if the generator did not escape them.
private let hostileTexts = [
    "*/ public var broken = 1 /*",
    "\"; fatalError(); \"",
    "\\(fatalError())",
    "\\\\(x) \\",
    "\"\u{301}",
    "quote \"\u{20D0} and back \\\u{301}",
    "\"\"\"",
    "#\"raw\"#",
    "line\r\nfeed\nreturn\rnext\u{85}para\u{2029}line\u{2028}form\u{0C}tab\u{0B}end",
    "\u{0}\u{7}\u{1B}[31m",
    "\u{202E}reversed\u{202C}",
    "🦅 café ß 國",
    "",
]

@Suite("Backend: schema text never becomes code")
struct HostileTextTests {
    @Test(
        "a default is a literal of printable ASCII that Swift reads back as the same text S14", arguments: hostileTexts)
    func defaults(text: String) throws {
        let swift = Sample.swift(Sample.string, default: .string(text))
        let start = try #require(swift.ranges(of: "value: Swift.String = ").last)
        let line = swift[start.upperBound...].prefix { $0 != "\n" }
        let literal = line.hasSuffix(") {") ? line.dropLast(3) : line
        #expect(literal.unicodeScalars.allSatisfy { (" "..."~").contains($0) })
        #expect(Array(decoded(literal).unicodeScalars) == Array(text.unicodeScalars))
    }

    @Test("documentation stays within comment lines S14", arguments: hostileTexts)
    func documentation(text: String) {
        let plain = Sample.swift(Sample.string)
        let swift = Sample.swift(Sample.string, doc: text)
        let code = swift.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.drop { $0 == " " }.hasPrefix("///") }
        #expect(code.joined(separator: "\n") == plain)
        #expect(
            !swift.unicodeScalars.contains {
                "\r\u{0B}\u{0C}\u{85}\u{2028}\u{2029}\u{0}\u{202E}".unicodeScalars.contains($0)
            })
    }

    @Test("the message of a deprecation is a string literal S14", arguments: hostileTexts.dropLast())
    func deprecations(text: String) throws {
        let swift = Sample.swift([Sample.object("Sample", [Sample.property("value", Sample.int, deprecated: text)])])
        let start = try #require(swift.firstRange(of: "@available(*, deprecated, message: "))
        let literal = swift[start.upperBound...].prefix { $0 != "\n" }.dropLast()
        #expect(decoded(literal) == text)
    }

    @Test("raw values of enums are string literals S14", arguments: hostileTexts)
    func rawValues(text: String) throws {
        let item = EnumCaseModel(name: "one", nameSpan: Sample.span, rawValue: .string(text))
        let model = EnumModel(name: "Kind", nameSpan: Sample.span, raw: .string, cases: [item])
        let swift = Sample.swift([], enums: [model])
        let start = try #require(swift.firstRange(of: "case one = "))
        #expect(decoded(swift[start.upperBound...].prefix { $0 != "\n" }) == text)
    }

    @Test("the path of a schema file cannot end the header comment S14")
    func paths() {
        let model = Sample.model([], path: "a\nimport Evil\r.yaml")
        let text = Backend.generate(model).first?.text ?? ""
        #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("//") })
    }

    @Test("documentation keeps its words and its inner empty lines, and loses leading and trailing empty lines S3")
    func lines() {
        let swift = Sample.swift(Sample.string, doc: "\nFirst.  \r\n\r\n- second\n\n")
        #expect(swift.contains("\n    /// First.\n    ///\n    /// - second\n    public var value"))
    }

    /// Returns the text that Swift reads from a single-line string literal without `#`.
    private func decoded(_ literal: some StringProtocol) -> String {
        var scalars = Array(literal.unicodeScalars.dropFirst().dropLast())[...]
        var text = String.UnicodeScalarView()
        while let scalar = scalars.popFirst() {
            guard scalar == "\\" else {
                if scalar == "\"" { return "a bare quote" }
                text.append(scalar)
                continue
            }
            switch scalars.popFirst() {
            case "u":
                let digits = scalars.dropFirst().prefix { $0 != "}" }
                scalars = scalars.dropFirst(digits.count + 2)
                let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16)
                if let decoded = value.flatMap(Unicode.Scalar.init) { text.append(decoded) }
            case let plain?: text.append(plain)
            case nil: return "an open escape"
            }
        }
        return String(text)
    }
}
