import MartletSQLite
import MartletValues
import Testing

@testable import MartletEngine

@Suite("rows of one type")
struct RowStoreTests {
    private static let book = """
        object Book
        primaryKey isbn
        property isbn String
        property title String fullText
        property pages Int
        property price Double
        property sequel link:Book?
        property related List<link:Book>
        property note AnyRealmValue
        """

    /// A row store for `Book` in an open write, and a function that inserts a book.
    private struct Shelf {
        let store: RowStore
        let transaction: WriteTransaction

        init(_ transaction: WriteTransaction) throws {
            self.transaction = transaction
            store = RowStore(try #require(transaction.coordinator.schema["Book"]), TextArena())
        }

        @discardableResult
        func add(
            _ isbn: String, _ title: String = "", pages: Int64 = 0, price: Double = 0, sequel: SQLValue = .null,
            note: SQLValue = .null
        ) throws -> ObjectKey {
            let key = try transaction.nextKey(in: store.table)
            let values: [SQLValue] = [
                .text(isbn), .text(title), .integer(pages), .real(price), sequel, .null, note,
            ]
            return try store.insert(in: transaction) { binder in
                binder.bind(isbn, at: 1)
                binder.bind(title, at: 2)
                binder.bind(pages, at: 3)
                binder.bind(price, at: 4)
                binder.bind(sequel, at: 5)
                binder.bind(note, at: 6)
                binder.bindNull(at: 7)
                binder.bind(key, at: 8)
                return key
            } values: {
                values
            }
        }

        func read<R>(_ body: (Connection) throws -> R) throws -> R { try transaction.handle.read(body) }

        func words(_ search: String) throws -> [ObjectKey] {
            try read { try $0.keys("SELECT rowid FROM \"Book.title.words\" WHERE text MATCH ?1", [.text(search)]) }
        }
    }

    private func write(_ body: (Shelf) throws -> Void) throws {
        let folder = try TestFolder()
        let process = try VirtualProcess(folder.path(), [Self.book])
        try process.write { try body(Shelf($0)) }
        #expect(try process.integrity == .text("ok"))
    }

    @Test("an inserted row is found by its key and by its primary key")
    func find() throws {
        try write { shelf in
            #expect(try shelf.read { try shelf.store.isEmpty($0) })
            let last = try shelf.read { try shelf.store.lastKey($0) }
            #expect(last == nil)
            let first = try shelf.add("a", "Ada", pages: 320, price: 9.5)
            let second = try shelf.add("b", "Ömer", sequel: .integer(first))
            try shelf.read { connection in
                let store = shelf.store
                let title = try store.withRow(second, connection) { $0.text(1) }
                #expect(title == "Ömer")
                let pages = try store.withRow(primaryKey: .text("a"), connection) { row in
                    #expect(row.integer(store.wholeRow.keyPosition) == first && row.real(3) == 9.5 && row.isNull(4))
                    return row.integer(2)
                }
                #expect(pages == 320)
                #expect(try store.key(primaryKey: .text("b"), connection) == second)
                #expect(try store.key(primaryKey: .text("B"), connection) == nil)
                let none: Void? = try store.withRow(primaryKey: .null, connection) { _ in }
                #expect(none == nil)
                let missing: Void? = try store.withRow(99, connection) { _ in }
                #expect(missing == nil)
                #expect(try store.exists(first, connection) && !store.exists(99, connection))
                #expect(try store.lastKey(connection) == second && !store.isEmpty(connection))
                #expect(try store.value(of: 4, second, connection) == .integer(first))
                #expect(try store.value(of: 5, second, connection) == nil, "a list has no column")
            }
        }
    }

    @Test("an update writes the columns of its mask, and no other columns")
    func update() throws {
        try write { shelf in
            let key = try shelf.add("a", "Ada", pages: 1, price: 2)
            let other = try shelf.add("b", "Bea", pages: 1, price: 2)
            try shelf.read { connection in
                try shelf.store.update(key, mask: PropertyMask(word: 0b110), in: shelf.transaction, connection) {
                    binder in
                    binder.bind("Eve", at: 1)
                    binder.bind(Int64(7), at: 2)
                    binder.bindNull(at: 3)
                    return 4
                } values: {
                    [.text("a"), .text("Eve"), .integer(7), .real(2), .null, .null, .null]
                }
                let changed = try shelf.store.withRow(key, connection) { row in (0...3).map { row.value($0) } }
                #expect(changed == [.text("a"), .text("Eve"), .integer(7), .real(2)])
                let unchanged = try shelf.store.withRow(other, connection) { row in (0...3).map { row.value($0) } }
                #expect(unchanged == [.text("b"), .text("Bea"), .integer(1), .real(2)])
                // The list has no column, so nothing is bound.
                try shelf.store.update(key, mask: PropertyMask(word: 1 << 5), in: shelf.transaction, connection) { _ in
                    0
                } values: {
                    []
                }
            }
            #expect(try shelf.words("eve") == [key] && shelf.words("ada").isEmpty)
        }
    }

    @Test("a deleted row leaves nothing in the full-text index")
    func delete() throws {
        try write { shelf in
            let first = try shelf.add("a", "red fox")
            let second = try shelf.add("b", "red hen")
            #expect(try shelf.words("red") == [first, second])
            try shelf.read { try shelf.store.delete(first, $0) }
            #expect(try shelf.words("red") == [second])
            let keys = try shelf.read { try shelf.store.keys($0) }
            #expect(keys == [second])
            try shelf.read { try shelf.store.deleteAll($0) }
            #expect(try shelf.words("red").isEmpty)
            #expect(try shelf.read { try shelf.store.isEmpty($0) })
        }
    }

    @Test("keys and rows of a range are in ascending order, and end at the limit")
    func ranges() throws {
        try write { shelf in
            for number in 1...9 { try shelf.add("\(number)", pages: Int64(number * 10)) }
            try shelf.read { try shelf.store.delete(4, $0) }
            try shelf.read { connection in
                let store = shelf.store
                #expect(try store.keys(in: 2...7, limit: 4, connection) == [2, 3, 5, 6])
                #expect(try store.keys(in: 4...4, limit: 4, connection).isEmpty)
                var visited: [ObjectKey] = []
                try store.forEachRow(in: 3...9, connection) { key, row in
                    #expect(row.integer(2) == key * 10)
                    visited.append(key)
                    return visited.count < 3
                }
                #expect(visited == [3, 5, 6])
                let limited = try pages(store) { try store.readRows(in: 3...8, limit: 3, into: &$0, connection) }
                #expect(limited == [30, 50, 60])
                let range = try pages(store) { try store.readRange(of: [1, 4, 5, 8, 12], into: &$0, connection) }
                #expect(range == [10, 50, 80])
                let none = try pages(store) { try store.readRange(of: [], into: &$0, connection) }
                #expect(none.isEmpty)
                let single = try pages(store) { try store.readRows([8, 4, 2, 8], into: &$0, connection) }
                #expect(single == [80, 20, 80])
            }
        }
    }

    private func pages(_ store: RowStore, _ read: (inout RowBlock) throws -> Void) throws -> [Int64?] {
        var block = RowBlock(store.wholeRow, rowCapacity: 2)
        try read(&block)
        return (0..<block.count).map { block.row($0).integer(2) }
    }

    @Test("a block ends when its texts take 1 MiB, and rows copied before keep their contents")
    func largeBlocks() throws {
        try write { shelf in
            let text = String(repeating: "x", count: 400_000)
            for number in 1...8 { try shelf.add("\(number)", "\(number)\(text)") }
            var block = RowBlock(shelf.store.wholeRow, rowCapacity: 2)
            try shelf.read { try shelf.store.readRows(in: 1...8, limit: 100, into: &block, $0) }
            #expect(block.count == 3)
            let copy = block
            block.removeAll(rowCapacity: 2)
            try shelf.read { try shelf.store.readRows([7], into: &block, $0) }
            #expect(block.count == 1 && block.row(0).text(1)?.first == "7")
            #expect((0..<copy.count).map { copy.row($0).text(1)?.first } == ["1", "2", "3"])
        }
    }

    @Test("the targets and the holders of links are read from the file, and a link can be cleared")
    func links() throws {
        try write { shelf in
            let first = try shelf.add("a")
            let second = try shelf.add("b", sequel: .integer(first))
            let third = try shelf.add("c", sequel: .integer(first))
            let store = shelf.store
            let sequel = store.type.properties[4]
            try shelf.read { connection in
                #expect(try store.holders(of: first, sequel, connection) == [second, third])
                #expect(try store.targets(of: sequel, second, connection) == [first])
                #expect(try store.targets(of: sequel, first, connection).isEmpty)
                try store.clearLink(4, of: second, connection)
                #expect(try store.holders(of: first, sequel, connection) == [third])
                #expect(try store.targets(of: sequel, second, connection).isEmpty)
            }
        }
    }

    @Test("a link in an AnyRealmValue is indexed, and removing the link updates the value and the index")
    func anyLinks() throws {
        try write { shelf in
            let first = try shelf.add("a")
            let link = AnyLink(shelf.store.table, first)
            let second = try shelf.add("b", note: link.stored)
            let holder = AnyLinkIndex.Source(shelf.store.table, 6, second)
            #expect(try holders(of: link, shelf) == [holder])
            try shelf.read { connection in
                try shelf.store.remove(
                    link, from: shelf.store.type.properties[6], of: second, in: shelf.transaction, connection)
                #expect(try shelf.store.value(of: 6, second, connection) == .null)
            }
            #expect(try holders(of: link, shelf).isEmpty)
        }
    }

    private func holders(of link: AnyLink, _ shelf: Shelf) throws -> [AnyLinkIndex.Source] {
        var holders: [AnyLinkIndex.Source] = []
        try shelf.transaction.withAnyLinks { holders = try $0.sources(of: link) }
        return holders
    }

    @Test("a statement and a copied row return the same column values, and nil if another type is requested D93")
    func columns() throws {
        try write { shelf in
            let statement = try shelf.read {
                try $0.statement("SELECT 7, 1.5, 'text', x'0102', NULL, CAST(x'ff41' AS TEXT)")
            }
            #expect(try statement.step())
            let buffer = RowBuffer(columnCount: 6, rowCapacity: 1)
            buffer.append(statement)
            for row in [RowColumns(statement), RowColumns(buffer.row(0))] {
                #expect((0..<6).map { row.isNull($0) } == [false, false, false, false, true, false])
                #expect((0..<6).map { row.integer($0) } == [7, nil, nil, nil, nil, nil])
                #expect((0..<6).map { row.real($0) } == [7, 1.5, nil, nil, nil, nil])
                #expect((0..<6).map { row.text($0) } == [nil, nil, "text", nil, nil, nil])
                #expect((0..<6).map { row.withBlob($0) { [UInt8]($0) } } == [nil, nil, nil, [1, 2], nil, nil])
                #expect(
                    (0..<6).map { row.value($0) } == [
                        .integer(7), .real(1.5), .text("text"), .blob([1, 2]), .null, .text("\u{FFFD}A"),
                    ])
            }
            statement.reset()
        }
    }
}
