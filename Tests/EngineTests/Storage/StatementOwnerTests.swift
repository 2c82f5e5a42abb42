import CMartletSQLite
import MartletSQLite
import MartletValues
import Testing

@Suite("statements and their connection")
struct StatementOwnerTests {
    private let folder: TestFolder
    private let vfs = HookVFS()

    init() throws {
        folder = try TestFolder()
        try open().execute("CREATE TABLE pet (name TEXT); INSERT INTO pet VALUES ('Rex')")
    }

    private func open() throws -> Connection {
        var options = ConnectionOptions(path: folder.path())
        options.vfsName = vfs.name
        return try Connection(options)
    }

    private func preparedStatements(_ connection: Connection) -> Int {
        var (count, statement) = (0, sqlite3_next_stmt(connection.handle, nil))
        while let current = statement {
            count += 1
            statement = sqlite3_next_stmt(connection.handle, current)
        }
        return count
    }

    @Test("closing a connection closes its files immediately, even if one of its statements is retained")
    func closing() throws {
        let connection = try open()
        let kept = try connection.statement("SELECT name FROM pet")
        #expect(try kept.step() && kept.text(0) == "Rex")
        connection.close()
        #expect(vfs.openFileCount == 0)
        #expect(throws: SQLiteError.self, "the connection is closed") { try kept.step() }
        #expect(throws: SQLiteError.self) { try kept.run() }
    }

    @Test("releasing a connection closes its files immediately, even if one of its statements is retained")
    func releasing() throws {
        var connection: Connection? = try open()
        let kept = try connection?.statement("SELECT name FROM pet")
        connection = nil
        #expect(vfs.openFileCount == 0)
        #expect(kept?.sql == "SELECT name FROM pet")
    }

    @Test("a statement belongs only to its connection, even if a later connection gets the same address")
    func others() throws {
        let first = try open()
        let second = try open()
        let statement = try first.statement("SELECT name FROM pet")
        #expect(statement.belongs(to: first) && !statement.belongs(to: second))
        #expect(try second.statement("SELECT name FROM pet").belongs(to: second))
        var kept: [Statement] = []
        for _ in 0..<50 {
            let connection = try open()
            #expect(kept.allSatisfy { !$0.belongs(to: connection) })
            kept.append(try connection.statement("SELECT name FROM pet"))
            connection.close()
        }
    }

    @Test("'finalizeStatements' finalizes all statements, and they no longer belong to the connection")
    func dropping() throws {
        let connection = try open()
        let kept = try connection.statement("SELECT name FROM pet")
        _ = try connection.statement("SELECT count(*) FROM pet")
        connection.finalizeStatements()
        #expect(preparedStatements(connection) == 0)
        #expect(!kept.belongs(to: connection))
        #expect(throws: SQLiteError.self) { try kept.step() }
        let next = try connection.statement("SELECT name FROM pet")
        #expect(next.belongs(to: connection))
        #expect(try next.step() && next.text(0) == "Rex")
        next.reset()
    }

    @Test("retained statements are not evicted from the cache")
    func eviction() throws {
        let connection = try open()
        let kept = try connection.statement("SELECT name FROM pet")
        for number in 0..<2_000 { _ = try connection.statement("SELECT name FROM pet WHERE name <> '\(number)'") }
        #expect(preparedStatements(connection) <= 512)
        #expect(kept.belongs(to: connection))
        #expect(try kept.step() && kept.text(0) == "Rex")
        kept.reset()
    }
}
