package import MartletSQLite

/// What places a row in a sorted result: the values of its sort terms, then its key.
package struct SortKey: Sendable, Hashable {
    /// One value per term; empty where the result is in key order.
    package let values: [SQLValue]
    package let key: ObjectKey

    package init(values: [SQLValue] = [], key: ObjectKey) {
        self.values = values
        self.key = key
    }
}

/// The order of a result: the direction of each sort term. Rows equal in all terms follow each other by ascending key,
/// and so do all rows if there is no term.
package struct SortOrder: Sendable, Hashable {
    /// For each term whether it ascends.
    package let ascending: [Bool]

    package init(ascending: [Bool] = []) {
        self.ascending = ascending
    }

    /// Whether the rows are in the order of their keys.
    package var isEmpty: Bool { ascending.isEmpty }

    /// Below zero if the left row comes first, above zero if the right one does, zero for the same row.
    package func compare(_ left: SortKey, _ right: SortKey) -> Int {
        for (index, ascends) in ascending.enumerated() {
            precondition(
                index < left.values.count && index < right.values.count, "a sort key has a value for each term")
            let order = ValueOrder.compare(left.values[index], right.values[index])
            if order != 0 { return ascends ? order : -order }
        }
        return left.key == right.key ? 0 : (left.key < right.key ? -1 : 1)
    }

    /// Whether the left row comes before the right one.
    package func precedes(_ left: SortKey, _ right: SortKey) -> Bool {
        compare(left, right) < 0
    }
}
