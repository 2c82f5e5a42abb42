/// Advances the ordered keys of a result from one snapshot to a later snapshot. The maintainer looks mainly at the rows
/// that were touched between the snapshots.
///
/// Untouched rows keep their order. The touched members are removed from the old order, and the touched rows that match
/// now are inserted at their places. A touched row that is a member at both snapshots *stays* if two conditions hold:
/// it is between the same untouched neighbours as before, and it belongs to a longest subsequence of such rows that
/// kept their relative order. A row that stays is a modification if its change is reported. Any other row that is a
/// member at both snapshots is a deletion, an insertion and a move. A replaced row is a deletion and an insertion
/// (N46-N49, N52).
package struct ResultsMaintainer: Sendable {
    /// The new keys, and the difference between the old and the new keys.
    package struct Outcome: Sendable {
        package let keys: KeySequence
        package let change: CollectionChange
    }

    /// The members at the old snapshot, in order.
    package var old: KeySequence
    /// The sort order of the result.
    package var order: SortOrder
    /// All rows whose membership, position or content may have changed.
    package var touched: KeySet
    /// Touched rows that were deleted and created again.
    package var replaced: KeySet
    /// Touched rows that are known to be missing in the old snapshot. The maintainer does not search for them in the
    /// old result.
    package var inserted: KeySet
    /// Touched rows whose change counts as a modification.
    package var reported: KeySet
    /// The touched rows that match at the new snapshot, with their new sort keys, unordered.
    package var candidates: [SortKey]
    /// The sort keys that touched rows had at the old snapshot, if known.
    package var oldSortKeys: [ObjectKey: SortKey]

    /// True if every row that was not inserted is a member of the old result, as in a result without a condition.
    package var isComplete: Bool

    /// The number of keys that can be scanned at the cost of finding one row by its sort key.
    package var keysScannedPerSearch: Int

    package init(
        old: KeySequence, order: SortOrder = SortOrder(), touched: KeySet, replaced: KeySet = [],
        inserted: KeySet = [], reported: KeySet, candidates: [SortKey], oldSortKeys: [ObjectKey: SortKey] = [:],
        isComplete: Bool = false, keysScannedPerSearch: Int = Environment.live.keysScannedPerSearch
    ) {
        self.old = old
        self.order = order
        self.touched = touched
        self.replaced = replaced
        self.inserted = inserted
        self.reported = reported
        self.candidates = candidates
        self.oldSortKeys = oldSortKeys
        self.isComplete = isComplete
        self.keysScannedPerSearch = keysScannedPerSearch
    }

    /// Computes the new keys and the difference.
    ///
    /// - Parameter sortKey: reads the sort key of an untouched row. This closure is never called for a result in key
    ///   order.
    ///
    /// Complexity: O(c log n) for c touched rows, including the calls of `sortKey`, plus the blocks of keys that
    /// contain these rows. For a sorted result, the old keys are scanned once, in O(n), if many rows were touched or if
    /// the old sort key of a touched row is unknown.
    package func advance<Failure: Error>(
        sortKey: (ObjectKey) throws(Failure) -> SortKey
    ) throws(Failure) -> Outcome {
        var cache = SortKeyCache()
        let positions = try oldPositions(&cache, sortKey)
        let oldMembers = zip(positions, old.keys(at: positions)).map { OldMember(position: $0, key: $1) }
        let candidates = candidatesInOrder()
        let gaps =
            order.isEmpty
            ? gapsAscending(of: candidates, oldMembers)
            : try gaps(of: candidates, UntouchedKeys(old, without: positions), &cache, sortKey)
        let newMembers = zip(candidates, gaps).enumerated().map { index, candidate in
            NewMember(position: candidate.1 + index, key: candidate.0.key)
        }
        return outcome(oldMembers, newMembers)
    }

    /// A touched row that was a member.
    private struct OldMember {
        let position: Int
        let key: ObjectKey
    }

    /// A touched row that is a member, with its new position.
    private struct NewMember {
        let position: Int
        let key: ObjectKey
    }

    // MARK: Finding positions

    /// The old positions of all touched members, in ascending order.
    private func oldPositions<Failure: Error>(
        _ cache: inout SortKeyCache, _ sortKey: (ObjectKey) throws(Failure) -> SortKey
    ) throws(Failure) -> [Int] {
        if order.isEmpty { return oldPositionsAscending() }
        let searched = touched.subtracting(inserted)
        let isScanCheaper = searched.count * keysScannedPerSearch > old.count
        if isScanCheaper || searched.contains(where: { oldSortKeys[$0] == nil }) {
            return old.positions(of: searched)
        }
        var positions: [Int] = []
        for key in searched {
            guard let target = oldSortKeys[key] else { continue }
            let position = try old.position { (other) throws(Failure) in
                if let known = oldSortKeys[other] { return !order.precedes(known, target) }
                return !order.precedes(try cache.sortKey(of: other, sortKey), target)
            }
            if position < old.count, old[position] == key {
                positions.append(position)
            } else if isComplete {
                // The row was a member, but is not at this position. So its old sort key is wrong.
                return old.positions(of: searched)
            }
        }
        positions.sort()
        return positions
    }

    /// The old positions of touched members in a result in key order. In such a result, the members of a run of touched
    /// keys are adjacent.
    private func oldPositionsAscending() -> [Int] {
        touched.ranges.flatMap { run in
            let first = old.insertionPositionAscending(for: run.lowerBound)
            return first..<old.position(from: first) { $0 > run.upperBound }
        }
    }

    private func candidatesInOrder() -> [SortKey] {
        assert(candidates.allSatisfy { touched.contains($0.key) }, "only touched rows are candidates")
        if zip(candidates, candidates.dropFirst()).allSatisfy({ order.precedes($0, $1) }) { return candidates }
        return candidates.sorted { order.precedes($0, $1) }
    }

    /// For each candidate, the number of untouched members before it.
    private func gaps<Failure: Error>(
        of candidates: [SortKey], _ untouched: UntouchedKeys, _ cache: inout SortKeyCache,
        _ sortKey: (ObjectKey) throws(Failure) -> SortKey
    ) throws(Failure) -> [Int] {
        var gaps: [Int] = []
        gaps.reserveCapacity(candidates.count)
        // If there are many candidates, they are close to each other, so each search starts at the previous result. If
        // there are few candidates, they are far apart, so each search covers the whole range. These searches all begin
        // with the same rows, whose sort keys are in the cache.
        let isDense = candidates.count > untouched.count / 64
        for candidate in candidates {
            let follows = { (index: Int) throws(Failure) -> Bool in
                order.precedes(candidate, try cache.sortKey(of: untouched[index], sortKey))
            }
            if isDense {
                gaps.append(try ((gaps.last ?? 0)..<untouched.count).partitionPointGalloping(where: follows))
            } else {
                gaps.append(try (0..<untouched.count).partitionPoint(where: follows))
            }
        }
        return gaps
    }

    /// For each candidate of a result in key order, the number of untouched members before it. For a row that was a
    /// member, this number is the same as in the old result.
    private func gapsAscending(of candidates: [SortKey], _ oldMembers: [OldMember]) -> [Int] {
        var gaps: [Int] = []
        gaps.reserveCapacity(candidates.count)
        var passed = 0
        for candidate in candidates {
            while passed < oldMembers.count, oldMembers[passed].key < candidate.key { passed += 1 }
            if passed < oldMembers.count, oldMembers[passed].key == candidate.key {
                gaps.append(oldMembers[passed].position - passed)
            } else if let last = gaps.last {
                // The candidates ascend, so the members before the previous candidate also precede this candidate.
                gaps.append(old.position(from: last + passed) { $0 > candidate.key } - passed)
            } else {
                gaps.append(old.insertionPositionAscending(for: candidate.key) - passed)
            }
        }
        return gaps
    }

    // MARK: Computing the difference

    /// Computes the difference and the new keys. `oldMembers` are the touched rows that were members, and `newMembers`
    /// are the touched rows that are members now.
    private func outcome(_ oldMembers: [OldMember], _ newMembers: [NewMember]) -> Outcome {
        let survivors = survivors(oldMembers, newMembers)
        // `returning` contains the survivors that are between the same untouched members as before: the number of
        // untouched members before them is the same. `oldMembers` and `newMembers` are ordered by this number, so one
        // search for a subsequence handles all of them.
        let returning = survivors.filter {
            oldMembers[$0.old].position - $0.old == newMembers[$0.new].position - $0.new
        }
        let stays = IncreasingSubsequence.longest(of: returning.map { $0.old }) {
            !reported.contains(oldMembers[returning[$0].old].key)
        }

        var change = CollectionChange()
        var isRemoved = [Bool](repeating: true, count: oldMembers.count)
        var isInserted = [Bool](repeating: true, count: newMembers.count)
        for (survivor, stays) in zip(returning, stays) where stays {
            isRemoved[survivor.old] = false
            isInserted[survivor.new] = false
            if reported.contains(oldMembers[survivor.old].key) {
                change.modifications.append(oldMembers[survivor.old].position)
                change.modificationsNew.append(newMembers[survivor.new].position)
            }
        }
        for survivor in survivors where isRemoved[survivor.old] {
            let from = oldMembers[survivor.old].position
            change.moves.append(CollectionChange.Move(from: from, to: newMembers[survivor.new].position))
        }
        change.moves.sort { $0.from < $1.from }
        change.deletions = zip(oldMembers, isRemoved).filter { $0.1 }.map { $0.0.position }
        let insertions = zip(newMembers, isInserted).filter { $0.1 }.map { (position: $0.0.position, key: $0.0.key) }
        change.insertions = insertions.map { $0.position }

        var keys = old
        keys.removeAll(at: change.deletions)
        keys.insertAll(insertions)
        return Outcome(keys: keys, change: change)
    }

    /// The rows that are members at both snapshots and were not replaced. Each row is represented by its indices in
    /// `oldMembers` and `newMembers`. The rows are in the new order.
    private func survivors(_ oldMembers: [OldMember], _ newMembers: [NewMember]) -> [(old: Int, new: Int)] {
        if oldMembers.isEmpty || newMembers.isEmpty { return [] }
        #if MARTLET_SEEDED_BUGS
            let replaced = SeededBug.isOn(.replacedRowModified) ? [] : replaced
        #endif
        var oldIndices = [ObjectKey: Int](minimumCapacity: oldMembers.count)
        for (index, row) in oldMembers.enumerated() where !replaced.contains(row.key) { oldIndices[row.key] = index }
        var survivors: [(old: Int, new: Int)] = []
        for (new, row) in newMembers.enumerated() {
            if let old = oldIndices[row.key] { survivors.append((old, new)) }
        }
        return survivors
    }
}

/// The members of a result that were not touched, indexed as if the touched members had been removed.
private struct UntouchedKeys {
    /// The greatest number of touched members that each access skips. If there are more touched members, it is cheaper
    /// to remove all of them once.
    private static let maximumSkipped = 64

    private var members: KeySequence
    /// For each touched member that is still in `members`, the number of untouched members before it.
    private var touchedGaps: [Int] = []

    /// The number of untouched members.
    let count: Int

    init(_ members: KeySequence, without positions: [Int]) {
        self.members = members
        count = members.count - positions.count
        if positions.count <= UntouchedKeys.maximumSkipped {
            touchedGaps = positions.enumerated().map { $0.element - $0.offset }
        } else {
            self.members.removeAll(at: positions)
        }
    }

    subscript(index: Int) -> ObjectKey {
        members[index + touchedGaps.indices.partitionPoint { touchedGaps[$0] > index }]
    }
}

/// Caches the sort keys of untouched rows, because all binary searches begin by reading the same rows.
private struct SortKeyCache {
    private var keys: [ObjectKey: SortKey] = [:]

    mutating func sortKey<Failure: Error>(
        of key: ObjectKey, _ read: (ObjectKey) throws(Failure) -> SortKey
    ) throws(Failure) -> SortKey {
        if let known = keys[key] { return known }
        let sortKey = try read(key)
        keys[key] = sortKey
        return sortKey
    }
}
