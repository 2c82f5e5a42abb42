import MartletEngine
import ModelTesting
import Testing

@Suite("TableChanges")
struct TableChangesTests {
    /// One write of a row.
    enum Step: CaseIterable {
        case insert
        case delete
        case modifyFirst
        case modifySecond
    }

    /// The expected changes of a row. They are computed from whether the row existed at the start, and from its writes
    /// since the start.
    struct RowModel: Equatable {
        var existedBefore: Bool
        var exists: Bool
        var wasDeleted = false
        var columns = Set<Int>()

        init(exists: Bool) {
            existedBefore = exists
            self.exists = exists
        }

        func allows(_ step: Step) -> Bool { exists == (step != .insert) }

        mutating func apply(_ step: Step) {
            switch step {
            case .insert: exists = true
            case .delete:
                exists = false
                wasDeleted = true
                columns = []
            case .modifyFirst: columns.insert(0)
            case .modifySecond: columns.insert(1)
            }
        }

        var isInserted: Bool { exists && (!existedBefore || wasDeleted) }
        var isDeleted: Bool { existedBefore && wasDeleted }
        var modifiedColumns: Set<Int> { isInserted || isDeleted || !existedBefore ? [] : columns }
    }

    @Test("up to seven writes of a row give the expected change, also when merged from two parts N41 N42 N52")
    func allShortSequences() {
        for exists in [true, false] {
            check([], of: RowModel(exists: exists))
        }
    }

    private func check(_ steps: [Step], of row: RowModel) {
        let whole = changes(of: steps.map { (1, $0) })
        expect(whole, matches: [1: row])
        for cut in 0...steps.count {
            var merged = changes(of: steps[..<cut].map { (1, $0) })
            merged.merge(changes(of: steps[cut...].map { (1, $0) }))
            #expect(merged == whole)
        }
        if steps.count == 7 { return }
        for step in Step.allCases where row.allows(step) {
            var next = row
            next.apply(step)
            check(steps + [step], of: next)
        }
    }

    @Test(
        "random writes of many rows give the changes that a model expects, also when they are merged from parts",
        arguments: 0..<150 as Range<UInt64>)
    func randomWrites(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var rows: [ObjectKey: RowModel] = [:]
        let span = random.number(3..<40)
        for key in 0..<span where random.isTrue(oneIn: 2) { rows[ObjectKey(key)] = RowModel(exists: true) }
        var steps: [(ObjectKey, Step)] = []
        var key: ObjectKey = 0
        for _ in 0..<random.number(1..<200) {
            key = random.isTrue(oneIn: 2) ? key + 1 : ObjectKey(random.number(0..<span))
            var row = rows[key] ?? RowModel(exists: false)
            guard let step = Step.allCases.filter(row.allows).randomElement(using: &random) else { continue }
            row.apply(step)
            rows[key] = row
            steps.append((key, step))
        }
        let whole = changes(of: steps)
        expect(whole, matches: rows)
        var merged = TableChanges()
        var builder = TableChangesBuilder()
        for cut in cuts(of: steps.count, &random) {
            let part = changes(of: Array(steps[cut]))
            merged.merge(part)
            builder.append(part)
        }
        #expect(merged == whole)
        #expect(builder.finish() == whole)
    }

    @Test("insertions of consecutive rows are stored as one run, and modifications of these rows add nothing")
    func bulkInsertionIsOneRun() {
        var builder = TableChangesBuilder()
        for key in 1...200_000 as ClosedRange<ObjectKey> {
            builder.insert(key)
            builder.modify(key, 0)
            builder.modify(77_000_000, 3)
        }
        let changes = builder.finish()
        #expect(changes.inserted.ranges == [1...200_000])
        #expect(changes.modified == [.init(columns: [3], keys: [77_000_000])])
    }

    @Test("a builder compacts repeated writes of the same rows before it finishes")
    func repeatedWritesAreCompacted() {
        var builder = TableChangesBuilder()
        for round in 0..<150_000 {
            builder.modify(ObjectKey(round % 7 * 2), round % 3)
            if round % 50_000 == 49_999 { builder.delete(ObjectKey(round % 7 * 2 + 1)) }
        }
        builder.insert(100)
        let changes = builder.finish()
        #expect(changes.modified == [.init(columns: [0, 1, 2], keys: [0, 2, 4, 6, 8, 10, 12])])
        #expect(changes.deleted.count == 3 && changes.inserted == [100])
    }

    @Test("changes that are given as sets are normalized")
    func setsAreNormalized() {
        let changes = TableChanges(
            inserted: [1, 2], deleted: [2, 3],
            modified: [.init(columns: [5], keys: [1, 2, 3, 4, 5]), .init(columns: [4], keys: [5, 6])])
        #expect(changes.replaced == [2])
        #expect(changes.columns(modifiedFor: 4) == [5])
        #expect(changes.columns(modifiedFor: 5) == [4, 5])
        #expect(changes.columns(modifiedFor: 2) == [])
        #expect(changes.modifiedKeys == [4, 5, 6])
        #expect(changes.keys(modifiedIn: [4]) == [5, 6])
        #expect(changes.touchedKeys == [1, 2, 3, 4, 5, 6])
    }

    @Test("insertions and deletions are found while changes are recorded N128", arguments: 0..<100 as Range<UInt64>)
    func recordedRuns(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        // With half of the seeds, the builder compacts its log after a few entries.
        var builder = random.isTrue(oneIn: 2) ? TableChangesBuilder() : TableChangesBuilder(compactionLength: 8)
        var (inserted, deleted): (Set<ObjectKey>, Set<ObjectKey>) = ([], [])
        var key: ObjectKey = 0
        for _ in 0..<random.number(1..<600) {
            key = random.isTrue(oneIn: 2) ? key + 1 : ObjectKey(random.number(0..<200))
            switch random.number(0..<5) {
            case 0:
                builder.insert(key)
                inserted.insert(key)
            case 1:
                builder.delete(key)
                deleted.insert(key)
            // Records many entries between an insertion and the insertion of the next row.
            case 2: for other in 0..<20 { builder.modify(ObjectKey(300 + 2 * other), random.number(0..<2)) }
            default: builder.modify(key, random.number(0..<2))
            }
            guard random.isTrue(oneIn: 3) else { continue }
            let searched = random.isTrue(oneIn: 2) ? key : ObjectKey(random.number(0..<220))
            let found = (builder.hasRecorded(.insert, searched), builder.hasRecorded(.delete, searched))
            #expect(found == (inserted.contains(searched), deleted.contains(searched)))
        }
    }

    private func cuts(of count: Int, _ random: inout SeededRandom) -> [Range<Int>] {
        var cuts: [Range<Int>] = []
        var start = 0
        while start < count {
            let end = min(count, start + random.number(1..<40))
            cuts.append(start..<end)
            start = end
        }
        return cuts
    }

    private func changes(of steps: [(ObjectKey, Step)]) -> TableChanges {
        var builder = TableChangesBuilder()
        for (key, step) in steps {
            switch step {
            case .insert: builder.insert(key)
            case .delete: builder.delete(key)
            case .modifyFirst: builder.modify(key, 0)
            case .modifySecond: builder.modify(key, 1)
            }
        }
        return builder.finish()
    }

    private func expect(_ changes: TableChanges, matches rows: [ObjectKey: RowModel]) {
        changes.inserted.checkInvariants()
        changes.deleted.checkInvariants()
        #expect(changes.inserted == KeySet(rows.filter { $0.value.isInserted }.keys))
        #expect(changes.deleted == KeySet(rows.filter { $0.value.isDeleted }.keys))
        #expect(changes.modifiedKeys == KeySet(rows.filter { !$0.value.modifiedColumns.isEmpty }.keys))
        for (key, row) in rows {
            #expect(changes.columns(modifiedFor: key) == ColumnSet(row.modifiedColumns))
        }
        #expect(Set(changes.modified.map(\.columns)).count == changes.modified.count)
    }
}
