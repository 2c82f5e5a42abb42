public import Foundation
import MartletEngine
import MartletValues

extension List: RangeReplaceableCollection, MutableCollection {
    /// Removes all elements. `keepingCapacity` has no effect.
    ///
    /// The default implementation in `RangeReplaceableCollection` would assign a new list to the variable.
    public func removeAll(keepingCapacity: Bool) { removeAll() }

    /// Replaces a range of elements. Removed embedded objects are deleted.
    ///
    /// Key-value observers are notified at most twice: of the removal and of the insertion. The number of elements that
    /// are written to the file depends only on the number of replaced and inserted elements.
    public func replaceSubrange(_ range: Range<Int>, with elements: some Collection<Element>) {
        // `elements` may be this list or a slice of this list, so the elements are copied before the list changes.
        let elements = Array(elements)
        guard let core else {
            for end in [range.lowerBound, range.upperBound] where end < 0 || end > unmanaged.count {
                Misuse.indexOutOfRange(end, count: unmanaged.count, "the list")
            }
            if !range.isEmpty {
                changeUnmanaged(.remove(at: range.lowerBound, count: range.count)) { $0.removeSubrange(range) }
            }
            if !elements.isEmpty {
                changeUnmanaged(.insert(at: range.lowerBound, count: elements.count)) {
                    $0.insert(contentsOf: elements, at: range.lowerBound)
                }
            }
            return
        }
        if range.isEmpty { return core.insert(contentsOf: stored(elements, core), at: range.lowerBound) }
        if range == 0..<core.count { core.recordAssignment() }
        core.makingEdits { requireUnchanged in
            core.remove(range)
            requireUnchanged()
            core.insert(contentsOf: stored(elements, core), at: range.lowerBound)
        }
    }
}

extension List {
    /// The elements in a range of positions. An assignment replaces them with any number of new elements.
    public subscript(range: Range<Int>) -> Slice<List> {
        get {
            for end in [range.lowerBound, range.upperBound] where end < 0 || end > count {
                Misuse.indexOutOfRange(end, count: count, title)
            }
            return Slice(base: self, bounds: range)
        }
        // Mutations of the slice change the list itself, so the slice is not written back.
        _modify {
            var slice = self[range]
            yield &slice
        }
        set { replaceSubrange(range, with: newValue) }
    }
}

// Non-mutating variants of the mutating methods, so that a program can change a list that is in a constant.
extension List {
    /// Appends elements.
    public func append(contentsOf elements: some Sequence<Element>) { append(objectsIn: elements) }

    /// Appends elements.
    public static func += (list: List, elements: some Sequence<Element>) { list.append(objectsIn: elements) }

    /// Inserts elements before a position.
    public func insert(contentsOf elements: some Collection<Element>, at position: Int) {
        replaceSubrange(position..<position, with: elements)
    }

    /// Removes a range of elements.
    public func removeSubrange(_ range: Range<Int>) {
        if let core { core.remove(range) } else { replaceSubrange(range, with: []) }
    }

    /// Removes the elements that satisfy a condition. If the condition throws, no element is removed.
    public func removeAll(where isRemoved: (Element) throws -> Bool) rethrows {
        remove(atOffsets: IndexSet(try requiringUnchanged { try indices.filter { try isRemoved(self[$0]) } }))
    }

    // The name of the list in messages.
    var title: String { core.map { "'\($0.name)'" } ?? "the list" }

    /// Removes the elements at some positions. Observers are notified of one change.
    public func remove(atOffsets offsets: IndexSet) {
        if let last = offsets.last, last >= count { Misuse.indexOutOfRange(last, count: count, title) }
        if let core { return core.remove(at: Array(offsets)) }
        if offsets.isEmpty { return }
        let ranges = offsets.rangeView.reversed()
        changeUnmanaged(ListEditScript(ranges.map { .remove(at: $0.lowerBound, count: $0.count) })) { elements in
            for range in ranges { elements.removeSubrange(range) }
        }
    }

    /// Moves the elements at `offsets`. After the move, they precede the element that was at `destination` before the
    /// move.
    public func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
        if destination < 0 || destination > count { Misuse.indexOutOfRange(destination, count: count, title) }
        // Elements before the destination are moved in descending order of their positions, and all other elements in
        // ascending order. A move therefore does not change the positions of the elements that are moved after it.
        var moves: [(from: Int, to: Int)] = []
        for (offset, position) in offsets.filter({ $0 < destination }).reversed().enumerated() {
            moves.append((position, destination - 1 - offset))
        }
        for (offset, position) in offsets.filter({ $0 >= destination }).enumerated() {
            moves.append((position, destination + offset))
        }
        guard let core else { return moves.forEach { move(from: $0.from, to: $0.to) } }
        core.makingEdits { requireUnchanged in
            for (from, to) in moves {
                requireUnchanged()
                core.move(from: from, to: to)
            }
        }
    }
}

// Reordering. Observers of a managed list receive modifications at the positions whose elements changed.
extension List {
    /// Sorts the elements in place. The sort is stable: equal elements keep their order.
    ///
    /// - Parameter isBefore: returns true if its first argument precedes the second.
    public func sort(by isBefore: (Element, Element) throws -> Bool) rethrows {
        let elements = Array(self)
        reorder(try requiringUnchanged { try elements.indices.sorted { try isBefore(elements[$0], elements[$1]) } })
    }

    /// Reverses the order of the elements.
    public func reverse() { reorder(indices.reversed()) }

    /// Shuffles the elements with `generator`.
    public func shuffle<Generator: RandomNumberGenerator>(using generator: inout Generator) {
        reorder(indices.shuffled(using: &generator))
    }

    /// Shuffles the elements.
    public func shuffle() {
        var generator = SystemRandomNumberGenerator()
        shuffle(using: &generator)
    }

    /// Moves the elements that satisfy a condition to the end, and returns the position of the first of them.
    ///
    /// The elements of each group keep their order.
    @discardableResult
    public func partition(by isBehind: (Element) throws -> Bool) rethrows -> Int {
        let behind = try requiringUnchanged { try Array(self).map(isBehind) }
        let front = indices.filter { !behind[$0] }
        reorder(front + indices.filter { behind[$0] })
        return front.count
    }

    // Runs `body`, which calls a closure of the program, and returns the result of `body`. Traps if the closure changes
    // the list. In an unmanaged list, only a change of the number of elements is detected.
    private func requiringUnchanged<R>(_ body: () throws -> R) rethrows -> R {
        let (edits, size) = (core?.editCount, core == nil ? unmanaged.count : 0)
        let result = try body()
        if edits != core?.editCount || core == nil && size != unmanaged.count { Misuse.changedDuringChange(title) }
        return result
    }

    // `positions` contains, for each new position, the current position of the element that is moved there.
    private func reorder(_ positions: [Int]) {
        guard let core else {
            if !positions.elementsEqual(unmanaged.indices) { unmanaged = positions.map { unmanaged[$0] } }
            return
        }
        let elements = core.all()
        core.reorder(positions.map { elements[$0] })
    }
}

extension List where Element: Comparable {
    /// Sorts the elements in place in ascending order.
    public func sort() { sort(by: <) }
}
