#if Postgres
    import MartletPostgres
    import MartletValues
    import Testing

    @Suite("PostgreSQL: values in binary format", .needsPostgres)
    struct CodingTests {
        private static let values: [(PostgresType, [SQLValue])] = [
            (.boolean, [.integer(0), .integer(1)]),
            (.smallint, [-32_768, -1, 0, 32_767].map { .integer($0) }),
            (.integer, [-2_147_483_648, 0, 2_147_483_647].map { .integer($0) }),
            (.bigint, [.min, -1, 0, .max].map { .integer($0) }),
            (
                .real,
                [0, -0.0, 1.5, Double(Float.greatestFiniteMagnitude), Double(Float.leastNonzeroMagnitude), .infinity]
                    .map { .real($0) }
            ),
            (
                .doublePrecision,
                [0, -0.0, 0.1, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity].map {
                    .real($0)
                }
            ),
            (
                .text,
                ["", "a", "\u{1}", "ä€𝄞", "e\u{301}", "O'Hara \\ \"", String(repeating: "long ", count: 200_000)].map {
                    .text($0)
                }
            ),
            (.bytea, [[], [0], [0, 255, 0], [UInt8](repeating: 7, count: 300_000)].map { .blob($0) }),
            (.uuid, [.blob([UInt8](0..<16)), .blob([UInt8](repeating: 255, count: 16))]),
            (
                .timestamp,
                [0, -0.000001, 0.000001, 1_000_000_000.123456, -4_291_747_200, .infinity, -.infinity].map { .real($0) }
            ),
            (
                .numeric,
                [
                    "0", "1", "-1", "12345e-2", "1e4", "1e-4", "1e6144", "1e-6176", "NaN", "inf", "-inf",
                    "9999999999999999999999999999999999", "-1234567890123456789012345678901234e-33", "10001e-8",
                ].map { .text($0) }
            ),
            (.jsonb, [.text(#"{"a": [1, null, "x"]}"#), .text("null")]),
        ]

        @Test("a value that the server returns equals the value that was sent", arguments: values.indices)
        func roundTrips(index: Int) throws {
            let (type, values) = Self.values[index]
            let session = try PostgresSession(newDatabase())
            for value in values + [.null] {
                let result = try session.query("SELECT $1 AS value", [PostgresParameter(value, as: type)])
                #expect(try result.first?.value(0, type) == value)
            }
        }

        @Test(
            "the server decodes a value as the value of the SQL expression",
            arguments: [
                (PostgresType.timestamp, SQLValue.real(0), "'2001-01-01 00:00:00+00'::timestamptz"),
                (.timestamp, .real(-63_145_526_400), "'0001-01-01 00:00:00+00 BC'::timestamptz"),
                (.timestamp, .real(.infinity), "'infinity'::timestamptz"),
                (.numeric, .text("-12345e-2"), "-123.45::numeric"), (.numeric, .text("12e5"), "1200000::numeric"),
                (.numeric, .text("0.00010001"), "0.00010001::numeric"),
                (.numeric, .text("-inf"), "'-infinity'::numeric"),
                (.numeric, .text("NaN"), "'nan'::numeric"), (.doublePrecision, .real(.nan), "'nan'::float8"),
                (.boolean, .integer(1), "true"), (.text, .text("ä"), "'ä'"),
                (.uuid, .blob([UInt8](0..<16)), "'00010203-0405-0607-0809-0a0b0c0d0e0f'::uuid"),
                (.jsonb, .text(#"{"b":1,"a":2}"#), #"'{"a": 2, "b": 1}'::jsonb"#),
            ])
        func meaning(type: PostgresType, value: SQLValue, sql: String) throws {
            let session = try PostgresSession(newDatabase())
            let result = try session.query("SELECT $1 = \(sql)", [PostgresParameter(value, as: type)])
            #expect(result.first?.boolean(0) == true)
        }

        @Test("numbers that SQL has written are decoded exactly, even if they have many digits")
        func longNumerics() throws {
            let session = try PostgresSession(newDatabase())
            func text(_ sql: String) throws -> SQLValue? {
                try session.query("SELECT \(sql)").first?.value(0, .numeric)
            }
            #expect(try text("1.500::numeric") == .text("15e-1"))
            #expect(try text("(repeat('9', 50))::numeric") == .text(String(repeating: "9", count: 50)))
            #expect(try text("1e-16000::numeric") == .text("1e-16000"))
            #expect(try text("0.000::numeric") == .text("0"))
        }

        @Test("NaN is encoded and decoded as NaN")
        func nan() throws {
            for type in [PostgresType.real, .doublePrecision] {
                let bytes = try #require(try type.encode(.real(.nan)))
                let value = try bytes.withUnsafeBytes { try type.decode($0) }
                guard case .real(let number) = value else { Issue.record("no number"); return }
                #expect(number.isNaN)
            }
        }

        @Test("a date that Double cannot represent is rounded; NaN and dates out of range are refused")
        func dates() throws {
            #expect(throws: UnencodableValue.self) { try PostgresType.timestamp.encode(.real(.nan)) }
            #expect(throws: UnencodableValue.self) { try PostgresType.timestamp.encode(.real(1e13)) }
            #expect(throws: UnencodableValue.self) { try PostgresType.timestamp.encode(.real(-1e300)) }
            let session = try PostgresSession(newDatabase())
            for sql in ["'4713-01-01 BC'", "'294276-12-31 12:00:00+00'", "'1582-10-15'"] {
                let value = try #require(try session.query("SELECT \(sql)::timestamptz").first?.value(0, .timestamp))
                let result = try session.query(
                    "SELECT abs(extract(epoch FROM $1 - \(sql)::timestamptz)) < 0.001",
                    [PostgresParameter(value, as: .timestamp)])
                #expect(result.first?.boolean(0) == true, "\(sql)")
            }
        }

        @Test(
            "values that a column cannot store are refused before they are sent",
            arguments: [
                (PostgresType.text, SQLValue.text("a\0b")), (.jsonb, .text("\"\0\"")), (.smallint, .integer(32_768)),
                (.integer, .integer(1 << 31)), (.real, .real(1e300)), (.boolean, .integer(2)),
                (.uuid, .blob([1, 2, 3])), (.numeric, .text("12x")), (.bigint, .text("1")), (.text, .integer(1)),
            ])
        func refused(type: PostgresType, value: SQLValue) {
            #expect(throws: UnencodableValue.self) { try type.encode(value) }
        }

        @Test("bytes that encode no value of the type are refused", arguments: PostgresType.allCases)
        func malformed(type: PostgresType) {
            if type == .bytea || type == .text { return }
            #expect(throws: PostgresError.self) { try [7, 7, 7].withUnsafeBytes { try type.decode($0) } }
        }
    }
#endif
