// Rules for deletions: cascade, nullify and deny.
extension ModelState {
    /// A deletion that a rule denies.
    enum Denial: Hashable {
        /// A target of a property with `onDelete: deny` was deleted. The values are the row with the property, the name
        /// of the property and, in a map, the key of the target.
        case target(of: Int, String, key: String = "")
        /// A row with a property with `deleteRule: deny` was deleted. The value is the target of the property.
        case holder(of: Int)
    }

    /// The row, and all rows that deletion rules delete with it.
    func cascade(_ serial: Int) -> Set<Int> {
        var (deleted, next) = (Set<Int>(), [serial])
        while let row = next.popLast() {
            guard let type = rows[row]?.type, deleted.insert(row).inserted else { continue }
            for property in classes.of(type) where property.deleteRule == .cascade {
                next += targets(row, property.name)
            }
            next += holders(of: row) { $0.onDelete == .cascade }.map(\.row)
        }
        return deleted
    }

    /// Records which rules deny the deletion of these rows. Removes the earlier denials whose remaining row is now
    /// deleted too.
    mutating func recordDenials(_ deleted: Set<Int>) {
        denials = denials.filter {
            switch $0 {
            case .target(let holder, _, _): !deleted.contains(holder)
            case .holder(let target): !deleted.contains(target)
            }
        }
        for row in deleted {
            for (holder, name) in holders(of: row, { $0.onDelete == .deny }) where !deleted.contains(holder) {
                let keys = slots(holder, name).filter { $0.value == .row(row) }.map(\.key)
                for key in keys.isEmpty ? [""] : keys { denials.insert(.target(of: holder, name, key: key)) }
            }
            for property in classes.of(rows[row]?.type ?? "") where property.deleteRule == .deny {
                for target in targets(row, property.name) where !deleted.contains(target) {
                    denials.insert(.holder(of: target))
                }
            }
        }
    }

    private func holders(of row: Int, _ condition: (Property) -> Bool) -> [(row: Int, name: String)] {
        rows.flatMap { holder, content in
            classes.of(content.type).filter { condition($0) && $0.target == rows[row]?.type }
                .filter { targets(holder, $0.name).contains(row) }.map { (holder, $0.name) }
        }
    }
}
