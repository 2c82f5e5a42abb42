// Deletions that follow rules.
extension World {
    /// A deletion that a rule denies.
    enum Denial: Hashable {
        /// `onDelete: deny` of a row's property one of whose targets was deleted.
        case target(of: Int, String)
        /// `deleteRule: deny` of a row that was deleted and had this target.
        case holder(of: Int)
    }

    /// A row with all that is deleted because of it.
    func cascade(_ serial: Int) -> Set<Int> {
        var (doomed, next) = (Set<Int>(), [serial])
        while let row = next.popLast() {
            guard let type = rows[row]?.type, doomed.insert(row).inserted else { continue }
            for property in classes.of(type) where property.deleteRule == .cascade {
                next += targets(row, property.name)
            }
            next += holders(of: row) { $0.onDelete == .cascade }.map(\.row)
        }
        return doomed
    }

    /// Takes note of what rules say against the deletion of rows.
    mutating func noteDenials(_ doomed: Set<Int>) {
        denials = denials.filter {
            switch $0 {
            case .target(let holder, _): !doomed.contains(holder)
            case .holder(let target): !doomed.contains(target)
            }
        }
        for row in doomed {
            for (holder, name) in holders(of: row, { $0.onDelete == .deny }) where !doomed.contains(holder) {
                denials.insert(.target(of: holder, name))
            }
            for property in classes.of(rows[row]?.type ?? "") where property.deleteRule == .deny {
                for target in targets(row, property.name) where !doomed.contains(target) {
                    denials.insert(.holder(of: target))
                }
            }
        }
    }

    private func holders(of row: Int, _ isMeant: (Property) -> Bool) -> [(row: Int, name: String)] {
        rows.flatMap { holder, content in
            classes.of(content.type).filter { isMeant($0) && $0.target == rows[row]?.type }
                .filter { targets(holder, $0.name).contains(row) }.map { (holder, $0.name) }
        }
    }
}
