/// A set of properties of one object type, stored as bits.
///
/// The first 64 properties are stored in one word. Properties after them are stored in an array.
package struct ColumnSet: Sendable, Hashable {
    private var low: UInt64
    private var rest: [UInt64]

    /// True if the set contains all properties of the type.
    package private(set) var isAll: Bool

    /// An empty set.
    package init() {
        low = 0
        rest = []
        isAll = false
    }

    /// A set of one property.
    package init(_ column: PropertyIndex) {
        self.init()
        insert(column)
    }

    /// A set of the given properties.
    package init(_ columns: some Sequence<PropertyIndex>) {
        self.init()
        for column in columns { insert(column) }
    }

    /// The set of all properties.
    package static let all: ColumnSet = {
        var set = ColumnSet()
        set.isAll = true
        return set
    }()

    /// True if the set has no members.
    package var isEmpty: Bool { low == 0 && rest.isEmpty && !isAll }

    /// True if the property is a member.
    package func contains(_ column: PropertyIndex) -> Bool {
        if isAll { return true }
        if column < 64 { return column >= 0 && low & (1 << UInt64(column)) != 0 }
        let word = column / 64 - 1
        return word < rest.count && rest[word] & (1 << UInt64(column % 64)) != 0
    }

    /// Adds a property.
    package mutating func insert(_ column: PropertyIndex) {
        precondition(column >= 0, "a property index is not negative")
        if isAll { return }
        if column < 64 {
            low |= 1 << UInt64(column)
            return
        }
        let word = column / 64 - 1
        while rest.count <= word { rest.append(0) }
        rest[word] |= 1 << UInt64(column % 64)
    }

    /// Removes a property. The set must not be `.all`.
    package mutating func remove(_ column: PropertyIndex) {
        precondition(column >= 0 && !isAll, "a property cannot be removed from the set of all properties")
        if column < 64 {
            low &= ~(1 << UInt64(column))
            return
        }
        let word = column / 64 - 1
        guard word < rest.count else { return }
        rest[word] &= ~(1 << UInt64(column % 64))
        while rest.last == 0 { rest.removeLast() }
    }

    /// The properties that are in at least one of the two sets.
    package func union(_ other: ColumnSet) -> ColumnSet {
        var result = self
        result.formUnion(other)
        return result
    }

    /// Adds all members of another set.
    package mutating func formUnion(_ other: ColumnSet) {
        if isAll { return }
        if other.isAll {
            self = .all
            return
        }
        low |= other.low
        for (word, bits) in other.rest.enumerated() {
            if word < rest.count { rest[word] |= bits } else { rest.append(bits) }
        }
    }

    /// True if no property is in both sets.
    package func isDisjoint(with other: ColumnSet) -> Bool {
        if isAll { return other.isEmpty }
        if other.isAll { return isEmpty }
        if low & other.low != 0 { return false }
        return !zip(rest, other.rest).contains { $0 & $1 != 0 }
    }

    /// True if the other set contains all members of this set.
    package func isSubset(of other: ColumnSet) -> Bool {
        if isAll || other.isAll { return other.isAll }
        return low & ~other.low == 0
            && rest.enumerated().allSatisfy { $1 & ~($0 < other.rest.count ? other.rest[$0] : 0) == 0 }
    }

    /// The members smaller than `count`, ascending. In `.all`, these are all numbers from 0 to `count - 1`.
    package func members(below count: Int) -> [PropertyIndex] {
        isAll ? Array(0..<count) : Array(prefix { $0 < count })
    }

    /// The members as 64-bit words, the lowest properties first; the last word is never zero.
    var words: [UInt64] {
        low == 0 && rest.isEmpty ? [] : [low] + rest
    }

    /// Creates a set from words. Returns nil if the last word is zero, so that each set has only one valid encoding.
    init?(words: [UInt64]) {
        if words.last == 0 { return nil }
        low = words.first ?? 0
        rest = Array(words.dropFirst())
        isAll = false
    }
}

extension ColumnSet: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: PropertyIndex...) {
        self.init(elements)
    }
}

extension ColumnSet: Comparable {
    /// An arbitrary total order, so that lists of sets are always in the same order.
    package static func < (left: ColumnSet, right: ColumnSet) -> Bool {
        if left.isAll || right.isAll { return right.isAll && !left.isAll }
        if left.rest.count != right.rest.count { return left.rest.count < right.rest.count }
        for (mine, theirs) in zip(left.rest, right.rest).reversed() where mine != theirs { return mine < theirs }
        return left.low < right.low
    }
}

extension ColumnSet: Sequence {
    package struct Iterator: IteratorProtocol {
        private var bits: UInt64
        private var word = 0
        private let rest: [UInt64]

        fileprivate init(low: UInt64, rest: [UInt64]) {
            bits = low
            self.rest = rest
        }

        package mutating func next() -> PropertyIndex? {
            while bits == 0 {
                guard word < rest.count else { return nil }
                bits = rest[word]
                word += 1
            }
            let bit = bits.trailingZeroBitCount
            bits &= bits - 1
            return word * 64 + bit
        }
    }

    /// Iterates over the members in ascending order. For `.all`, which has no end, call `members(below:)` instead.
    package func makeIterator() -> Iterator {
        precondition(!isAll, "the set of all properties has no end, use 'members(below:)'")
        return Iterator(low: low, rest: rest)
    }
}
