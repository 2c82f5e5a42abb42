import Foundation
import MartletSchema
import Testing

@testable import MartletTools

/// Tests file names that are not UTF-8 or contain control characters.
@Suite("Command line: file names")
struct FileNameTests {
    /// A schema as a format string for the shell's `printf`. `%s` is the type of the property `name`.
    private static let dog =
        "objects:\\n  ## Barks at night.\\n  Dog:\\n    primaryKey: id\\n    properties: {id: ObjectId = new, name: %s}\\n"

    /// File names: `octal` is the argument for the shell's `printf`, and `shown` is the name that the tool displays.
    private static let names: [(octal: String, shown: String)] = [
        ("\\377\\376", "\\xFF\\xFE"),
        ("a\\303b", "a\\xC3b"),
        // A surrogate and an overlong encoding. Both are invalid in UTF-8.
        ("\\355\\240\\200\\300\\200", "\\xED\\xA0\\x80\\xC0\\x80"),
        // U+10F7FF in UTF-8. `FileName` represents the byte 0xFF by this scalar, so it treats these four bytes like
        // invalid UTF-8.
        ("\\364\\217\\237\\277", "\\xF4\\x8F\\x9F\\xBF"),
        ("\\033[31mred\\033[0m", "\\u{1B}[31mred\\u{1B}[0m"),
        ("two\\nlines", "two\\nlines"),
        ("\\342\\200\\256right", "\\u{202E}right"),
    ]

    @Test("every file name converts to text and back without loss S32")
    func texts() {
        var random = SystemRandomNumberGenerator()
        let special: [[UInt8]] = [
            [0xF4, 0x8F, 0x9F, 0xBF], [0xF4, 0x8F, 0x9E, 0x80], Array("é".utf8), Array("🐕".utf8),
        ]
        for _ in 0..<5000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes += special.randomElement(using: &random) ?? []
                case 1: bytes.append(UInt8.random(in: 0x80...0xFF, using: &random))
                case 2: bytes.append(UInt8.random(in: 1...0x7F, using: &random))
                default: bytes += (special.randomElement(using: &random) ?? []).dropLast()
                }
            }
            let text = FileName.text(of: bytes)
            #expect(FileName.bytes(of: text) == bytes)
            if let valid = String(validating: bytes, as: UTF8.self),
                !valid.unicodeScalars.contains(where: { $0.value >> 8 == 0x10F7 })
            {
                #expect(Array(text.unicodeScalars) == Array(valid.unicodeScalars))
            }
            #expect(text.printable.printable == text.printable)
        }
    }

    private func outcome(
        _ name: String, type: String = "string", _ script: String
    ) throws -> Executable.Outcome {
        try Executable().shell(
            """
            name="$(printf '\(name)x')"; name="${name%x}"
            mkdir -p "Schemas $name/Sub" && printf '\(Self.dog)' \(type) > "Schemas $name/Sub/$name.yaml" || exit 99
            \(script)
            """, in: TemporaryFolder())
    }

    @Test("findings name the file on one line S11 S32", arguments: names)
    func findings(_ name: (octal: String, shown: String)) throws {
        for path in ["\"Schemas $name\"", "\"Schemas $name/Sub/$name.yaml\""] {
            let outcome = try outcome(name.octal, "\"$MARTLET\" lint --brief \(path)")
            #expect(
                outcome.output.hasPrefix(
                    "Schemas \(name.shown)/Sub/\(name.shown).yaml:5:44: error: unknown type 'string'"))
            #expect(outcome.output.split(separator: "\n").count == 1)
            #expect(outcome.status == 1)
            #expect(outcome.errors == "")
        }
    }

    @Test("every format is valid UTF-8 without control characters S41", arguments: names, ReportFormat.allCases)
    func formats(_ name: (octal: String, shown: String), _ format: ReportFormat) throws {
        let outcome = try outcome(name.octal, "\"$MARTLET\" lint --format \(format.rawValue) \"Schemas $name\"")
        #expect(outcome.status == 1)
        #expect(outcome.errors == "")
        // The GitHub format contains the exact path, and has escapes only for line breaks.
        let isExact = format == .github && name.octal.hasPrefix("\\033")
        #expect(isExact || outcome.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
        let hasStrayBytes = name.shown.contains("\\x")
        switch format {
        case .text, .brief: #expect(outcome.output.contains("Schemas \(name.shown)/Sub/\(name.shown).yaml:5:44"))
        case .json:
            let path = try JSONQuery(outcome.output)["findings"][0]["path"].string
            #expect(!hasStrayBytes || path == "Schemas \(name.shown)/Sub/\(name.shown).yaml")
        case .gitlab:
            let path = try JSONQuery(outcome.output)[0]["location"]["path"].string
            #expect(!hasStrayBytes || path == "Schemas \(name.shown)/Sub/\(name.shown).yaml")
        case .sarif:
            // URIs contain the percent-encoded bytes of the name.
            #expect(name.octal != "\\377\\376" || outcome.output.contains("\"Schemas%20%FF%FE/Sub/%FF%FE.yaml\""))
        case .github:
            #expect(outcome.output.split(separator: "\n").count == 1)
            let start = "::error file=Schemas \(name.shown)/Sub/\(name.shown).yaml,"
            #expect(!hasStrayBytes || outcome.output.hasPrefix(start))
        case .junit, .checkstyle:
            #expect(!hasStrayBytes || outcome.output.contains("\"Schemas \(name.shown)/Sub/\(name.shown).yaml\""))
        }
    }

    @Test("'generate' and 'generate --check' accept unusual names of folders and files S34 S40", arguments: names)
    func generate(_ name: (octal: String, shown: String)) throws {
        let generate = "\"$MARTLET\" generate \"Schemas $name\" --output \"Out $name\""
        let outcome = try outcome(
            name.octal, type: "String",
            """
            \(generate) && \(generate) && \(generate) --check || exit 98
            ls "Out $name" | wc -l
            for file in "Out $name/Sub"*; do
                printf '\\033[31m\\n' >> "$file"
                head -1 "$file"
            done
            \(generate) --check
            """)
        #expect(
            outcome.output == """
                wrote Sub_\(name.shown).martlet.swift
                wrote MartletSchema.martlet.swift
                up to date
                \(name.shown == "two\\nlines" ? 3 : 2)
                \(outcome.output.split(separator: "\n").last ?? "")

                """)
        #expect(outcome.output.contains("// Generated by Martlet from Sub/"))
        #expect(outcome.status == 1)
        #expect(
            outcome.errors.hasPrefix("Out \(name.shown)/Sub_\(name.shown).martlet.swift:"))
        #expect(outcome.errors.contains("\n-\\u{1B}[31m\n"))
        #expect(
            outcome.errors.hasSuffix(
                "run 'martlet generate Schemas \(name.shown) --output Out \(name.shown)' and commit the result\n"))
    }

    @Test("'breaking' does not run git in a folder with a name that is not UTF-8, and reports an error S43")
    func git() throws {
        let outcome = try outcome("\\377", "\"$MARTLET\" breaking \"Schemas $name\" --against HEAD")
        #expect(outcome.status == 3)
        #expect(
            outcome.errors == "martlet: error: git cannot be run in 'Schemas \\xFF', whose name is not UTF-8; "
                + "compare with a folder\n")
    }

    @Test("the other commands accept unusual file names S40 S41 S42 S43", arguments: names)
    func others(_ name: (octal: String, shown: String)) throws {
        let outcome = try outcome(
            name.octal,
            """
            "$MARTLET" lint --fix "Schemas $name" || exit 91
            printf 'objects:\\n    ## Sleeps all day.\\n    Cat: {properties: {name: String}}\\n' > "Schemas $name/Cat.yaml"
            "$MARTLET" format --check "Schemas $name" && exit 92
            "$MARTLET" format "Schemas $name" || exit 93
            "$MARTLET" docs "Schemas $name" --output "Docs $name" || exit 94
            "$MARTLET" diagram "Schemas $name" --output "$name.svg" || exit 95
            "$MARTLET" json-schema --output "$name.json" || exit 96
            "$MARTLET" breaking "Schemas $name" --against "./Schemas $name" || exit 97
            "$MARTLET" init "New $name" | head -1
            "$MARTLET" lint "None $name"
            "$MARTLET" docs "Schemas $name" --output "$name.svg"
            """)
        #expect(
            outcome.output == """
                Schemas \(name.shown)/Cat.yaml
                wrote Schemas \(name.shown)/Cat.yaml
                wrote Docs \(name.shown)/index.html
                wrote \(name.shown).svg
                wrote \(name.shown).json
                wrote New \(name.shown)/Schema.yaml

                """)
        #expect(
            outcome.errors == """
                applied 1 fix in Schemas \(name.shown)/Sub/\(name.shown).yaml (1)
                martlet: error: 'None \(name.shown)': no such file
                martlet: error: '\(name.shown).svg': the folder cannot be made: not a directory

                """)
        #expect(outcome.status == 3)
    }
}
