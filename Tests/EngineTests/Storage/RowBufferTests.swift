import Foundation
import MartletSQLite
import MartletValues
import Testing

@testable import MartletEngine

@Suite("rows copied from statements")
struct RowBufferTests {
    private func connection(_ folder: TestFolder) throws -> Connection {
        let connection = try Connection(ConnectionOptions(path: folder.path("rows.db")))
        try connection.execute(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, b BLOB, a ANY) STRICT")
        return connection
    }

    @Test("copied columns have the values that the statement returned, for any number of rows and bytes")
    func equality() throws {
        let folder = try TestFolder()
        let connection = try connection(folder)
        for number in 0..<40 {
            let long = String(repeating: "ä\0", count: number * 7)
            try connection.run(
                "INSERT INTO t VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                [
                    .integer(Int64(number)), number % 5 == 0 ? .null : .integer(.min + Int64(number)),
                    number % 5 == 1 ? .null : .real(Double(number) / 3), number % 5 == 2 ? .null : .text(long),
                    number % 5 == 3 ? .null : .blob(Array(long.utf8)), number % 2 == 0 ? .text("any") : .integer(7),
                ])
        }
        let buffer = RowBuffer(columnCount: 6, rowCapacity: 2)
        for _ in 0..<2 {
            buffer.removeAll()
            let statement = try connection.statement("SELECT * FROM t ORDER BY id")
            var expected: [[SQLValue]] = []
            while try statement.step() {
                buffer.append(statement)
                expected.append((0..<6).map { statement.value($0) })
            }
            #expect(buffer.count == 40)
            for (number, values) in expected.enumerated() {
                let row = buffer.row(number)
                #expect((0..<6).map { row.value($0) } == values)
                #expect(row.integer(0) == Int64(number) && row.isNull(1) == (number % 5 == 0))
                #expect(row.integer(1).map { .integer($0) } ?? .null == values[1])
                #expect(row.real(2).map { .real($0) } ?? .null == values[2])
                #expect(row.text(3).map { .text($0) } ?? .null == values[3])
                #expect(row.withBlob(4) { .blob(Array($0)) } ?? .null == values[4])
                // A value is read as nil if another type is requested. Only an integer can also be read as a real.
                #expect(row.text(0) == nil && row.integer(3) == nil && row.real(0) == Double(number))
            }
        }
    }

    @Test("'isLarge' is true if a buffer contains at least 1 MiB of texts and blobs")
    func large() throws {
        let folder = try TestFolder()
        let connection = try connection(folder)
        try connection.run("INSERT INTO t (id, b) VALUES (1, zeroblob(600000)), (2, zeroblob(600000))")
        let statement = try connection.statement("SELECT b FROM t ORDER BY id")
        let buffer = RowBuffer(columnCount: 1, rowCapacity: 4)
        #expect(try statement.step())
        buffer.append(statement)
        #expect(!buffer.isLarge)
        #expect(try statement.step())
        buffer.append(statement)
        statement.reset()
        #expect(buffer.isLarge && buffer.row(1).withBlob(0) { $0.count } == 600_000)
        buffer.removeAll()
        #expect(!buffer.isLarge && buffer.count == 0)
    }
}

@Suite("weak references without a side table")
struct WeakReferenceTests {
    private final class Thing: Sendable {
        let reference = WeakReference()
        init() { reference.begin(self) }
        deinit { reference.end() }
    }

    @Test("a reference returns the object while it is alive, and does not retain it")
    func life() {
        var thing: Thing? = Thing()
        let reference = thing!.reference
        #expect(reference.object === thing)
        thing = nil
        #expect(reference.object == nil)
    }

    @Test("threads may read a reference while the object is released")
    func race() {
        for _ in 0..<200 {
            nonisolated(unsafe) var thing: Thing? = Thing()
            let reference = thing!.reference
            let lock = NSLock()
            DispatchQueue.concurrentPerform(iterations: 4) { number in
                if number == 0 { lock.withLock { thing = nil } }
                for _ in 0..<50 { withExtendedLifetime(reference.object) {} }
            }
            #expect(reference.object == nil)
        }
    }
}
