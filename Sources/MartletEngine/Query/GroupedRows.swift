package import MartletValues

/// The rows of a result, grouped by the stored values of a property. The groups are in the order of their first rows.
package struct GroupedRows: Equatable {
    /// Rows that have the same stored value.
    package struct Group: Equatable {
        /// The stored value of the property. For NaN, and if a link of the path is nil, it is null.
        package let value: SQLValue
        /// The first row of the group.
        package let first: ObjectKey
        /// The values by which the rows are sorted; empty if the rows of the result are not sorted by the property only.
        var sortValues: [SQLValue] = []
        /// The rows in order, if the rows of the result are sorted by the property only. Otherwise empty.
        var members: [ObjectKey] = []
    }

    package private(set) var groups: [Group] = []
    /// The rows in order, each with its group. Empty if the groups contain their rows.
    private var rows: [ObjectKey] = []
    private var groupOfRow: [Int32] = []
    /// True if the rows are sorted by the property only, so that most groups follow each other.
    private let isSortedByGroup: Bool
    /// The number of rows.
    package private(set) var rowCount = 0

    init(isSortedByGroup: Bool) { self.isSortedByGroup = isSortedByGroup }

    /// Adds a row to a group. If the groups contain their rows, the rows of each group are added in ascending order of
    /// their keys. Otherwise all rows are added in order.
    mutating func append(_ key: ObjectKey, to group: Int, _ make: () -> (value: SQLValue, sortValues: [SQLValue])) {
        if group == groups.count {
            let (value, sortValues) = make()
            groups.append(Group(value: value, first: key, sortValues: sortValues))
        }
        rowCount += 1
        if isSortedByGroup {
            groups[group].members.append(key)
        } else {
            rows.append(key)
            groupOfRow.append(Int32(group))
        }
    }

    /// Sorts groups that contain their rows.
    mutating func sort(ascending: Bool) {
        guard isSortedByGroup else { return }
        groups.sort { left, right in
            for (value, other) in zip(left.sortValues, right.sortValues) {
                let order = ValueOrder.compare(value, other)
                if order != 0 { return ascending ? order < 0 : order > 0 }
            }
            return left.first < right.first
        }
    }

    /// The rows of sections that consist of one or several groups. The rows are in the order of the result.
    ///
    /// - Parameter sections: for each group the position of its section.
    package func members(of sections: [Int], count: Int) -> [[ObjectKey]] {
        var members = [[ObjectKey]](repeating: [], count: count)
        guard isSortedByGroup else {
            for (row, key) in rows.enumerated() { members[sections[Int(groupOfRow[row])]].append(key) }
            return members
        }
        // For each section, its last group, and where the rows with the sort values of this group start.
        var last = [(group: Int, start: Int)?](repeating: nil, count: count)
        for (group, section) in sections.enumerated() {
            guard let previous = last[section] else {
                members[section] = groups[group].members
                last[section] = (group, 0)
                continue
            }
            // Rows with equal sort values are in the order of their keys, even if their stored values differ.
            let isTie = zip(groups[previous.group].sortValues, groups[group].sortValues).allSatisfy {
                ValueOrder.compare($0, $1) == 0
            }
            let start = isTie ? previous.start : members[section].count
            members[section] += groups[group].members
            if isTie { members[section][start...].sort() }
            last[section] = (group, start)
        }
        return members
    }
}
