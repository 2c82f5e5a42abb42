public import Foundation
import MartletEngine
import MartletSQLite

extension List: RangeReplaceableCollection, MutableCollection {
    /// Replaces a range of elements. Embedded objects that go are deleted.
    ///
    /// To observers these are at most two changes, however many elements there are. Complexity: that of the chunks that are
    /// touched, not of the elements one by one.
    public func replaceSubrange(_ range: Range<Int>, with elements: some Collection<Element>) {
        // The elements may be those of this list.
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
        core.remove(range)
        core.insert(contentsOf: stored(elements, core), at: range.lowerBound)
    }
}

extension List {
    /// The elements at a range of positions. Assigning any number of elements puts them in its place.
    public subscript(range: Range<Int>) -> Slice<List> {
        get {
            for end in [range.lowerBound, range.upperBound] where end < 0 || end > count {
                Misuse.indexOutOfRange(end, count: count, title)
            }
            return Slice(base: self, bounds: range)
        }
        // What is done to a slice in its place is done to the list itself.
        _modify {
            var slice = self[range]
            yield &slice
        }
        set { replaceSubrange(range, with: newValue) }
    }
}

// Again without `mutating`, so that a list in a constant can be changed.
extension List {
    /// Appends elements.
    public func append(contentsOf elements: some Sequence<Element>) { append(objectsIn: elements) }

    /// Appends elements.
    public static func += (list: List, elements: some Sequence<Element>) { list.append(objectsIn: elements) }

    /// Puts elements before a position.
    public func insert(contentsOf elements: some Collection<Element>, at position: Int) {
        replaceSubrange(position..<position, with: elements)
    }

    /// Takes a range of elements out.
    public func removeSubrange(_ range: Range<Int>) { replaceSubrange(range, with: []) }

    /// Takes the elements out that satisfy a condition; none if the condition throws.
    public func removeAll(where isRemoved: (Element) throws -> Bool) rethrows {
        remove(atOffsets: IndexSet(try indices.filter { try isRemoved(self[$0]) }))
    }

    // What messages call it.
    var title: String { core.map { "'\($0.name)'" } ?? "the list" }

    /// Takes the elements at some positions out, which to observers is one change.
    public func remove(atOffsets offsets: IndexSet) {
        if let last = offsets.last, last >= count { Misuse.indexOutOfRange(last, count: count, title) }
        if offsets.isEmpty { return }
        if let core { return core.remove(at: Array(offsets)) }
        let ranges = offsets.rangeView.reversed()
        changeUnmanaged(ListEditScript(ranges.map { .remove(at: $0.lowerBound, count: $0.count) })) { elements in
            for range in ranges { elements.removeSubrange(range) }
        }
    }

    /// Moves the elements at some positions so that they stand before what is at `destination` now.
    public func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
        if destination < 0 || destination > count { Misuse.indexOutOfRange(destination, count: count, title) }
        // Those before the destination from the last on, those behind it from the first on: others keep their places.
        for (offset, position) in offsets.filter({ $0 < destination }).reversed().enumerated() {
            move(from: position, to: destination - 1 - offset)
        }
        for (offset, position) in offsets.filter({ $0 >= destination }).enumerated() {
            move(from: position, to: destination + offset)
        }
    }
}

// Another order. Observers of a managed list are told that the positions whose elements changed were modified.
extension List {
    /// Sorts the elements in place. Stable: elements that are equal in the order keep theirs.
    ///
    /// - Parameter isBefore: true when its first argument stands before the second.
    public func sort(by isBefore: (Element, Element) throws -> Bool) rethrows {
        let elements = Array(self)
        reorder(try elements.indices.sorted { try isBefore(elements[$0], elements[$1]) })
    }

    /// Turns the order around.
    public func reverse() { reorder(indices.reversed()) }

    /// Brings the elements into an order that `generator` decides.
    public func shuffle<Generator: RandomNumberGenerator>(using generator: inout Generator) {
        reorder(indices.shuffled(using: &generator))
    }

    /// Brings the elements into a random order.
    public func shuffle() {
        var generator = SystemRandomNumberGenerator()
        shuffle(using: &generator)
    }

    /// Moves the elements that satisfy a condition behind those that do not; returns the position of the first of them.
    ///
    /// Both keep the order they have among themselves.
    @discardableResult
    public func partition(by isBehind: (Element) throws -> Bool) rethrows -> Int {
        let behind = try map(isBehind)
        let front = indices.filter { !behind[$0] }
        reorder(front + indices.filter { behind[$0] })
        return front.count
    }

    // The element that is to stand at each position, by the position it has.
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
    /// Sorts the elements in place, the least first.
    public func sort() { sort(by: <) }
}
