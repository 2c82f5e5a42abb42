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

    /// Reading a sort key costs about as much as passing over this many keys.
    var keysScannedPerSearch = 2048

    package init(
        old: KeySequence, order: SortOrder = SortOrder(), touched: KeySet, replaced: KeySet = [],
        inserted: KeySet = [], reported: KeySet, candidates: [SortKey], oldSortKeys: [ObjectKey: SortKey] = [:]
    ) {
        self.old = old
        self.order = order
        self.touched = touched
        self.replaced = replaced
        self.inserted = inserted
        self.reported = reported
        self.candidates = candidates
        self.oldSortKeys = oldSortKeys
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
        let leaving = positions.map { old[$0] }
        var keys = old
        keys.removeAll(at: positions)

        let entering = candidatesInOrder()
        let gaps = try gaps(of: entering, in: keys, &probed, sortKey)
        keys.insertAll(zip(entering, gaps).enumerated().map { ($0.element.1 + $0.offset, $0.element.0.key) })
        let change = change(leaving: leaving, at: positions, entering: entering, into: gaps)
        return Outcome(keys: keys, change: change)
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
            if position < old.count, old[position] == key { positions.append(position) }
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
        if zip(candidates, candidates.dropFirst()).allSatisfy({ order.precedes($0, $1) }) { return candidates }
        return candidates.sorted { order.precedes($0, $1) }
    }

    /// For each candidate, the number of untouched members before it.
    private func gaps<Failure: Error>(
        of entering: [SortKey], in untouched: KeySequence, _ probed: inout SortKeyCache,
        _ sortKey: (ObjectKey) throws(Failure) -> SortKey
    ) throws(Failure) -> [Int] {
        var gaps: [Int] = []
        gaps.reserveCapacity(entering.count)
        // Few candidates share the probes near the middle; many lie close to each other.
        let isDense = entering.count > untouched.count / 64
        for candidate in entering {
            let follows = { (other: ObjectKey) throws(Failure) -> Bool in
                if order.isEmpty { return other > candidate.key }
                return order.precedes(candidate, try probed.sortKey(of: other, sortKey))
            }
            if isDense {
                gaps.append(try untouched.position(from: gaps.last ?? 0, where: follows))
            } else {
                gaps.append(try untouched.position(where: follows))
            }
        }
        return gaps
    }

    // MARK: Telling what changed

    /// The difference, from the members taken out at old positions and the candidates put into gaps of the rest.
    private func change(
        leaving: [ObjectKey], at positions: [Int], entering: [SortKey], into gaps: [Int]
    ) -> CollectionChange {
        let survivors = survivors(leaving, entering)
        // Gaps ascend on both sides, so that one search serves the survivors of all gaps.
        let returning = survivors.filter { positions[$0.old] - $0.old == gaps[$0.new] }
        let stays = IncreasingSubsequence.longest(of: returning.map { $0.old }) {
            !reported.contains(leaving[returning[$0].old])
        }

        var change = CollectionChange()
        var isDeletion = [Bool](repeating: true, count: leaving.count)
        var isInsertion = [Bool](repeating: true, count: entering.count)
        for (survivor, stays) in zip(returning, stays) where stays {
            isDeletion[survivor.old] = false
            isInsertion[survivor.new] = false
            if reported.contains(leaving[survivor.old]) {
                change.modifications.append(positions[survivor.old])
                change.modificationsNew.append(gaps[survivor.new] + survivor.new)
            }
        }
        for survivor in survivors where isDeletion[survivor.old] {
            let to = gaps[survivor.new] + survivor.new
            change.moves.append(CollectionChange.Move(from: positions[survivor.old], to: to))
        }
        change.moves.sort { $0.from < $1.from }
        change.deletions = positions.indices.filter { isDeletion[$0] }.map { positions[$0] }
        change.insertions = gaps.indices.filter { isInsertion[$0] }.map { gaps[$0] + $0 }
        return change
    }

    /// The rows that were and are members and were not replaced, as indices on both sides, in new order.
    private func survivors(_ leaving: [ObjectKey], _ entering: [SortKey]) -> [(old: Int, new: Int)] {
        if leaving.isEmpty || entering.isEmpty { return [] }
        var oldIndices = [ObjectKey: Int](minimumCapacity: leaving.count)
        for (index, key) in leaving.enumerated() where !replaced.contains(key) { oldIndices[key] = index }
        var survivors: [(old: Int, new: Int)] = []
        for (new, candidate) in entering.enumerated() {
            if let old = oldIndices[candidate.key] { survivors.append((old, new)) }
        }
        return survivors
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
