import Testing

@testable import Martlet

@Suite struct PathDictionaryTests {
    private final class Counter {
        var count = 0
    }

    private struct Key: Hashable {
        let number: Int
        let counter: Counter

        static func == (left: Key, right: Key) -> Bool { left.number == right.number }

        func hash(into hasher: inout Hasher) {
            counter.count += 1
            hasher.combine(number)
        }
    }

    @Test("a path contains only its own keys, even after moves to other paths O5") func paths() {
        var paths = PathDictionary<Int, String>()
        paths.append(1, "a")
        let outer = paths.mark()
        paths.append(2, "b")
        paths.append(3, "c")
        let inner = paths.mark()
        paths.removeLast()
        paths.append(4, "d")
        #expect((1...4).map { paths[$0] } == ["a", "b", nil, "d"])
        let other = paths.mark()
        paths.move(to: inner)
        #expect((1...4).map { paths[$0] } == ["a", "b", "c", nil])
        paths.move(to: outer)
        #expect((1...4).map { paths[$0] } == ["a", nil, nil, nil])
        paths.move(to: other)
        paths.removeLast()
        paths.removeLast()
        paths.append(3, "e")
        #expect((1...4).map { paths[$0] } == ["a", nil, "e", nil])
        paths.move(to: inner)
        paths.move(to: outer)
        paths.removeLast()
        #expect((1...4).map { paths[$0] } == [nil, nil, nil, nil])
    }

    @Test("the number of hash operations for visiting all branches of a tree is linear O5", arguments: [4_000, 16_000])
    func steps(_ length: Int) {
        let counter = Counter()
        var paths = PathDictionary<Key, Int>()
        let start = paths.mark()
        var pending = [start]
        var number = 0
        while number < length, let next = pending.popLast() {
            paths.move(to: next)
            for _ in 0..<16 {
                paths.append(Key(number: number, counter: counter), number)
                number += 1
            }
            let inner = paths.mark()
            pending += [inner, inner]
            for _ in 0..<16 { paths.removeLast() }
        }
        while let next = pending.popLast() { paths.move(to: next) }
        paths.move(to: start)
        #expect(counter.count < 16 * length)
    }
}
