import MartletEngine
import MartletSQLite
import MartletValues
import ModelTesting
import Testing

/// A table before and after some changes. It provides every input of a `ResultsMaintainer`.
private struct MaintainedTable {
    struct Row {
        var values: [SQLValue]
        var matches: Bool
        var content = 0
        /// The number of earlier objects with this key.
        var generation = 0
    }

    var order: SortOrder
    var rows: [ObjectKey: Row] = [:]
    private(set) var oldRows: [ObjectKey: Row] = [:]
    private(set) var touched = KeySet()
    private(set) var replaced = KeySet()
    private(set) var inserted = KeySet()
    private(set) var reported = KeySet()

    init(order: SortOrder) {
        self.order = order
    }

    mutating func commit() {
        oldRows = rows
        (touched, replaced, inserted, reported) = (KeySet(), KeySet(), KeySet(), KeySet())
    }

    func keys(of rows: [ObjectKey: Row]) -> [ObjectKey] {
        rows.filter { $0.value.matches }.map { SortKey(values: $0.value.values, key: $0.key) }
            .sorted { order.precedes($0, $1) }.map(\.key)
    }

    func elements(_ keys: [ObjectKey], in rows: [ObjectKey: Row]) -> [ReplayElement] {
        keys.map { key in
            let row = rows[key]
            return ReplayElement(id: Int(key) + (row?.generation ?? 0) * 100_000, content: row?.content ?? 0)
        }
    }

    mutating func touch(_ key: ObjectKey, report: Bool, _ change: (inout Row) -> Void) {
        guard var row = rows[key] else { return }
        change(&row)
        if report { row.content += 1 }
        rows[key] = row
        touched.insert(key)
        if report { reported.insert(key) }
    }

    mutating func delete(_ key: ObjectKey) {
        guard rows.removeValue(forKey: key) != nil else { return }
        touched.insert(key)
        if inserted.remove(key) { touched.remove(key) }
        replaced.remove(key)
    }

    mutating func insert(_ key: ObjectKey, _ row: Row) {
        if rows[key] != nil { return }
        var row = row
        if let old = oldRows[key] {
            row.generation = old.generation + 1
            replaced.insert(key)
        } else {
            inserted.insert(key)
        }
        touched.insert(key)
        reported.insert(key)
        rows[key] = row
    }

    /// A maintainer with the old sort keys of all touched rows.
    func maintainer() -> ResultsMaintainer {
        ResultsMaintainer(
            old: KeySequence(keys(of: oldRows)), order: order, touched: touched, replaced: replaced,
            inserted: inserted, reported: reported,
            candidates: touched.compactMap { key in
                guard let row = rows[key], row.matches else { return nil }
                return SortKey(values: order.isEmpty ? [] : row.values, key: key)
            },
            oldSortKeys: oldRows.filter { touched.contains($0.key) }
                .reduce(into: [:]) { $0[$1.key] = SortKey(values: $1.value.values, key: $1.key) })
    }

    /// Runs a maintainer and compares its outcome with the rows.
    @discardableResult
    func check(_ maintainer: ResultsMaintainer) -> CollectionChange {
        var reads = 0
        var touchedReads = 0
        let outcome = maintainer.advance { key in
            reads += 1
            if touched.contains(key) { touchedReads += 1 }
            return SortKey(values: rows[key]?.values ?? [], key: key)
        }
        #expect(touchedReads == 0, "only untouched rows are read")
        outcome.keys.checkInvariants()
        let old = keys(of: oldRows)
        let new = keys(of: rows)
        #expect(Array(outcome.keys) == new)
        expectReplay(outcome.change, from: elements(old, in: oldRows), to: elements(new, in: rows))
        #expect(order.isEmpty ? reads == 0 : reads <= touched.count * 64)
        checkExact(outcome.change, old, new)
        return outcome.change
    }

    /// Checks that the change reports the fewest possible rows as moved. The untouched rows divide the results into
    /// gaps. A touched row that leaves its gap has moved. Of the touched rows that stay in their gap, as many as
    /// possible must count as unmoved: a longest subsequence whose old positions increase.
    private func checkExact(_ change: CollectionChange, _ old: [ObjectKey], _ new: [ObjectKey]) {
        let oldGaps = gaps(of: old)
        let newGaps = gaps(of: new)
        let survivors = new.filter { oldGaps[$0] != nil && newGaps[$0] != nil && !replaced.contains($0) }
        let inSameGap = survivors.filter { oldGaps[$0] == newGaps[$0] }
        let oldPositions = Dictionary(uniqueKeysWithValues: old.enumerated().map { ($0.element, $0.offset) })
        let unmovedCount = lengthOfLongestIncreasing(inSameGap.compactMap { oldPositions[$0] })
        let moved = KeySet(change.moves.map { old[$0.from] })
        #expect(change.moves.count == survivors.count - unmovedCount)
        #expect(moved.isSubset(of: KeySet(survivors)))
        let modified = survivors.filter { reported.contains($0) && !moved.contains($0) }
        #expect(change.modificationsNew.map { new[$0] } == modified)
        #expect(
            KeySet(change.deletions.map { old[$0] })
                == KeySet(oldGaps.keys).subtracting(KeySet(survivors)).union(moved))
    }

    private func gaps(of keys: [ObjectKey]) -> [ObjectKey: Int] {
        var gaps: [ObjectKey: Int] = [:]
        var untouched = 0
        for key in keys {
            if touched.contains(key) { gaps[key] = untouched } else { untouched += 1 }
        }
        return gaps
    }
}

@Suite("ResultsMaintainer")
struct ResultsMaintainerTests {
    private let orders = [
        SortOrder(), SortOrder(ascending: [true]), SortOrder(ascending: [false]), SortOrder(ascending: [false, true]),
    ]

    @Test("random changes give the result of a full computation N46 N47 N48 N52", arguments: 0..<300 as Range<UInt64>)
    func randomChanges(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var table = MaintainedTable(order: orders[random.number(0..<orders.count)])
        let span = random.isTrue(oneIn: 40) ? 700 : random.number(1..<60)
        for key in 0..<span where !random.isTrue(oneIn: 4) { table.insert(ObjectKey(key), row(&random)) }
        for _ in 0..<4 {
            table.commit()
            for _ in 0..<random.number(0..<(random.isTrue(oneIn: 4) ? span : 6)) { change(&table, span, &random) }
            var maintainer = table.maintainer()
            maintainer.candidates.shuffle(using: &random)
            table.check(maintainer)
            maintainer.keysScannedPerSearch = 0
            table.check(maintainer)
            maintainer.inserted = []
            table.check(maintainer)
            maintainer.oldSortKeys = maintainer.oldSortKeys.filter { _ in random.isTrue(oneIn: 2) }
            table.check(maintainer)
        }
    }

    private func row(_ random: inout SeededRandom) -> MaintainedTable.Row {
        let values: [SQLValue] = [
            random.isTrue(oneIn: 5) ? .null : .integer(Int64(random.number(0..<8))),
            random.isTrue(oneIn: 3)
                ? .real(Double(random.number(0..<4)) / 2) : .text(random.isTrue(oneIn: 2) ? "a" : "b"),
        ]
        return MaintainedTable.Row(values: values, matches: !random.isTrue(oneIn: 3))
    }

    private func change(_ table: inout MaintainedTable, _ span: Int, _ random: inout SeededRandom) {
        let key = ObjectKey(random.number(0..<(span + 5)))
        let fresh = row(&random)
        switch random.number(0..<8) {
        case 0: table.delete(key)
        case 1: table.insert(key, fresh)
        case 2:
            table.delete(key)
            table.insert(key, fresh)
        case 3: table.touch(key, report: random.isTrue(oneIn: 2)) { $0.matches = fresh.matches }
        case 4: table.touch(key, report: random.isTrue(oneIn: 2)) { _ in }
        default: table.touch(key, report: !random.isTrue(oneIn: 3)) { $0.values = fresh.values }
        }
    }

    @Test("for every pair of changes to two of four rows, the reported change turns the old into the new results")
    func allPairsOfChanges() {
        typealias Change = (inout MaintainedTable, ObjectKey) -> Void
        var changes: [Change] = [
            { $0.delete($1) },
            { $0.touch($1, report: true) { $0.matches.toggle() } },
            { $0.touch($1, report: false) { _ in } },
        ]
        for value in 0..<5 as Range<Int64> {
            changes.append { $0.touch($1, report: true) { $0.values = [.integer(value)] } }
            changes.append { table, key in
                table.delete(key)
                table.insert(key, MaintainedTable.Row(values: [.integer(value)], matches: true))
            }
        }
        for first in changes {
            for second in changes {
                for (left, right) in [(0, 1), (1, 0), (0, 3), (2, 1)] as [(ObjectKey, ObjectKey)] {
                    var table = sortedTable(values: [1, 2, 2, 3])
                    first(&table, left)
                    second(&table, right)
                    var maintainer = table.maintainer()
                    table.check(maintainer)
                    maintainer.keysScannedPerSearch = 0
                    table.check(maintainer)
                }
            }
        }
    }

    private func sortedTable(values: [Int64], matching: (Int) -> Bool = { _ in true }) -> MaintainedTable {
        var table = MaintainedTable(order: SortOrder(ascending: [true]))
        for (key, value) in values.enumerated() {
            table.insert(ObjectKey(key), MaintainedTable.Row(values: [.integer(value)], matches: matching(key)))
        }
        table.commit()
        return table
    }

    @Test(
        "a touched row is modified if it still matches, deleted if it no longer matches, inserted if it begins to match N46"
    )
    func membership() {
        var table = sortedTable(values: [10, 20, 30, 40]) { $0 != 2 }
        table.touch(1, report: true) { _ in }
        #expect(table.check(table.maintainer()) == CollectionChange(modifications: [1], modificationsNew: [1]))
        table.commit()
        table.touch(1, report: true) { $0.matches = false }
        #expect(table.check(table.maintainer()) == CollectionChange(deletions: [1]))
        table.commit()
        table.touch(2, report: true) { $0.matches = true }
        #expect(table.check(table.maintainer()) == CollectionChange(insertions: [1]))
    }

    @Test("a row that matches neither before nor after a commit is not reported N45")
    func rowsWithoutMatch() {
        var table = sortedTable(values: [10, 20, 30]) { $0 != 1 }
        table.touch(1, report: true) { $0.values = [.integer(99)] }
        #expect(table.check(table.maintainer()).isEmpty)
        table.delete(1)
        #expect(table.check(table.maintainer()).isEmpty)
    }

    @Test("a modification that changes the position is a deletion, an insertion and a move N48")
    func moves() {
        var table = sortedTable(values: [10, 20, 30, 40])
        table.touch(0, report: true) { $0.values = [.integer(35)] }
        let moved = CollectionChange(deletions: [0], insertions: [2], moves: [.init(from: 0, to: 2)])
        #expect(table.check(table.maintainer()) == moved)
        table.commit()
        table.touch(0, report: true) { $0.values = [.integer(36)] }
        #expect(table.check(table.maintainer()) == CollectionChange(modifications: [2], modificationsNew: [2]))
    }

    @Test("deletions do not report remaining rows as moved or modified N49")
    func deletions() {
        var table = sortedTable(values: [10, 20, 30, 40, 50])
        table.delete(0)
        table.delete(2)
        table.touch(4, report: true) { _ in }
        let change = CollectionChange(deletions: [0, 2], modifications: [4], modificationsNew: [2])
        #expect(table.check(table.maintainer()) == change)
    }

    @Test("a row that is deleted and created again is a deletion and an insertion, even at the same position N52")
    func replacement() {
        var table = sortedTable(values: [10, 20, 30])
        table.delete(1)
        table.insert(1, MaintainedTable.Row(values: [.integer(20)], matches: true))
        #expect(table.check(table.maintainer()) == CollectionChange(deletions: [1], insertions: [1]))
    }

    @Test("if a change does not count as a modification, it is reported only if the row moves")
    func unreportedChanges() {
        var table = sortedTable(values: [10, 20, 30])
        table.touch(1, report: false) { $0.values = [.integer(25)] }
        #expect(table.check(table.maintainer()).isEmpty)
        table.touch(1, report: false) { $0.values = [.integer(5)] }
        let moved = CollectionChange(deletions: [1], insertions: [0], moves: [.init(from: 1, to: 0)])
        #expect(table.check(table.maintainer()) == moved)
    }

    @Test("two changes in 100,000 rows read a logarithmic number of sort keys")
    func fewReads() {
        let count = 100_000
        var reads = 0
        let maintainer = ResultsMaintainer(
            old: KeySequence((0..<ObjectKey(count)).reversed()), order: SortOrder(ascending: [false]),
            touched: [70_000, 200_000], inserted: [200_000], reported: [70_000, 200_000],
            candidates: [
                SortKey(values: [.integer(10)], key: 70_000), SortKey(values: [.integer(50)], key: 200_000),
            ],
            oldSortKeys: [70_000: SortKey(values: [.integer(70_000)], key: 70_000)])
        let outcome = maintainer.advance { key in
            reads += 1
            return SortKey(values: [.integer(key)], key: key)
        }
        #expect(reads <= 3 * 18)
        #expect(outcome.change.deletions == [29_999])
        #expect(outcome.change.insertions == [99_949, 99_990])
        #expect(outcome.change.moves == [.init(from: 29_999, to: 99_990)])
    }

    @Test("an error while reading a sort key is rethrown")
    func errorsAreRethrown() {
        struct Unreadable: Error {}
        let maintainer = ResultsMaintainer(
            old: [1, 2, 3], order: SortOrder(ascending: [true]), touched: [9], reported: [],
            candidates: [SortKey(values: [.null], key: 9)])
        #expect(throws: Unreadable.self) { try maintainer.advance { _ in throw Unreadable() } }
    }
}
