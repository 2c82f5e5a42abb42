import MartletValues

extension ColumnScan {
    /// Calls `body` for each selected row, in the order of the keys, until it returns false. Before each call, adds to
    /// `groups` the same values that the SQL of the query would return for the column.
    func forEachRow(
        _ property: PropertyIndex, _ groups: inout ValueGroups, _ body: (ObjectKey, inout ValueGroups) -> Bool
    ) {
        guard let blocks = table.columns[property] else { return }
        forEachBlock { block, mask in
            let (keys, column) = (table.keys[block], blocks[block])
            for row in 0..<keys.count {
                if let mask, mask[row / 64] & 1 << UInt64(row % 64) == 0 { continue }
                switch column {
                case .numbers(let column):
                    let slot = column.slot(at: row)
                    if slot == .value {
                        if column.kind == .integer {
                            groups.add(integer: column.bits(at: row))
                        } else {
                            groups.add(real: Double(bitPattern: UInt64(bitPattern: column.bits(at: row))))
                        }
                    } else {
                        groups.addNull()
                    }
                    // A second value distinguishes NaN from nil.
                    if column.kind == .real { groups.add(integer: slot == .nan ? 1 : 0) }
                case .texts(let column):
                    if column.isPresent(row) {
                        groups.add(text: UnsafeRawBufferPointer(column.text(at: row)))
                    } else {
                        groups.addNull()
                    }
                }
                if !body(keys[row], &groups) { return false }
            }
            return true
        }
    }
}

extension ColumnStore {
    /// The keys of the first `limit` members of a plan, or of all members. Nil if the plan has stages other than one
    /// `distinct` by one property, or if the keys cannot be computed from columns.
    package func distinctKeys(_ plan: QueryPlan, limit: Int?, _ source: ColumnSource) throws -> [ObjectKey]? {
        let type = source.schema[plan.table].type
        guard plan.sort.isEmpty, plan.stages.count == 1, case .distinct(let paths) = plan.stages[0], paths.count == 1,
            let property = paths[0].column(of: type), ColumnKind(property) != nil,
            // SQLite finds the first member without reading other rows, and finds the values of an index without
            // reading all rows.
            limit != 1, plan.predicate != nil || !paths[0].isIndexed(type)
        else { return nil }
        var rows = plan
        rows.stages = []
        guard let scan = try scan(rows, [property.index], source) else { return nil }
        var groups = ValueGroups()
        var keys: [ObjectKey] = []
        scan.forEachRow(property.index, &groups) { key, groups in
            if groups.endRow().isNew { keys.append(key) }
            return keys.count != limit
        }
        return try checked(keys, plan) {
            try source.handle.read { try QueryRunner(plan, source.schema).keys(limit: limit, $0) }
        }
    }
}

extension ColumnStore {
    /// The members of a plan that is sorted only by the given property, grouped by this property. Nil for other plans,
    /// and if the groups cannot be computed from columns.
    package func groups(_ plan: QueryPlan, by path: PropertyPath, _ source: ColumnSource) throws -> GroupedRows? {
        guard plan.isSorted(onlyBy: path), let property = path.column(of: source.schema[plan.table].type),
            ColumnKind(property) != nil
        else { return nil }
        var rows = plan
        rows.sort = []
        guard let scan = try scan(rows, [property.index], source) else { return nil }
        var groups = ValueGroups()
        var grouped = GroupedRows(isSortedByGroup: true)
        scan.forEachRow(property.index, &groups) { key, groups in
            let group = groups.endRow().group
            grouped.append(key, to: group) {
                let values = groups.values(of: group)
                return (values[0], values)
            }
            return true
        }
        grouped.sort(ascending: plan.sort[0].ascending)
        if options.onDifference == nil { return grouped }
        return try checked(grouped, plan) {
            try source.handle.read { try QueryRunner(plan, source.schema).groups(by: path, $0) } ?? grouped
        }
    }
}
