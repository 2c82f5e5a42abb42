import MartletTestSupport
import ModelTesting
import Testing

@testable import MartletEngine

@Suite struct TargetCountsTests {
    @Test("the change of one target equals its entry in the list of all changes", arguments: [false, true])
    func change(_ asksFirst: Bool) {
        var counts = TargetCounts()
        if asksFirst { _ = counts.change(of: 1) }
        for target in [1, 2, 1, 3] as [ObjectKey] { counts.link(target) }
        #expect(counts.change(of: 1) == 2 && counts.change(of: 4) == 0)
        for target in [1, 4, 2] as [ObjectKey] { counts.unlink(target) }
        #expect((1...5).map { counts.change(of: $0) } == [1, 0, 1, -1, 0])
        #expect(counts.changes().map(\.target) == [1, 3, 4])
    }

    @Test("added and removed links are summed for each target, and the sums are sorted by key")
    func sums() {
        var counts = TargetCounts()
        var expected: [Int64: Int] = [:]
        var random = SeededRandom(seed: 11)
        #expect(counts.isEmpty && counts.changes().isEmpty)
        for _ in 0..<300_000 {
            let target = Int64.random(in: -500...500, using: &random)
            if Bool.random(using: &random) {
                counts.link(target)
                expected[target, default: 0] += 1
            } else {
                counts.unlink(target)
                expected[target, default: 0] -= 1
            }
        }
        let changes = counts.changes()
        let nonzero = expected.filter { $0.value != 0 }.sorted { $0.key < $1.key }
        #expect(changes.map(\.target) == nonzero.map(\.key) && changes.map(\.change) == nonzero.map(\.value))
    }
}
