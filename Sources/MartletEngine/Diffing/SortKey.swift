package import MartletValues

/// The sort key of a row: the values of the sort terms, and then the object key of the row. The sort key determines the
/// position of the row in a sorted result.
package struct SortKey: Sendable, Hashable {
    /// One value for each term; empty if the result is in key order.
    package let values: [SQLValue]
    package let key: ObjectKey

    package init(values: [SQLValue] = [], key: ObjectKey) {
        self.values = values
        self.key = key
    }
}

/// The order of a result: the direction of each sort term. Rows that are equal in all terms are ordered by ascending
/// key. Without terms, all rows are ordered by key.
package struct SortOrder: Sendable, Hashable {
    /// One flag for each term: true if the term sorts in ascending order.
    package let ascending: [Bool]

    package init(ascending: [Bool] = []) {
        self.ascending = ascending
    }

    /// True if the rows are in key order.
    package var isEmpty: Bool { ascending.isEmpty }

    /// Negative if the left row comes first, positive if the right row comes first, zero for the same row.
    package func compare(_ left: SortKey, _ right: SortKey) -> Int {
        for (index, ascends) in ascending.enumerated() {
            precondition(
                index < left.values.count && index < right.values.count, "a sort key has a value for each term")
            let order = ValueOrder.compare(left.values[index], right.values[index])
            if order != 0 { return ascends ? order : -order }
        }
        return left.key == right.key ? 0 : (left.key < right.key ? -1 : 1)
    }

    /// True if the left row comes before the right row.
    package func precedes(_ left: SortKey, _ right: SortKey) -> Bool {
        compare(left, right) < 0
    }
}
