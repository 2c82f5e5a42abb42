import Testing

@Suite("enums")
struct EnumTests {
    @Test("the schema contains the raw values that Realm stores")
    func rawValues() throws {
        let sample = try Sample(
            """
            enum Size: String, PersistableEnum { case small, large }
            enum Country: String, PersistableEnum { case norway = "NO", `default` = "null", odd = "a, b: c" }
            enum Level: Int, PersistableEnum { case below = -1, zero, five = 5, six }
            """)
        #expect(
            sample.yaml == """
                enums:
                  Size: [small, large]

                  Country:
                    raw: String
                    cases: {norway: "NO", default: "null", odd: "a, b: c"}

                  Level:
                    raw: Int
                    cases: {below: -1, zero: 0, five: 5, six: 6}

                """)
    }

    @Test("the conformance can be in an extension or inherited from a protocol")
    func conformance() throws {
        let sample = try Sample(
            """
            enum Size: String { case small }
            extension Size: PersistableEnum {}
            protocol Stored: PersistableEnum {}
            enum Color: String, Stored { case red }
            enum Plain: String { case none }
            """)
        #expect(sample.yaml == "enums:\n  Size: [small]\n\n  Color: [red]\n")
    }

    @Test("enums and cases that a schema does not support are reported")
    func unsupported() throws {
        let sample = try Sample(
            """
            enum Ratio: Double, PersistableEnum { case half = 0.5 }
            enum Size: String, PersistableEnum { case small, rawValue }
            """)
        #expect(sample.yaml == "enums:\n  Size:\n    raw: String\n    cases: {small: small, sizeRawValue: rawValue}\n")
        #expect(
            sample.findings == [
                "1:6 warning: the enum 'Ratio' of 'Double' is left out; a schema has enums of 'String' and 'Int'",
                "2:50 warning: a case cannot be named 'rawValue', which is a member of every enum; "
                    + "it becomes 'sizeRawValue', so rename it in code that uses it",
            ])
    }
}
