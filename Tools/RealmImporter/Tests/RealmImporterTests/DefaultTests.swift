import Testing

@Suite("defaults")
struct DefaultTests {
    @Test(
        "literals are imported, and types are inferred from them",
        arguments: [
            ("var a = -5", "a: Int = -5"), ("var a: Double = -0.5", "a: Double = -0.5"),
            ("var a = 1_000_000", "a: Int = 1000000"), ("var a = 0xFF", "a: Int = 255"),
            ("var a: Int8 = .min", "a: Int8 = -128"), ("var a = Int.max", "a: Int = 9223372036854775807"),
            ("var a = true", "a: Bool = true"), ("var a = (((7)))", "a: Int = 7"),
            ("var a = 1e3", "a: Double = 1e3"), ("var a = Int64(5)", "a: Int64 = 5"),
            ("var a = 5 as Int16", "a: Int16 = 5"), ("var a: Decimal128 = 19.90", "a: Decimal128 = 19.90"),
            ("var a = try! Decimal128(string: \"19.90\")", "a: Decimal128 = 19.90"),
            ("var a = Data()", "a: Data"), ("var a = Date()", "a: Date = now"), ("var a = Date.now", "a: Date = now"),
            ("var a: Date = .init()", "a: Date = now"),
            ("var a = Date(timeIntervalSinceReferenceDate: 0)", "a: Date = 2001-01-01T00:00:00Z"),
            ("var a = UUID()", "a: UUID = new"), ("var a: UUID = .init()", "a: UUID = new"),
            (
                "var a = UUID(uuidString: \"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\")!",
                "a: UUID = E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
            ),
            ("var a = ObjectId.generate()", "a: ObjectId = new"),
            ("var a: ObjectId = .generate()", "a: ObjectId = new"),
            (
                "var a = try! ObjectId(string: \"507f1f77bcf86cd799439011\")",
                "a: ObjectId = 507f1f77bcf86cd799439011"
            ),
            ("var a = Color.green", "a: Color = green"), ("var a: Level = .high", "a: Level = high"),
            ("var a = Color.green.rawValue", "a: String = \"g\""), ("var a = Level.high.rawValue", "a: Int = 2"),
            ("var a: AnyRealmValue = .int(5)", "a: AnyRealmValue = 5"),
            ("var a: AnyRealmValue = .none", "a: AnyRealmValue"), ("var a: Int? = nil", "a: Int?"),
            ("var a: String? = .none", "a: String?"), ("var a: String? = Optional.none", "a: String?"),
            ("var a: String? = Optional<String>.none", "a: String?"), ("var a = String?.none", "a: String?"),
            ("var a: Color? = .none", "a: Color?"), ("var a = nil as Int?", "a: Int?"),
            ("var a: Int? = .some(3)", "a: Int? = 3"), ("var a: Int? = Optional(3)", "a: Int? = 3"),
            ("var a: Int? = Int()", "a: Int? = 0"), ("var a: Data? = Data()", "a: Data? = \"\""),
            ("var a: Color? = Color.green as Color?", "a: Color? = green"),
            ("var a = NSDate()", "a: Date = now"), ("var a: NSDate = NSDate()", "a: Date = now"),
            ("var a = NSUUID()", "a: UUID = new"),
            (
                "var a = ObjectId(\"507f1f77bcf86cd799439011\")",
                "a: ObjectId = 507f1f77bcf86cd799439011"
            ),
            ("var a = Data([1, 2, 0xFF])", "a: Data = \"AQL/\""), ("var a: Data = .init([7])", "a: Data = \"Bw==\""),
            ("var a = Data(bytes: [1])", "a: Data = \"AQ==\""), ("var a = Data(\"hi\".utf8)", "a: Data = \"aGk=\""),
            ("var a: Data = \"hi\".data(using: .utf8)!", "a: Data = \"aGk=\""),
            ("var a = Data(base64Encoded: \"aGk=\")!", "a: Data = \"aGk=\""),
            ("var a: List<Int> = .init()", "a: List<Int>"), ("var a: List<Int> = []", "a: List<Int>"),
            ("var a = \"\"\"\n  one\n  two\n  \"\"\"", "a: String = \"one\\ntwo\""),
            ("var a: Int? = 3", "a: Int? = 3"), ("var a: Date? = Date()", "a: Date? = now"),
            (
                "var a = UUID(uuidString: \"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\")",
                "a: UUID? = E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
            ),
            ("var a: UUID? = UUID()", "a: UUID? = new"), ("var a = String()", "a: String = \"\""),
        ])
    func literals(swift: String, line: String) throws {
        #expect(try Sample.properties("@Persisted \(swift)") == [line])
    }

    @Test(
        "an explicit nil is imported without a finding",
        arguments: [
            "var a: Int? = nil", "var a: String? = .none", "var a: String? = Optional.none",
            "var a: String? = Optional<String>.none", "var a = String?.none", "var a: Color? = .none",
            "var a: AnyRealmValue = .none",
        ])
    func explicitNil(swift: String) throws {
        let sample = try Sample(
            "class Thing: Object { @Persisted \(swift) }\nenum Color: String, PersistableEnum { case red }")
        #expect(sample.findings == [])
    }

    @Test(
        "text is quoted and escaped for YAML",
        arguments: [
            (#""""#, #"a: String = """#), (#""a: b # c""#, #"a: 'String = "a: b # c"'"#),
            (#""it's: so""#, #"a: 'String = "it''s: so"'"#), (##"#"raw\n"#"##, #"a: String = "raw\\n""#),
            (#""tab\there""#, #"a: String = "tab\there""#), (#""\u{202E}x\u{7}""#, #"a: String = "\u{202e}x\u{7}""#),
            (#""fjord 🦅""#, #"a: String = "fjord 🦅""#), (#""say \"hi\"""#, #"a: String = "say \"hi\"""#),
            (#""NO""#, #"a: String = "NO""#), (#""{[,]}""#, #"a: String = "{[,]}""#),
        ])
    func text(swift: String, line: String) throws {
        #expect(try Sample.properties("@Persisted var a = \(swift)") == [line])
    }

    @Test(
        "defaults that are code are omitted and reported",
        arguments: [
            ("var a: Int = 60 * 60", "a: Int"), ("var a: String = \"\\(5)\"", "a: String"),
            ("var a = Double.pi", "a: Double"), ("var a = UUID().uuidString", "a: String"),
            ("var a = Date().timeIntervalSince1970", "a: Double"), ("var a: Other? = Other()", "a: Other?"),
            ("var a: Date = .distantPast", "a: Date"), ("var a: Color = .init(rawValue: \"g\")!", "a: Color"),
            ("var a: Int = standard", "a: Int"), ("var a: Data = Data([300])", "a: Data"),
            ("var a: Data = make(bytes: [1])", "a: Data"), ("var a: Color = Green.shared.green", "a: Color"),
            ("var a: List<Int> = makeList()", "a: List<Int>"),
            ("var a: Date = make(timeIntervalSince1970: 5)", "a: Date"),
            ("var a: Date = Clock.now", "a: Date"), ("var a: UUID = UUID(uuid: bytes)", "a: UUID"),
            (
                "var a: ObjectId = next(\"507f1f77bcf86cd799439011\")",
                "a: ObjectId"
            ),
        ])
    func code(swift: String, line: String) throws {
        #expect(try Sample.properties("@Persisted \(swift)") == [line])
        let sample = try Sample(
            """
            class Other: Object { @Persisted var name: String }
            enum Color: String, PersistableEnum { case green = "g" }
            class Thing: Object { @Persisted \(swift) }
            """)
        #expect(sample.findings.count == 1)
        #expect(sample.findings[0].hasPrefix("3:") && sample.findings[0].contains("warning: the default '"))
    }

    @Test("a property with an invalid default is omitted, and the finding contains the message of the schema compiler")
    func misfit() throws {
        let sample = try Sample("class Thing: Object { @Persisted var a: Int; @Persisted var b: Int8 = 500 }")
        #expect(sample.yaml.hasSuffix("      a: Int\n"))
        #expect(sample.findings.count == 1 && sample.findings[0].hasPrefix("1:61 warning: 'b' is left out: "))
    }

    @Test(
        "a property without a type annotation is omitted and reported if its default may be nil",
        arguments: ["Int(\"5\")", "try? ObjectId(string: text)"])
    func failable(value: String) throws {
        let sample = try Sample("class Thing: Object { @Persisted var a: Int; @Persisted var b = \(value) }")
        #expect(sample.yaml.hasSuffix("      a: Int\n"))
        #expect(
            sample.findings.count == 1 && sample.findings[0].contains("'b' is left out: its type cannot be inferred"))
    }

    @Test("a property whose type cannot be inferred is omitted and reported")
    func unknownType() throws {
        let sample = try Sample("class Thing: Object { @Persisted var a: Int; @Persisted var b = make() }")
        #expect(
            sample.findings == [
                "1:61 warning: 'b' is left out: its type cannot be inferred from 'make()'; "
                    + "write the type in Swift, and import again"
            ])
    }
}
