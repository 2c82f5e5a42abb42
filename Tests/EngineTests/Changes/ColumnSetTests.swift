import MartletEngine
import ModelTesting
import Testing

@Suite("ColumnSet")
struct ColumnSetTests {
    @Test("random sets agree with sets of the standard library", arguments: 0..<200 as Range<UInt64>)
    func randomSetsAgree(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let limit = random.isTrue(oneIn: 2) ? 10 : 200
        let left = Set((0..<random.number(0..<8)).map { _ in random.number(0..<limit) })
        let right = Set((0..<random.number(0..<8)).map { _ in random.number(0..<limit) })
        let leftColumns = ColumnSet(left)
        let rightColumns = ColumnSet(right)
        #expect(Array(leftColumns) == left.sorted())
        #expect(leftColumns.isEmpty == left.isEmpty)
        #expect(leftColumns.union(rightColumns) == ColumnSet(left.union(right)))
        #expect(leftColumns.isDisjoint(with: rightColumns) == left.isDisjoint(with: right))
        #expect((leftColumns == rightColumns) == (left == right))
        #expect(leftColumns == rightColumns || (leftColumns < rightColumns) != (rightColumns < leftColumns))
        for column in 0..<220 { #expect(leftColumns.contains(column) == left.contains(column)) }
        #expect(leftColumns.members(below: 5) == left.filter { $0 < 5 }.sorted())
    }

    @Test("the set of all properties contains every column and every set")
    func allProperties() {
        let all = ColumnSet.all
        #expect(all.contains(0) && all.contains(100_000) && !all.isEmpty && all.isAll)
        #expect(all.union([3]) == all && ColumnSet(3).union(all) == all)
        #expect(!all.isDisjoint(with: [70]) && !ColumnSet(70).isDisjoint(with: all))
        #expect(all.isDisjoint(with: []) && ColumnSet().isDisjoint(with: all))
        #expect(all.members(below: 3) == [0, 1, 2])
        #expect(ColumnSet(5) < all && !(all < all))
        var grown = all
        grown.insert(3)
        #expect(grown == all)
    }
}
