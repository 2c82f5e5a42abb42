import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

/// Columns of required properties, in which every row of a block has a value. `ColumnMemoryTests` has properties that
/// may be nil.
@Suite("columns of required properties")
struct RequiredColumnTests {
    private static func set(_ row: Scalars, _ group: Int, _ random: inout SeededRandom) {
        // The values of a group occur in some blocks only.
        row.bool = Bool.random(using: &random)
        row.int = group * 100 + Int.random(in: 0..<50, using: &random)
        row.int8 = Int8(truncatingIfNeeded: row.int)
        row.int32 = Int32.random(in: .min ... .max, using: &random)
        row.double = [-0.0, 1, 0.5, 1e300, -.infinity, .nan].randomElement(using: &random) ?? 0
        row.float = Float(group)
        row.string = "group \(group) \(Int.random(in: 0..<9, using: &random))"
        row.date = Date(timeIntervalSinceReferenceDate: Double(group))
    }

    private static func condition(_ groups: Int, _ random: inout SeededRandom) -> Query<Scalars> {
        let fields = Scalars.fields
        let group = Int.random(in: 0..<groups, using: &random)
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return fields.string.contains("p \(group)")
        case 1: return fields.string.ends(with: " \(group % 9)")
        case 2: return fields.string == "group \(group) 3"
        case 3: return fields.int == group * 100 + 7
        case 4: return fields.int.contains((group * 100 + 20)...(group * 100 + 120))
        case 5: return fields.double > 1
        case 6: return fields.float == Float(group)
        case 7: return fields.int32 < Int32(truncatingIfNeeded: group * 1_000_000)
        default: return fields.bool == true && fields.string.contains("\(group) 1")
        }
    }

    private static func query(_ results: Results<Scalars>) {
        _ = (results.count, results.first?.id)
        _ = (results.min(of: \.int), results.max(of: \.int), results.sum(of: \.int))
        _ = (results.min(of: \.int8), results.max(of: \.int32), results.average(of: \.int8))
        _ = (results.min(of: \.double), results.max(of: \.double), results.average(of: \.double))
        _ = (results.min(of: \.float), results.max(of: \.date))
    }

    // The column store compares each answer with the answer of the file, and calls `onDifference` if they differ.
    @Test("aggregates of required columns skip blocks in which no row matches O83", arguments: 1...2)
    func random(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let budget = ColumnBudget(byteLimit: 1 << 30)
        let test = try TestRealm {
            $0.columns.budget = budget
            $0.columns.leastRows = 0
            $0.columns.queriesBeforeReading = 1
            $0.columns.onDifference = { Issue.record("\($0)") }
        }
        let (rows, groups) = (9_000, 12)
        try test.realm.write {
            for id in 0..<rows {
                let row = Scalars(id: id)
                Self.set(row, id * groups / rows, &random)
                test.realm.add(row)
            }
        }
        for _ in 0..<40 {
            let condition = Self.condition(groups, &random)
            Self.query(test.realm.objects(Scalars.self).where { _ in condition })
            let absent = Self.condition(groups + 2, &random)
            Self.query(test.realm.objects(Scalars.self).where { _ in condition && absent })
            try test.realm.write {
                let id = Int.random(in: 0..<rows, using: &random)
                guard let row = test.realm.object(ofType: Scalars.self, forPrimaryKey: id) else { return }
                Self.set(row, Int.random(in: 0..<groups, using: &random), &random)
            }
        }
        #expect(budget.statistics.hits > 100, "\(budget.statistics)")
    }

    @Test("the memory of columns includes the keys, and the blocks that only older versions have O83")
    func memory() throws {
        let budget = ColumnBudget(byteLimit: 1 << 30)
        let test = try TestRealm {
            $0.columns.budget = budget
            $0.columns.leastRows = 0
            $0.columns.queriesBeforeReading = 1
        }
        let rows = 6_000
        // The keys are not consecutive, so 8 bytes are stored for each.
        try test.realm.write {
            for id in 0..<rows { test.realm.add(Scalars(id: id * 3, int: id << 40, double: Double(id) / 3)) }
        }
        let all = test.realm.objects(Scalars.self)
        #expect(all.where { $0.int >= 0 }.count == rows && all.where { $0.double >= 0 }.count == rows)
        let full = budget.statistics
        #expect(full.columns.map(\.property) == ["double", "int"])
        #expect(full.byteCount > 24 * rows && full.byteCount < 25 * rows)
        // Dropping the older column does not release the keys.
        budget.byteLimit = full.byteCount - 1
        #expect(budget.statistics.columns.map(\.property) == ["double"])
        #expect(budget.statistics.byteCount > 16 * rows && budget.statistics.byteCount < 17 * rows)
        budget.byteLimit = 1 << 30
        var last = budget.statistics.byteCount
        for round in 1...6 {
            try test.realm.write { all[10].double = Double(round) }
            #expect(all.where { $0.double >= 0 }.count == rows)
            let bytes = budget.statistics.byteCount
            // A change copies a block of keys and a block of values. At most three older versions are kept. The first
            // change divides the blocks, so the later copies are smaller.
            switch round {
            case 1...3: #expect(bytes > last + 16_000 && bytes < last + 70_000)
            case 4: #expect(bytes < last)
            default: #expect(abs(bytes - last) < 1_000)
            }
            last = bytes
        }
    }
}
