import MartletSQLite
import MartletValues
import Synchronization
import Testing

@testable import MartletEngine

@Suite("SQL functions")
struct ScalarFunctionTests {
    @Test("a constant argument is prepared once for all rows, and again when the statement runs with another value")
    func constantArgument() throws {
        let (connection, preparations) = try makeConnection()
        let query = "SELECT count(*) FROM t WHERE has_prefix(v, ?1)"
        #expect(try connection.integer(query, [.text("a")]) == 500)
        #expect(preparations.count == 1)
        #expect(try connection.integer(query, [.text("b")]) == 500)
        #expect(preparations.count == 2)
    }

    @Test("an argument that varies is prepared for each row")
    func varyingArgument() throws {
        let (connection, preparations) = try makeConnection()
        #expect(try connection.integer("SELECT count(*) FROM t WHERE has_prefix(v, substr(v, 1, 1))") == 1_000)
        #expect(preparations.count == 1_000)
    }

    #if DEBUG
        @Test("the pattern of a text condition is prepared once for all rows")
        func textPattern() throws {
            let connection = try Connection(ConnectionOptions(path: ":memory:"))
            try QueryFunctions.install(on: connection)
            try addRows(to: connection)
            let preparations = Counter()
            try TextPattern.$onPreparation.withValue({ preparations.increment() }) {
                let query = "SELECT count(*) FROM t WHERE martlet_text(?1, ?2, v, ?3)"
                let options = Predicate.TextOptions([.caseInsensitive]).rawValue
                let match = Predicate.TextMatch.begins.rawValue
                func count(prefix: String) throws -> Int64? {
                    try connection.integer(query, [.integer(match), .integer(options), .text(prefix)])
                }
                let first = try count(prefix: "A")
                #expect(first == 500 && preparations.count == 1)
                let second = try count(prefix: "B9")
                #expect(second == 56)
                #expect(preparations.count == 2)
            }
        }
    #endif

    private final class Counter: Sendable {
        private let value = Mutex(0)
        var count: Int { value.withLock { $0 } }
        func increment() { value.withLock { $0 += 1 } }
    }

    /// The value that `has_prefix` prepares from its second argument.
    private final class Prefix {
        let text: String
        init(_ text: String) { self.text = text }
    }

    /// A connection with the function `has_prefix(text, prefix)` and 1,000 rows.
    private func makeConnection() throws -> (Connection, preparations: Counter) {
        let preparations = Counter()
        let connection = try Connection(ConnectionOptions(path: ":memory:"))
        try connection.add(
            ScalarFunction("has_prefix", argumentCount: 2) { arguments in
                let prefix = arguments.prepared(1) {
                    preparations.increment()
                    return Prefix(arguments.text(1) ?? "")
                }
                return .integer(arguments.text(0)?.hasPrefix(prefix.text) == true ? 1 : 0)
            })
        try addRows(to: connection)
        return (connection, preparations)
    }

    /// Adds a table with 1,000 texts: 500 begin with "a", and 500 with "b".
    private func addRows(to connection: Connection) throws {
        try connection.execute("CREATE TABLE t (v TEXT)")
        for number in 0..<1_000 {
            try connection.run("INSERT INTO t VALUES (?1)", [.text((number % 2 == 0 ? "a" : "b") + String(number))])
        }
    }
}
