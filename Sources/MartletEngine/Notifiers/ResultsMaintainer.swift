/// Brings the ordered keys of a result from one snapshot to a later one by looking only at the rows that were touched
/// in between.
///
/// Rows that nobody touched keep their order, so they are the fixed ground: the touched members are taken out of it and
/// the touched rows that match now are put back where they belong. A row that was and is a member *stays* if it goes back
/// into the gap between the same untouched neighbours, and belongs to a longest run of such rows in their old relative
/// order; staying, it is a modification if its change is reported. Any other member before and after is a deletion, an
/// insertion and a move; a replaced one a deletion and an insertion (N46-N49, N52).
package struct ResultsMaintainer: Sendable {
    /// The new keys, and how they differ from the old.
    package struct Outcome: Sendable {
        package let keys: KeySequence
        package let change: CollectionChange
    }

    /// The members at the old snapshot, in their order.
    package var old: KeySequence
    /// The order of the result.
    package var order: SortOrder
    /// All rows whose membership, place or content may have changed.
    package var touched: KeySet
    /// Touched rows that were deleted and created again.
    package var replaced: KeySet
    /// Touched rows that did not exist at the old snapshot, where that is known; it saves looking for them.
    package var inserted: KeySet
    /// Touched rows whose change counts as a modification.
    package var reported: KeySet
    /// The touched rows that match at the new snapshot, with their new sort keys, in any order.
    package var candidates: [SortKey]
    /// The sort keys that touched rows had at the old snapshot, as far as they are known.
    package var oldSortKeys: [ObjectKey: SortKey]

    /// Whether every row that was not inserted is a member of the old result, as without a condition.
    package var isComplete: Bool

    /// Finding one row by its sort key costs about as much as passing over this many keys.
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

    /// Works out the new keys and the difference.
    ///
    /// - Parameter sortKey: reads the sort key of a row that was not touched; never called for a result in key order.
    ///
    /// Complexity: O(c log n) for c touched rows, calls of `sortKey` included, plus the chunks of keys they lie in; and
    /// one pass over the old keys where the result is sorted and the old sort key of a touched row is unknown, or where
    /// so many rows were touched that the pass is cheaper.
    package func maintain<Failure: Error>(
        sortKey: (ObjectKey) throws(Failure) -> SortKey
    ) throws(Failure) -> Outcome {
        var probed = SortKeyCache()
        let positions = try oldPositions(&probed, sortKey)
        let leaving = zip(positions, old.keys(at: positions)).map { Leaving(position: $0, key: $1) }
        let candidates = candidatesInOrder()
        let gaps =
            order.isEmpty
            ? gapsAscending(of: candidates, leaving)
            : try gaps(of: candidates, UntouchedKeys(old, without: positions), &probed, sortKey)
        let entering = zip(candidates, gaps).enumerated().map { index, candidate in
            Entering(position: candidate.1 + index, key: candidate.0.key)
        }
        return outcome(leaving, entering)
    }

    /// A touched row that was a member.
    private struct Leaving {
        let position: Int
        let key: ObjectKey
    }

    /// A touched row that is a member, with its new position.
    private struct Entering {
        let position: Int
        let key: ObjectKey
    }

    // MARK: Finding places

    /// The old positions of all touched members, ascending.
    private func oldPositions<Failure: Error>(
        _ probed: inout SortKeyCache, _ sortKey: (ObjectKey) throws(Failure) -> SortKey
    ) throws(Failure) -> [Int] {
        if order.isEmpty { return oldPositionsAscending() }
        let sought = touched.subtracting(inserted)
        let isScanCheaper = sought.count * keysScannedPerSearch > old.count
        if isScanCheaper || sought.contains(where: { oldSortKeys[$0] == nil }) {
            return old.positions(of: sought)
        }
        var positions: [Int] = []
        for key in sought {
            guard let target = oldSortKeys[key] else { continue }
            let position = try old.position { (other) throws(Failure) in
                if let known = oldSortKeys[other] { return !order.precedes(known, target) }
                return !order.precedes(try probed.sortKey(of: other, sortKey), target)
            }
            if position < old.count, old[position] == key {
                positions.append(position)
            } else if isComplete {
                // The row is a member, so its old sort key is wrong.
                return old.positions(of: sought)
            }
        }
        positions.sort()
        return positions
    }

    /// In key order the members among a run of touched keys are neighbours.
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
        of candidates: [SortKey], _ untouched: UntouchedKeys, _ probed: inout SortKeyCache,
        _ sortKey: (ObjectKey) throws(Failure) -> SortKey
    ) throws(Failure) -> [Int] {
        var gaps: [Int] = []
        gaps.reserveCapacity(candidates.count)
        // Few candidates share the probes near the middle; many lie close to each other.
        let isDense = candidates.count > untouched.count / 64
        for candidate in candidates {
            let follows = { (index: Int) throws(Failure) -> Bool in
                order.precedes(candidate, try probed.sortKey(of: untouched[index], sortKey))
            }
            if isDense {
                gaps.append(try ((gaps.last ?? 0)..<untouched.count).partitionPointGalloping(where: follows))
            } else {
                gaps.append(try (0..<untouched.count).partitionPoint(where: follows))
            }
        }
        return gaps
    }

    /// The same in key order, where a row that was a member stands where it stood.
    private func gapsAscending(of candidates: [SortKey], _ leaving: [Leaving]) -> [Int] {
        var gaps: [Int] = []
        gaps.reserveCapacity(candidates.count)
        var passed = 0
        for candidate in candidates {
            while passed < leaving.count, leaving[passed].key < candidate.key { passed += 1 }
            if passed < leaving.count, leaving[passed].key == candidate.key {
                gaps.append(leaving[passed].position - passed)
            } else if let last = gaps.last {
                // Behind the previous candidate lie at least the members that were passed.
                gaps.append(old.position(from: last + passed) { $0 > candidate.key } - passed)
            } else {
                gaps.append(old.insertionPositionAscending(for: candidate.key) - passed)
            }
        }
        return gaps
    }

    // MARK: Telling what changed

    /// The difference between the members that leave and those that enter, and the keys it leads to.
    private func outcome(_ leaving: [Leaving], _ entering: [Entering]) -> Outcome {
        let survivors = survivors(leaving, entering)
        // Gaps ascend on both sides, so that one search serves the survivors of all gaps.
        let returning = survivors.filter {
            leaving[$0.old].position - $0.old == entering[$0.new].position - $0.new
        }
        let stays = IncreasingSubsequence.longest(of: returning.map { $0.old }) {
            !reported.contains(leaving[returning[$0].old].key)
        }

        var change = CollectionChange()
        var isLeaving = [Bool](repeating: true, count: leaving.count)
        var isEntering = [Bool](repeating: true, count: entering.count)
        for (survivor, stays) in zip(returning, stays) where stays {
            isLeaving[survivor.old] = false
            isEntering[survivor.new] = false
            if reported.contains(leaving[survivor.old].key) {
                change.modifications.append(leaving[survivor.old].position)
                change.modificationsNew.append(entering[survivor.new].position)
            }
        }
        for survivor in survivors where isLeaving[survivor.old] {
            let from = leaving[survivor.old].position
            change.moves.append(CollectionChange.Move(from: from, to: entering[survivor.new].position))
        }
        change.moves.sort { $0.from < $1.from }
        change.deletions = zip(leaving, isLeaving).filter { $0.1 }.map { $0.0.position }
        let insertions = zip(entering, isEntering).filter { $0.1 }.map { (position: $0.0.position, key: $0.0.key) }
        change.insertions = insertions.map { $0.position }

        var keys = old
        keys.removeAll(at: change.deletions)
        keys.insertAll(insertions)
        return Outcome(keys: keys, change: change)
    }

    /// The rows that were and are members and were not replaced, as indices on both sides, in new order.
    private func survivors(_ leaving: [Leaving], _ entering: [Entering]) -> [(old: Int, new: Int)] {
        if leaving.isEmpty || entering.isEmpty { return [] }
        #if MARTLET_SEEDED_BUGS
            let replaced = SeededBug.isOn(.replacedRowModified) ? [] : replaced
        #endif
        var oldIndices = [ObjectKey: Int](minimumCapacity: leaving.count)
        for (index, row) in leaving.enumerated() where !replaced.contains(row.key) { oldIndices[row.key] = index }
        var survivors: [(old: Int, new: Int)] = []
        for (new, row) in entering.enumerated() {
            if let old = oldIndices[row.key] { survivors.append((old, new)) }
        }
        return survivors
    }
}

/// The members of a result that were not touched, numbered without the others.
private struct UntouchedKeys {
    /// Up to this many touched members are skipped at each look; taking out more once is cheaper.
    private static let greatestSkipped = 64

    private var members: KeySequence
    /// For each touched member still among the others, the number of untouched ones before it.
    private var touchedGaps: [Int] = []

    /// The number of untouched members.
    let count: Int

    init(_ members: KeySequence, without positions: [Int]) {
        self.members = members
        count = members.count - positions.count
        if positions.count <= UntouchedKeys.greatestSkipped {
            touchedGaps = positions.enumerated().map { $0.element - $0.offset }
        } else {
            self.members.removeAll(at: positions)
        }
    }

    subscript(index: Int) -> ObjectKey {
        members[index + touchedGaps.indices.partitionPoint { touchedGaps[$0] > index }]
    }
}

/// The sort keys of untouched rows that were read already: searches in the same order begin with the same probes.
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
