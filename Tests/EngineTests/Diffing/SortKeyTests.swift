import MartletEngine
import MartletSQLite
import MartletValues
import Testing

@Suite("SortOrder")
struct SortKeyTests {
    /// Values in the order of SQLite. Equal values are in one group.
    private let orderedGroups: [[SQLValue]] = [
        [.null, .real(.nan)],
        [.real(-.infinity)],
        [.real(-9.3e18)],
        [.integer(.min), .real(-0x1p63)],
        [.integer(.min + 1)],
        [.integer(-3)],
        [.real(-2.5)],
        [.integer(-2), .real(-2)],
        [.real(-1.5)],
        [.integer(0), .real(0), .real(-0.0)],
        [.real(0.5)],
        [.integer(1), .real(1)],
        [.integer(1 << 53), .real(0x1p53)],
        [.integer(1 << 53 + 1)],
        [.integer(1 << 53 + 2), .real(0x1p53 + 2)],
        [.integer(.max - 1)],
        [.integer(.max)],
        [.real(0x1p63)],
        [.real(.infinity)],
        [.text("")],
        [.text("\u{0}")],
        [.text("Z")],
        [.text("a")],
        [.text("a\u{0}b")],
        [.text("ab")],
        [.text("e\u{301}")],
        [.text("é")],
        [.text("\u{FFFD}")],
        [.text("😀")],
        [.blob([])],
        [.blob([0])],
        [.blob([0, 255])],
        [.blob([1])],
        [.blob([255])],
    ]

    @Test("values compare as in ORDER BY with BINARY collation")
    func valuesCompare() {
        for (left, lefts) in orderedGroups.enumerated() {
            for (right, rights) in orderedGroups.enumerated() {
                for leftValue in lefts {
                    for rightValue in rights {
                        let expected = (left - right).signum()
                        #expect(ValueOrder.compare(leftValue, rightValue) == expected, "\(leftValue) \(rightValue)")
                    }
                }
            }
        }
    }

    @Test("each term has its direction, and equal rows are ordered by ascending key")
    func termsAndTies() {
        let order = SortOrder(ascending: [true, false])
        let first = SortKey(values: [.integer(1), .integer(5)], key: 9)
        let second = SortKey(values: [.integer(1), .integer(4)], key: 1)
        let third = SortKey(values: [.integer(1), .integer(4)], key: 2)
        let fourth = SortKey(values: [.integer(2), .null], key: 0)
        let sorted = [first, second, third, fourth]
        for (left, leftKey) in sorted.enumerated() {
            for (right, rightKey) in sorted.enumerated() {
                #expect(order.compare(leftKey, rightKey) == (left - right).signum())
            }
        }
        let byKey = SortOrder()
        #expect(byKey.isEmpty && byKey.precedes(SortKey(key: 1), SortKey(key: 2)))
    }

    @Test("nulls come last in a descending term")
    func nullsDescending() {
        let order = SortOrder(ascending: [false])
        #expect(order.precedes(SortKey(values: [.text("a")], key: 2), SortKey(values: [.null], key: 1)))
    }
}
