import CMartletSQLite
import MartletSQLite
import MartletValues
import Testing

@Suite("SQL text")
struct SQLTextTests {
    static let texts = [
        "", "'", "\"", "''", "it's", "'\u{301}", "\"\u{301}; DROP TABLE t; --", "a\u{0}b'", "\u{0}", "line\r\nline",
        "\\", "ü🐕\u{200d}",
        "';--", "x'00'",
    ]

    @Test("every text becomes one SQL literal and round-trips", arguments: texts)
    func literals(text: String) throws {
        let connection = try Connection(ConnectionOptions(path: ":memory:"))
        let sql = "SELECT \(SQLText.literal(.text(text))) AS v"
        #expect(!sql.utf8.contains(0), "SQLite ends the SQL text at the first NUL")
        #expect(try connection.value(sql) == .text(text))
    }

    @Test("every name becomes one SQL identifier", arguments: texts.filter { !$0.utf8.contains(0) && !$0.isEmpty })
    func names(text: String) throws {
        let connection = try Connection(ConnectionOptions(path: ":memory:"))
        let name = SQLText.identifier(text)
        try connection.execute("CREATE TABLE \(name) (\(name) INTEGER)")
        try connection.run("INSERT INTO \(name) (\(name)) VALUES (?1)", [.integer(7)])
        #expect(try connection.value("SELECT name FROM sqlite_schema") == .text(text))
        #expect(try connection.integer("SELECT \(name) FROM \(name)") == 7)
    }

    @Test("numbers, bytes and null become SQL literals")
    func otherLiterals() throws {
        let connection = try Connection(ConnectionOptions(path: ":memory:"))
        let values: [SQLValue] = [
            .null, .integer(0), .integer(-5), .integer(.max), .real(0.5), .real(-1e300), .real(.infinity),
            .real(-.infinity), .blob([]),
            .blob([0, 15, 255]),
        ]
        for value in values { #expect(try connection.value("SELECT \(SQLText.literal(value))") == value) }
        #expect(SQLText.literal(.real(.nan)) == "NULL")
    }
}

@Suite("statements")
struct StatementTests {
    private func connection() throws -> Connection {
        let connection = try Connection(ConnectionOptions(path: ":memory:"))
        try connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v ANY) STRICT")
        return connection
    }

    @Test("a value that is too long is an error and does not become NULL")
    func tooLong() throws {
        let connection = try connection()
        sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, 1_000)
        let long = String(repeating: "x", count: 2_000)
        for value in [SQLValue.text(long), .blob(Array(long.utf8))] {
            #expect { try connection.run("INSERT INTO t VALUES (1, ?1)", [value]) } throws: {
                ($0 as? SQLiteError)?.primary == .tooBig
            }
        }
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
        try connection.run("INSERT INTO t VALUES (1, ?1)", [.text("short")])
        #expect(try connection.value("SELECT v FROM t") == .text("short"))
    }

    @Test("a statement is reset after its last row, after an error, and after only its first value was read")
    func reset() throws {
        let connection = try connection()
        for key in 0..<5 { try connection.run("INSERT INTO t VALUES (?1, 'a')", [.integer(Int64(key))]) }
        #expect(connection.unfinishedStatement == nil)
        #expect(try connection.value("SELECT k FROM t ORDER BY k") == .integer(0))
        #expect(connection.unfinishedStatement == nil)
        #expect(throws: SQLiteError.self) { try connection.run("INSERT INTO t VALUES (1, 'b')") }
        #expect(connection.unfinishedStatement == nil)
        let statement = try connection.statement("SELECT k FROM t")
        #expect(try statement.step())
        #expect(connection.unfinishedStatement == "SELECT k FROM t")
        statement.reset()
        #expect(connection.unfinishedStatement == nil)
    }

    @Test("bound text and bytes round-trip bit for bit")
    func values() throws {
        let connection = try connection()
        for value in SQLTextTests.texts.map(SQLValue.text) + [
            .blob([]), .blob([0, 1]), .real(.infinity), .integer(.min), .null,
        ] {
            #expect(try connection.value("SELECT ?1", [value]) == value)
        }
    }

    @Test("when the cache is full, statements are evicted, but a statement that a caller references stays usable")
    func manyStatements() throws {
        let connection = try connection()
        let first = try connection.statement("SELECT 0")
        for number in 1...600 { #expect(try connection.integer("SELECT \(number)") == Int64(number)) }
        #expect(try first.step())
        #expect(first.integer(0) == 0)
        first.reset()
    }

    @Test("result codes are mapped to kinds of errors")
    func errorKinds() {
        #expect(SQLiteError(extendedCode: 2067, message: "").primary == .constraint)
        #expect(SQLiteError(extendedCode: 13, message: "").primary == .full)
        let codes: [Int32: Bool] = [
            266: false, 522: false, 778: true, 1034: true, 1290: true, 1546: true, 13: false, 5: false,
        ]
        for (code, isUnknown) in codes {
            #expect(SQLiteError(extendedCode: code, message: "").leavesOutcomeUnknown == isUnknown)
        }
        #expect(SQLiteError(extendedCode: 522, message: "").isFileTooShort)
    }
}
