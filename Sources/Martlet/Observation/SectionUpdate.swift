import MartletEngine

/// Sections after a change of the results, computed from the previous sections and the changed elements.
///
/// Only changed elements get new section keys. Removed elements are found by a search of the sections. The place of an
/// inserted element in its section is found with its neighbours in the results, because these are usually in the same
/// section. The sections are sorted again only if the first element of a section has changed. Most changes therefore
/// cost a search of one section, and every change costs at most a few passes over the object keys.
///
/// No object key may occur twice in the results.
struct SectionUpdate<Key: Hashable> {
    /// The maximum number of changed elements. If more elements have changed, all elements are grouped again.
    private static var maximumChanges: Int { 256 }

    private(set) var sections: Sections<Key>
    /// The previous positions of the sections that lost, got or kept changed elements.
    private(set) var touched: Set<Int> = []

    private let new: KeySequence
    /// The section keys and elements. Until `finish`, the previous sections keep their positions, and new sections
    /// follow them.
    private var keys: [Key]
    private var members: [KeySequence]
    private var positions: SectionPositions<Key>
    private var placements: [(position: Int, member: ObjectKey, section: Int)] = []

    /// Computes the new sections. Returns nil if too many elements changed, or if a changed element has no section key.
    ///
    /// - Parameters:
    ///   - old: the results before the change.
    ///   - new: the results after the change.
    ///   - sectionKey: computes the section key of an element; nil if the element does not exist any more.
    init?(
        _ previous: Sections<Key>, _ change: ResultsTracker.Change, from old: KeySequence, to new: KeySequence,
        _ sectionKey: (ObjectKey) -> Key?
    ) {
        let positions = change.positions
        let count = positions.deletions.count + positions.insertions.count + positions.modifications.count
        guard count <= Self.maximumChanges, change.changed.count <= Self.maximumChanges else { return nil }
        self.new = new
        sections = previous
        (keys, members, self.positions) = (previous.keys, previous.members, previous.positions)
        let firsts = members.map { $0[0] }
        let inserted = zip(positions.insertions, new.keys(at: positions.insertions))
        guard collect(inserted, sectionKey), remove(KeySet(old.keys(at: positions.deletions))),
            moveChanged(change, old, KeySet(inserted.map(\.1)), sectionKey)
        else { return nil }
        for placement in placements.sorted(by: { $0.position < $1.position }) { insert(placement) }
        finish(firsts)
    }

    /// Determines the sections of inserted elements.
    private mutating func collect(
        _ inserted: some Sequence<(Int, ObjectKey)>, _ sectionKey: (ObjectKey) -> Key?
    ) -> Bool {
        for (position, member) in inserted {
            guard let key = sectionKey(member) else { return false }
            placements.append((position, member, section(key)))
        }
        return true
    }

    /// The position of the section with a key. Adds a section if there is none.
    private mutating func section(_ key: Key) -> Int {
        if let position = positions[key] { return position }
        positions[key] = keys.count
        keys.append(key)
        members.append([])
        return keys.count - 1
    }

    /// Removes elements from their sections. Returns false if the sections do not contain all of them.
    private mutating func remove(_ removed: KeySet) -> Bool {
        var remaining = removed.count
        for section in members.indices where remaining > 0 {
            let found = members[section].positions(of: removed)
            if found.isEmpty { continue }
            members[section].removeAll(at: found)
            touched.insert(section)
            remaining -= found.count
        }
        return remaining == 0
    }

    /// Moves changed elements that remain in the results to the sections of their new keys.
    private mutating func moveChanged(
        _ change: ResultsTracker.Change, _ old: KeySequence, _ inserted: KeySet, _ sectionKey: (ObjectKey) -> Key?
    ) -> Bool {
        let modified = old.keys(at: change.positions.modifications)
        // Changed rows without a reported modification. Some of them may not be elements.
        let others = change.changed.subtracting(inserted).subtracting(KeySet(modified))
        var remaining = zip(modified, change.positions.modificationsNew).map { ($0, Optional($1)) }
        for section in members.indices where !others.isEmpty {
            remaining += members[section].keys(at: members[section].positions(of: others)).map { ($0, nil) }
        }
        var moved: [(position: Int?, member: ObjectKey, section: Int)] = []
        for (member, position) in remaining {
            guard let key = sectionKey(member) else { return false }
            let section = section(key)
            if members[section].firstPosition(of: member) != nil {
                touched.insert(section)
            } else {
                moved.append((position, member, section))
            }
        }
        guard remove(KeySet(moved.map(\.member))) else { return false }
        for (position, member, section) in moved {
            guard let position = position ?? new.firstPosition(of: member) else { return false }
            placements.append((position, member, section))
        }
        return true
    }

    /// Inserts an element into its section. The elements before it in the results are already in their sections.
    private mutating func insert(_ placement: (position: Int, member: ObjectKey, section: Int)) {
        let section = members[placement.section]
        members[placement.section].insert(placement.member, at: place(placement.position, in: section))
        touched.insert(placement.section)
    }

    /// The number of elements of a section that precede a position in the results.
    private func place(_ position: Int, in section: KeySequence) -> Int {
        if section.isEmpty { return 0 }
        if position > 0, let previous = section.firstPosition(of: new[position - 1]) { return previous + 1 }
        if position + 1 < new.count, let next = section.firstPosition(of: new[position + 1]) { return next }
        let elements = Set(section)
        for earlier in (0..<position).reversed() {
            let member = new[earlier]
            if elements.contains(member) { return section.firstPosition(of: member)! + 1 }
        }
        return 0
    }

    /// Removes empty sections, and sorts the sections by their first elements if one of these has changed.
    private mutating func finish(_ previousFirsts: [ObjectKey]) {
        let remaining = members.indices.filter { !members[$0].isEmpty }
        // The first element of a section can move in the results and still be the first element of its section.
        let placed = Set(placements.map(\.member))
        let isOrdered = remaining.allSatisfy { section in
            let first = members[section][0]
            return section < previousFirsts.count && first == previousFirsts[section] && !placed.contains(first)
        }
        if isOrdered && remaining.count == sections.keys.count {
            sections = Sections(keys: keys, members: members, positions: positions)
            return
        }
        var order = remaining
        if !isOrdered {
            let firsts = Dictionary(uniqueKeysWithValues: remaining.map { (members[$0][0], $0) })
            order = new.keys(at: new.positions(of: KeySet(firsts.keys))).map { firsts[$0]! }
        }
        sections = Sections(order.map { (keys[$0], members[$0]) })
    }
}
