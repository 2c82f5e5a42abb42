/// Compares two key sequences in full. Used if the changes between the two versions are unknown.
///
/// The difference is minimal. Of the keys that are in both sequences, a longest subsequence in the same order counts as
/// not moved. If there are several longest subsequences, the result uses one with the fewest modified keys. All other
/// keys that are in both sequences are moves.
package enum CollectionDiff {
    /// The difference between two key sequences.
    ///
    /// - Parameters:
    ///   - modified: keys that are reported as modifications if they did not move.
    ///   - replaced: keys that now identify another object. If such a key is in both sequences, it is reported as a
    ///     deletion and an insertion, and not as a move.
    ///
    /// Complexity: O(n log r), where r is the number of runs in the key sets, if both sequences ascend or no common key
    /// moved; otherwise O(n log n).
    package static func change(
        from old: KeySequence, to new: KeySequence, modified: KeySet = [], replaced: KeySet = []
    ) -> CollectionChange {
        var comparison = KeyComparison(modified: modified, replaced: replaced)
        let oldKeys = Array(old)
        let newKeys = Array(new)
        if old.isAscending && new.isAscending {
            comparison.compareAscending(oldKeys, newKeys)
        } else {
            comparison.compare(oldKeys, newKeys)
        }
        return comparison.change
    }
}

/// A comparison in progress. Positions are reported in ascending order.
private struct KeyComparison {
    let modified: KeySet
    let replaced: KeySet
    var change = CollectionChange()

    init(modified: KeySet, replaced: KeySet) {
        self.modified = modified
        self.replaced = replaced
    }

    /// Compares two ascending sequences, between which no key can have moved.
    mutating func compareAscending(_ old: [ObjectKey], _ new: [ObjectKey]) {
        var oldPosition = 0
        var newPosition = 0
        while oldPosition < old.count, newPosition < new.count {
            let oldKey = old[oldPosition]
            let newKey = new[newPosition]
            if oldKey == newKey && !replaced.contains(oldKey) {
                keep(oldKey, oldPosition, newPosition)
                oldPosition += 1
                newPosition += 1
                continue
            }
            if oldKey <= newKey {
                change.deletions.append(oldPosition)
                oldPosition += 1
            }
            if newKey <= oldKey {
                change.insertions.append(newPosition)
                newPosition += 1
            }
        }
        change.deletions.append(contentsOf: oldPosition..<old.count)
        change.insertions.append(contentsOf: newPosition..<new.count)
    }

    /// Compares any two sequences: first the common prefix and suffix, then the part in between.
    mutating func compare(_ old: [ObjectKey], _ new: [ObjectKey]) {
        var start = 0
        let shorter = min(old.count, new.count)
        while start < shorter, old[start] == new[start], !replaced.contains(old[start]) {
            keep(old[start], start, start)
            start += 1
        }
        var oldEnd = old.count
        var newEnd = new.count
        while oldEnd > start, newEnd > start, old[oldEnd - 1] == new[newEnd - 1], !replaced.contains(old[oldEnd - 1]) {
            oldEnd -= 1
            newEnd -= 1
        }
        compareMiddle(old, start..<oldEnd, new, start..<newEnd)
        for offset in 0..<(old.count - oldEnd) {
            keep(old[oldEnd + offset], oldEnd + offset, newEnd + offset)
        }
    }

    private mutating func compareMiddle(
        _ old: [ObjectKey], _ oldRange: Range<Int>, _ new: [ObjectKey], _ newRange: Range<Int>
    ) {
        if oldRange.isEmpty || newRange.isEmpty {
            change.deletions.append(contentsOf: oldRange)
            change.insertions.append(contentsOf: newRange)
            return
        }
        let survivors = survivors(old, oldRange, new, newRange)
        let stays = IncreasingSubsequence.longest(of: survivors.map { $0.old }) {
            !modified.contains(old[survivors[$0].old])
        }

        var nextOld = oldRange.lowerBound
        var nextNew = newRange.lowerBound
        for (survivor, stays) in zip(survivors, stays) {
            if !stays {
                change.moves.append(CollectionChange.Move(from: survivor.old, to: survivor.new))
                continue
            }
            change.deletions.append(contentsOf: nextOld..<survivor.old)
            change.insertions.append(contentsOf: nextNew..<survivor.new)
            nextOld = survivor.old + 1
            nextNew = survivor.new + 1
            keep(old[survivor.old], survivor.old, survivor.new)
        }
        change.deletions.append(contentsOf: nextOld..<oldRange.upperBound)
        change.insertions.append(contentsOf: nextNew..<newRange.upperBound)
        change.moves.sort { $0.from < $1.from }
    }

    /// Pairs of the old and the new position of the same key. If a key occurs several times, its old and new
    /// occurrences are paired in order: the first with the first, the second with the second, and so on.
    private func survivors(
        _ old: [ObjectKey], _ oldRange: Range<Int>, _ new: [ObjectKey], _ newRange: Range<Int>
    ) -> [(old: Int, new: Int)] {
        var oldPositions = [ObjectKey: Int](minimumCapacity: oldRange.count)
        // For keys that occur several times, the next position of the same key.
        var following: [Int: Int] = [:]
        for position in oldRange.reversed() where !replaced.contains(old[position]) {
            if let next = oldPositions.updateValue(position, forKey: old[position]) { following[position] = next }
        }
        var survivors: [(old: Int, new: Int)] = []
        var isTaken = [Bool](repeating: false, count: oldRange.count)
        for position in newRange {
            guard let oldPosition = oldPositions[new[position]], !isTaken[oldPosition - oldRange.lowerBound] else {
                continue
            }
            survivors.append((oldPosition, position))
            isTaken[oldPosition - oldRange.lowerBound] = true
            if let next = following[oldPosition] { oldPositions[new[position]] = next }
        }
        return survivors
    }

    private mutating func keep(_ key: ObjectKey, _ oldPosition: Int, _ newPosition: Int) {
        if !modified.isEmpty && modified.contains(key) {
            change.modifications.append(oldPosition)
            change.modificationsNew.append(newPosition)
        }
    }
}
