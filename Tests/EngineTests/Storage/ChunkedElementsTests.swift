import MartletSQLite
import MartletValues
import ModelTesting
import Testing

@testable import MartletEngine

@Suite("elements in chunks")
struct ChunkedElementsTests {
    private static let table = "chunks"

    private func connection(_ folder: TestFolder) throws -> Connection {
        let connection = try Connection(ConnectionOptions(path: folder.path("chunks.db")))
        try connection.execute("PRAGMA synchronous = OFF")
        try connection.execute(
            """
            CREATE TABLE chunks (owner INTEGER NOT NULL, ordinal INTEGER NOT NULL, count INTEGER NOT NULL, \
            elements BLOB NOT NULL, PRIMARY KEY (owner, ordinal)) STRICT, WITHOUT ROWID
            """)
        return connection
    }

    @Test("random changes give the same elements as an array", arguments: [1, 2, 3, 8, 512])
    func model(limit: Int) throws {
        let folder = try TestFolder()
        let connection = try connection(folder)
        for seed in 0..<UInt64(limit == 512 ? 4 : 30) {
            try Trial(limit: limit, owner: Int64(seed), connection: connection).run(seed)
        }
    }

    /// Applies the same random changes to chunked elements and to an array. Sometimes writes the elements to the file,
    /// and sometimes reads them again.
    private struct Trial {
        let limit: Int
        let owner: Int64
        let connection: Connection

        func run(_ seed: UInt64) throws {
            var random = SeededRandom(seed: seed &* 31 &+ UInt64(limit))
            var model: [SQLValue] = []
            var chunked = ChunkedElements(limit: limit)
            for step in 0..<250 {
                try change(&chunked, &model, &random, step)
                #expect(chunked.count == model.count)
                if !model.isEmpty {
                    let position = Int.random(in: 0..<model.count, using: &random)
                    try #require(try chunked.element(at: position, load) == model[position])
                }
                if Int.random(in: 0..<12, using: &random) == 0 {
                    try connection.execute("BEGIN")
                    try chunked.write(owner: owner, table: table, connection)
                    try connection.execute("COMMIT")
                    #expect(!chunked.isDirty)
                    if Bool.random(using: &random) {
                        chunked = try ChunkedElements(owner: owner, table: table, connection, limit: limit)
                    }
                }
            }
            try #require(try chunked.all(load) == model)
            try chunked.write(owner: owner, table: table, connection)
            var again = try ChunkedElements(owner: owner, table: table, connection, limit: limit)
            try #require(try again.all(load) == model)
            try requireShape()
        }

        private func load(_ ordinal: Int64, _ count: Int) throws -> [SQLValue] {
            try ChunkedElements.load(owner: owner, ordinal: ordinal, count: count, table: table, connection)
        }

        /// Checks that each chunk contains at least one and at most `limit` elements.
        private func requireShape() throws {
            let wrong = try connection.integer(
                "SELECT count(*) FROM chunks WHERE owner = ?1 AND (count < 1 OR count > ?2)",
                [.integer(owner), .integer(Int64(limit))])
            #expect(wrong == 0)
        }

        private func change(
            _ chunked: inout ChunkedElements, _ model: inout [SQLValue], _ random: inout SeededRandom, _ step: Int
        ) throws {
            let value = SQLValue.integer(Int64(step))
            let choice = Int.random(in: 0..<100, using: &random)
            if choice < 8 {
                let position = Int.random(in: 0...model.count, using: &random)
                let many = (0..<Int.random(in: 0...3 * limit, using: &random)).map { SQLValue.integer(Int64($0)) }
                try chunked.insert(contentsOf: many, at: position, load)
                model.insert(contentsOf: many, at: position)
            } else if choice < 16 {
                let start = Int.random(in: 0...model.count, using: &random)
                let range = start..<Int.random(in: start...model.count, using: &random)
                try #require(try chunked.remove(range, load) == Array(model[range]))
                model.removeSubrange(range)
            } else if model.isEmpty || choice < 55 {
                // Many insertions are in the middle, so that no free ordinal remains between two chunks.
                let position = choice < 25 ? model.count / 2 : Int.random(in: 0...model.count, using: &random)
                try chunked.insert(value, at: position, load)
                model.insert(value, at: position)
            } else if choice < 75 {
                let position = Int.random(in: 0..<model.count, using: &random)
                try #require(try chunked.remove(at: position, load) == model.remove(at: position))
            } else if choice < 98 {
                let position = Int.random(in: 0..<model.count, using: &random)
                try #require(try chunked.replace(at: position, with: value, load) == model[position])
                model[position] = value
            } else {
                chunked.removeAll()
                model.removeAll()
            }
        }
    }

    @Test("repeated insertions at one position renumber the chunks and keep the order", arguments: [0, 1, 5])
    func renumbering(position: Int) throws {
        let folder = try TestFolder()
        let connection = try connection(folder)
        var chunked = ChunkedElements(limit: 2)
        var model: [SQLValue] = []
        let load: ChunkedElements.Loader = {
            try ChunkedElements.load(owner: 7, ordinal: $0, count: $1, table: Self.table, connection)
        }
        for number in 0..<400 {
            let place = min(position, model.count)
            try chunked.insert(.integer(Int64(number)), at: place, load)
            model.insert(.integer(Int64(number)), at: place)
            if number.isMultiple(of: 37) { try chunked.write(owner: 7, table: Self.table, connection) }
            if number.isMultiple(of: 111) {
                chunked = try ChunkedElements(owner: 7, table: Self.table, connection, limit: 2)
            }
        }
        try chunked.write(owner: 7, table: Self.table, connection)
        var again = try ChunkedElements(owner: 7, table: Self.table, connection, limit: 2)
        #expect(try again.all(load) == model)
        #expect(again.chunks.map(\.ordinal) == again.chunks.map(\.ordinal).sorted())
    }

    @Test("appending fills chunks to the limit")
    func appending() throws {
        var chunked = ChunkedElements(limit: 4)
        for number in 0..<13 { try chunked.insert(.integer(Int64(number)), at: number) { _, _ in [] } }
        #expect(chunked.chunks.map(\.count) == [4, 4, 4, 1])
    }

    @Test("a change in the middle writes only the chunk of the changed element")
    func dirtyChunks() throws {
        let folder = try TestFolder()
        let connection = try connection(folder)
        var chunked = ChunkedElements(limit: 4)
        for number in 0..<40 { try chunked.insert(.integer(Int64(number)), at: number) { _, _ in [] } }
        try chunked.write(owner: 1, table: Self.table, connection)
        var again = try ChunkedElements(owner: 1, table: Self.table, connection, limit: 4)
        var loads = 0
        _ = try again.replace(at: 21, with: .text("new")) { ordinal, count in
            loads += 1
            return try ChunkedElements.load(owner: 1, ordinal: ordinal, count: count, table: Self.table, connection)
        }
        #expect(loads == 1)
        #expect(again.chunks.filter(\.isDirty).count == 1)
    }

    @Test(
        "a damaged chunk is reported as corrupt",
        arguments: [
            "UPDATE chunks SET count = count + 1", "UPDATE chunks SET count = -1", "UPDATE chunks SET count = 0",
            "UPDATE chunks SET elements = x'09'",
            "UPDATE chunks SET elements = substr(elements, 1, length(elements) - 1)",
            "UPDATE chunks SET elements = CAST(elements || x'00' AS BLOB)",
            "UPDATE chunks SET count = 9223372036854775807",
            "UPDATE chunks SET ordinal = ordinal + 1",
        ])
    func damaged(sql: String) throws {
        let folder = try TestFolder()
        let connection = try connection(folder)
        var chunked = ChunkedElements()
        try chunked.insert(.text("a"), at: 0) { _, _ in [] }
        try chunked.insert(.text("b"), at: 1) { _, _ in [] }
        try chunked.write(owner: 1, table: Self.table, connection)
        let before = try ChunkedElements(owner: 1, table: Self.table, connection)
        try connection.execute(sql)
        let error = engineError {
            var again = sql.contains("ordinal") ? before : try ChunkedElements(owner: 1, table: Self.table, connection)
            _ = try again.all {
                try ChunkedElements.load(owner: 1, ordinal: $0, count: $1, table: Self.table, connection)
            }
        }
        #expect(error?.code == .corrupt)
        #expect(connection.unfinishedStatement == nil)
    }
}

@Suite("bytes of elements")
struct ElementCodecTests {
    static let values: [SQLValue] = [
        .null, .integer(0), .integer(.min), .integer(.max), .real(0), .real(-0.0), .real(.infinity),
        .real(.leastNonzeroMagnitude),
        .text(""), .text("a\u{0}b"), .text("e\u{301}'\u{301}"), .text(String(repeating: "ü", count: 300)), .blob([]),
        .blob([0, 255]),
    ]

    private func decode(_ bytes: [UInt8], _ count: Int) -> [SQLValue]? {
        bytes.withUnsafeBytes { ElementCodec.decode($0, count: count) }
    }

    @Test("values round-trip bit for bit")
    func roundTrip() {
        let bytes = ElementCodec.encode(Self.values)
        #expect(decode(bytes, Self.values.count) == Self.values)
        let nan = Double(bitPattern: 0x7ff8_0000_0000_1234)
        guard case .real(let found)?? = decode(ElementCodec.encode([.real(nan), .real(-0.0)]), 2)?.first else {
            Issue.record("no number")
            return
        }
        #expect(found.bitPattern == nan.bitPattern)
    }

    @Test("truncated bytes are rejected, and changed bytes never cause a crash")
    func garbage() {
        let bytes = ElementCodec.encode(Self.values)
        for length in 0..<bytes.count { #expect(decode(Array(bytes[..<length]), Self.values.count) == nil) }
        var random = SeededRandom(seed: 5)
        for _ in 0..<3_000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = decode(changed, Self.values.count)
        }
        #expect(decode([], 0) == [])
        #expect(decode([], 1) == nil)
        #expect(decode([0], .max) == nil)
        #expect(decode([0], -1) == nil)
        #expect(decode([3, 255, 255, 255, 255, 255, 255, 255, 255], 1) == nil)
    }
}
