/// A set of numbers, in an order that depends only on the sequence of insertions and removals. Most sets contain one
/// number. Such a set needs no allocation.
///
/// Complexity: O(1) expected to insert and to remove.
struct NumberSet: Sendable {
    private enum Content: Sendable {
        case none
        case one(Int)
        /// The numbers, and a dictionary from each number to its position in the array.
        case several([Int], [Int: Int])
    }

    private var content = Content.none

    var isEmpty: Bool { if case .none = content { true } else { false } }

    var count: Int {
        switch content {
        case .none: 0
        case .one: 1
        case .several(let numbers, _): numbers.count
        }
    }

    var numbers: [Int] {
        switch content {
        case .none: []
        case .one(let number): [number]
        case .several(let numbers, _): numbers
        }
    }

    func forEach(_ body: (Int) -> Void) {
        switch content {
        case .none: break
        case .one(let number): body(number)
        case .several(let numbers, _): numbers.forEach(body)
        }
    }

    mutating func insert(_ number: Int) {
        switch content {
        case .none: content = .one(number)
        case .one(let other):
            if other != number { content = .several([other, number], [other: 0, number: 1]) }
        case .several(var numbers, var positions):
            guard positions[number] == nil else { return }
            // Releases the stored arrays, so that the changes below do not copy them.
            content = .none
            positions[number] = numbers.count
            numbers.append(number)
            content = .several(numbers, positions)
        }
    }

    mutating func remove(_ number: Int) {
        switch content {
        case .none: break
        case .one(let other): if other == number { content = .none }
        case .several(var numbers, var positions):
            guard let position = positions[number] else { return }
            content = .none
            positions[number] = nil
            let last = numbers.removeLast()
            if last != number {
                numbers[position] = last
                positions[last] = position
            }
            if numbers.isEmpty { return }
            content = .several(numbers, positions)
        }
    }
}
