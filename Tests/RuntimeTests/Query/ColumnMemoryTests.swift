import ConformanceModels
import Foundation
import MartletEngine
import MartletTestSupport
import ModelTesting
import Testing

@testable import Martlet

@Suite("columns in memory")
struct ColumnMemoryTests {
    private static func realm(
        _ budget: ColumnBudget = ColumnBudget(byteLimit: 1 << 30), _ adjust: (inout ColumnOptions) -> Void = { _ in }
    ) throws -> TestRealm {
        try TestRealm {
            $0.columns.budget = budget
            $0.columns.leastRows = 0
            $0.columns.queriesBeforeReading = 1
            $0.columns.onDifference = { Issue.record("\($0)") }
            adjust(&$0.columns)
        }
    }

    private static let integers = [
        0, 1, -1, 7, 200, 255, 256, -40_000, 65_535, 65_536, 1 << 32, 1 << 53, (1 << 53) + 1, -(1 << 53), .min, .max,
    ]
    private static let reals: [Double] = [
        0, -0.0, 1, -1, 2.5, 0.1, .nan, -.nan, .infinity, -.infinity, 0x1p53, 0x1p53 + 2, 0x1p62, -0x1p63, 0x1p63,
        1e300,
        .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .greatestFiniteMagnitude,
    ]

    private static let texts = [
        "", "a", "A", "ab", "aB", "ba", "abab", "b", "\u{e9}", "e\u{301}", "E\u{301}a", "a\0b", "\0", "\u{10FFFF}",
        "\u{212A}", "k", "stra\u{df}e", "STRASSE", String(repeating: "ab", count: 300), "*", "a?c", "abc",
    ]

    private static func set(_ row: OptionalScalars, _ random: inout SeededRandom) {
        switch Int.random(in: 0..<7, using: &random) {
        case 0: row.bool = [true, false, nil].randomElement(using: &random) ?? nil
        case 1: row.int = Bool.random(using: &random) ? integers.randomElement(using: &random) : nil
        case 2: row.int8 = Bool.random(using: &random) ? Int8.random(in: .min ... .max, using: &random) : nil
        case 3: row.double = Bool.random(using: &random) ? reals.randomElement(using: &random) : nil
        case 4: row.float = Bool.random(using: &random) ? reals.randomElement(using: &random).map { Float($0) } : nil
        case 5: row.string = Bool.random(using: &random) ? texts.randomElement(using: &random) : nil
        default:
            row.date =
                Bool.random(using: &random)
                ? Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -5...5, using: &random)) / 4) : nil
        }
    }

    private static func condition(_ random: inout SeededRandom, depth: Int) -> Query<OptionalScalars> {
        let fields = OptionalScalars.fields
        if depth > 0 {
            let (a, b) = (condition(&random, depth: depth - 1), condition(&random, depth: depth - 1))
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return a && b
            case 1: return a || b
            default: return !a
            }
        }
        let integer = integers.randomElement(using: &random) ?? 0
        let real = reals.randomElement(using: &random) ?? 0
        let small = Int8.random(in: .min ... .max, using: &random)
        let date = Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -5...5, using: &random)) / 4)
        let text = texts.randomElement(using: &random) ?? ""
        let options: [StringOptions] = [
            [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
        ]
        let option = options.randomElement(using: &random) ?? []
        switch Int.random(in: 0..<32, using: &random) {
        case 20: return fields.string == text
        case 21: return fields.string != text
        case 22: return fields.string < text
        case 23: return fields.string >= text
        case 24: return fields.string == nil
        case 25: return fields.string.in([text, "ab", nil])
        case 26: return fields.string.contains(text)
        case 27: return fields.string.contains(text, options: option)
        case 28: return fields.string.starts(with: text, options: option)
        case 29: return fields.string.ends(with: text, options: option)
        case 30: return fields.string.like(text, caseInsensitive: Bool.random(using: &random))
        case 31: return fields.string.equals(text, options: option)
        case 0: return fields.bool == true
        case 1: return fields.bool != false
        case 2: return fields.bool == nil
        case 3: return fields.int == integer
        case 4: return fields.int != integer
        case 5: return fields.int < integer
        case 6: return fields.int >= integer
        case 7: return fields.int == nil
        case 8: return fields.int.in([integer, 7, nil])
        case 9: return fields.int8 > small
        case 10: return fields.int8.contains(min(small, 5)...max(small, 5))
        case 11: return fields.double == real
        case 12: return fields.double != real
        case 13: return fields.double > real
        case 14: return fields.double <= real
        case 15: return fields.double != nil
        case 16: return fields.float < Float(real)
        case 17: return fields.float == Float(real)
        case 18: return fields.date >= date
        default: return fields.date == nil
        }
    }

    /// Conditions in query texts. The number in a condition often has another type than the property.
    private static func filtered(_ realm: Realm, _ random: inout SeededRandom) -> Results<OptionalScalars> {
        let property = ["int", "int8", "double", "float", "date"].randomElement(using: &random) ?? "int"
        let operation = ["==", "!=", "<", "<=", ">", ">="].randomElement(using: &random) ?? "=="
        if property == "date" {
            return realm.objects(OptionalScalars.self).filter("date \(operation) %@", Date(timeIntervalSince1970: 0))
        }
        if Bool.random(using: &random) {
            let number = integers.randomElement(using: &random) ?? 0
            return realm.objects(OptionalScalars.self).filter("\(property) \(operation) %@", number)
        }
        let number = reals.randomElement(using: &random) ?? 0
        return realm.objects(OptionalScalars.self).filter("\(property) \(operation) %@", number)
    }

    // The column store itself compares each answer with the answer of the file, and calls `onDifference` if they
    // differ.
    private static func query(_ results: Results<OptionalScalars>, _ random: inout SeededRandom) {
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1: _ = (results.count, results.realm?.objects(OptionalScalars.self).count)
        case 2: _ = results.map(\.id)
        case 3: _ = results.first?.id
        case 4: _ = (results.min(of: \.int), results.max(of: \.double))
        case 5: _ = (results.min(of: \.float), results.max(of: \.date), results.min(of: \.int8))
        case 6: _ = (results.average(of: \.double), results.sum(of: \.float))
        case 7: _ = results.average(of: \.int8)
        default: _ = (results.sum(of: \.double), results.sum(ofProperty: "int8") as Int)
        }
    }

    private static func query(_ realm: Realm, depth: Int, _ random: inout SeededRandom) {
        let condition = condition(&random, depth: depth)
        query(realm.objects(OptionalScalars.self).where { _ in condition }, &random)
    }

    private static func change(_ realm: Realm, _ random: inout SeededRandom, rows: Int) throws {
        try realm.write {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let id = Int.random(in: 0..<2 * rows, using: &random)
                let known = realm.object(ofType: OptionalScalars.self, forPrimaryKey: id)
                switch (Int.random(in: 0..<4, using: &random), known) {
                case (0, let row?): realm.delete(row)
                // Deletes the object, and adds another object with its primary key.
                case (1, let row?):
                    realm.delete(row)
                    realm.add(OptionalScalars(id: id))
                case (_, let row?): for _ in 0..<3 { set(row, &random) }
                case (_, nil):
                    let row = OptionalScalars(id: id)
                    for _ in 0..<6 { set(row, &random) }
                    realm.add(row)
                }
            }
        }
    }

    @Test(
        "columns in memory give the same answers as the file after changes of this Realm and of other Realms O83",
        arguments: 1...6)
    func random(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let budget = ColumnBudget(byteLimit: 1 << 30)
        let test = try Self.realm(budget)
        let rows = seed.isMultiple(of: 2) ? 30 : 4_000
        try test.realm.write {
            for id in 0..<rows where seed % 3 != 0 || id % 5 != 0 {
                let row = OptionalScalars(id: id)
                for _ in 0..<4 { Self.set(row, &random) }
                test.realm.add(row)
            }
        }
        var frozen: [Realm] = []
        for step in 0..<150 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: try Self.change(test.realm, &random, rows: rows)
            case 1:
                var other = random
                try test.onNewThread { realm in
                    try Self.change(realm, &other, rows: rows)
                    Self.query(realm, depth: 1, &other)
                }
                random = other
                if Bool.random(using: &random) { test.realm.refresh() }
            case 2: frozen = frozen.suffix(2) + [test.realm.freeze()]
            case 3:
                try test.realm.write {
                    test.realm.add(OptionalScalars(id: 10 * rows + step))
                    // Inside a write, queries read the file.
                    Self.query(test.realm, depth: 2, &random)
                }
            case 4: Self.query(Self.filtered(test.realm, &random), &random)
            case 5:
                guard let realm = frozen.randomElement(using: &random) else { continue }
                Self.query(realm, depth: 1, &random)
            default:
                Self.query(test.realm, depth: 2, &random)
            }
        }
        #expect(budget.statistics.hits > 30, "\(budget.statistics)")
    }

    @Test("after a small change columns are not read again; a large change drops the changed columns O83")
    func advancing() throws {
        let budget = ColumnBudget(byteLimit: 1 << 30)
        let test = try Self.realm(budget) { $0.queriesBeforeReading = 2 }
        let realm = test.realm
        try realm.write { for id in 0..<5_000 { realm.add(OptionalScalars(id: id, int: id % 10)) } }
        func count() -> Int { realm.objects(OptionalScalars.self).where { $0.int >= 5 }.count }
        #expect(count() == 2_500 && budget.statistics.reads == 0 && budget.statistics.misses == 1)
        #expect(count() == 2_500 && budget.statistics.reads == 1 && budget.statistics.hits == 1)
        for id in 0..<20 {
            try realm.write { realm.object(ofType: OptionalScalars.self, forPrimaryKey: 250 * id)?.int = 9 }
            #expect(count() == 2_501 + id)
        }
        #expect(budget.statistics.reads == 1)
        try realm.write { for row in realm.objects(OptionalScalars.self) { row.int = 0 } }
        #expect(count() == 0 && budget.statistics.reads == 1)
        #expect(count() == 0 && budget.statistics.reads == 2)
        // A change of another property changes no column that is in memory.
        try realm.write { for row in realm.objects(OptionalScalars.self) { row.bool = true } }
        #expect(count() == 0 && budget.statistics.reads == 2)
    }

    @Test("when the memory is full, the columns that were not used for the longest time are dropped O83")
    func memory() throws {
        let budget = ColumnBudget(byteLimit: 1 << 30)
        let test = try Self.realm(budget)
        let realm = test.realm
        try realm.write {
            for id in 0..<5_000 { realm.add(OptionalScalars(id: id, int: id << 40, double: Double(id))) }
        }
        let rows = realm.objects(OptionalScalars.self)
        #expect(rows.where { $0.int > 0 }.count == 4_999 && rows.where { $0.double > 0 }.count == 4_999)
        let full = budget.statistics
        #expect(
            full.columns.map(\.property) == ["double", "int"] && full.byteCount > 80_000 && full.byteCount < 90_000)
        #expect(full.columns.reduce(0) { $0 + $1.byteCount } == full.byteCount)
        #expect(rows.where { $0.int > 1 << 40 }.count == 4_998)
        budget.byteLimit = full.byteCount - 1
        #expect(budget.statistics.columns.map(\.property) == ["int"] && budget.statistics.evictions == 1)
        // If a column does not fit into the memory, repeated queries do not read it again.
        budget.byteLimit = 1_000
        for _ in 0..<3 { #expect(rows.where { $0.float == nil && $0.int > 0 }.count == 4_999) }
        let reads = budget.statistics.reads
        #expect(rows.where { $0.float == nil }.count == 5_000 && budget.statistics.reads == reads)
        budget.byteLimit = 0
        let hits = budget.statistics.hits
        #expect(rows.where { $0.int > 3 << 40 }.count == 4_996 && budget.statistics.hits == hits)
        #expect(budget.statistics.columns.isEmpty && budget.statistics.byteCount == 0)
    }

    @Test(
        "all objects are counted once; after a write, counting them again costs the same for few and many objects O83")
    func counts() throws {
        func cost(_ rows: Int) throws -> Int {
            let test = try Self.realm { $0.onDifference = nil }
            try test.realm.write { for id in 0..<rows { test.realm.add(OptionalScalars(id: id)) } }
            let all = test.realm.objects(OptionalScalars.self)
            #expect(all.count == rows)
            try test.realm.write {
                test.realm.delete(all[3])
                test.realm.add([OptionalScalars(id: -1), OptionalScalars(id: -2)])
                #expect(all.count == rows + 1)
            }
            try test.onNewThread { realm in
                try realm.write { realm.delete(realm.objects(OptionalScalars.self).where { $0.id < 3 }) }
            }
            test.realm.refresh()
            return steps(test.realm.context.handle) { #expect(all.count == rows - 4) }
        }
        let (few, many) = (try cost(300), try cost(6_000))
        #expect(many < few + 100, "\(few) steps for few objects, \(many) for many")
    }

    @Test("columns are released when their file is closed O83")
    func closing() throws {
        let budget = ColumnBudget(byteLimit: 1 << 30)
        do {
            let test = try Self.realm(budget)
            try test.realm.write { for id in 0..<100 { test.realm.add(OptionalScalars(id: id, int: id)) } }
            #expect(test.realm.objects(OptionalScalars.self).where { $0.int > 0 }.count == 99)
            #expect(budget.byteLimit > 0 && budget.statistics.byteCount > 0)
        }
        let deadline = Date(timeIntervalSinceNow: 30)
        while budget.statistics.byteCount > 0, Date() < deadline { sched_yield() }
        #expect(budget.statistics.byteCount == 0)
    }

    @Test("queries that an index answers, and queries of types with few objects, read no columns O83")
    func notNeeded() throws {
        let budget = ColumnBudget(byteLimit: 1 << 30)
        let test = try Self.realm(budget)
        let realm = test.realm
        try realm.write { for id in 0..<100 { realm.add(OptionalScalars(id: id, int: id)) } }
        let rows = realm.objects(OptionalScalars.self)
        #expect(rows.where { $0.id == 3 && $0.int == 3 }.count == 1 && rows.where { $0.id < 10 }.count == 10)
        #expect(rows.count == 100 && rows.where { $0.data == nil }.count == 100)
        #expect(rows.sum(of: \.id) == 4_950)
        #expect(rows.min(of: \.id) == 0 && rows.max(of: \.id) == 99)
        let used = budget.statistics
        #expect(used.hits == 1 && used.columns.map(\.property) == ["id"])
        let small = ColumnBudget(byteLimit: 1 << 30)
        let other = try Self.realm(small) { $0.leastRows = 4_096 }
        try other.realm.write { for id in 0..<100 { other.realm.add(OptionalScalars(id: id, int: id)) } }
        for _ in 0..<5 { #expect(other.realm.objects(OptionalScalars.self).where { $0.int > 9 }.count == 90) }
        #expect(small.statistics.reads == 0)
    }

    @Test("compaction drops the columns O83")
    func epochs() throws {
        let budget = ColumnBudget(byteLimit: 1 << 30)
        let test = try Self.realm(budget)
        let realm = test.realm
        try realm.write { for id in 0..<100 { realm.add(OptionalScalars(id: id, int: id)) } }
        let rows = realm.objects(OptionalScalars.self).where { $0.int > 49 }
        #expect(rows.count == 50)
        try realm.context.coordinator.compact()
        realm.refresh()
        try realm.write { realm.delete(realm.objects(OptionalScalars.self).where { $0.int < 60 }) }
        #expect(rows.count == 40 && budget.statistics.reads == 2)
    }

    @Test("a program can read how much memory the columns may use, and how much they use O83")
    func publicInterface() {
        #expect(Realm.columnMemory > 0 && Realm.columnMemory <= 256 << 20)
        #expect(Realm.columnStatistics.byteCount <= Realm.columnMemory)
    }
}
