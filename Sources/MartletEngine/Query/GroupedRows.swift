package import MartletValues

/// The rows of a result, grouped by the stored values of a property. The groups are in the order of their first rows.
package struct GroupedRows: Equatable {
    /// Rows that have the same stored value.
    package struct Group: Equatable {
        /// The stored value of the property. Null also represents NaN, and a path with a nil link.
        package let value: SQLValue
        /// The first row of the group.
        package let first: ObjectKey
        /// The sort values of the property. They are used only if the result is sorted by this property only.
        var sortValues: [SQLValue] = []
        /// The rows of the group in order, if the result is sorted by the property only. Otherwise empty.
        var members: [ObjectKey] = []
    }

    package private(set) var groups: [Group] = []
    /// The rows of the result in order. `groupOfRow` contains the group of each row. Both are empty if the result is
    /// sorted by the property only.
    private var rows: [ObjectKey] = []
    private var groupOfRow: [Int32] = []
    /// True if the result is sorted by the property only. In that case, each group contains its rows.
    private let isSortedByGroup: Bool
    /// The number of rows.
    package private(set) var rowCount = 0

    init(isSortedByGroup: Bool) { self.isSortedByGroup = isSortedByGroup }

    /// Adds a row to a group. If the result is sorted by the property only, the rows of each group must be added in
    /// ascending order of their keys. Otherwise all rows must be added in the order of the result.
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

    /// Sorts the groups, if the result is sorted by the property only.
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

    /// The rows of each section, in the order of the result. A section consists of one or several groups.
    ///
    /// - Parameter sections: for each group, the position of its section.
    package func members(of sections: [Int], count: Int) -> [[ObjectKey]] {
        var members = [[ObjectKey]](repeating: [], count: count)
        guard isSortedByGroup else {
            for (row, key) in rows.enumerated() { members[sections[Int(groupOfRow[row])]].append(key) }
            return members
        }
        // For each section, the last group that was added to it, and the position in the section at which the rows with
        // the sort values of that group begin.
        var last = [(group: Int, start: Int)?](repeating: nil, count: count)
        for (group, section) in sections.enumerated() {
            guard let previous = last[section] else {
                members[section] = groups[group].members
                last[section] = (group, 0)
                continue
            }
            // Groups with different stored values can have equal sort values. All rows with equal sort values are in
            // the order of their keys.
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
