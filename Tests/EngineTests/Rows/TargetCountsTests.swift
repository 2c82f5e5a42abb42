import MartletTestSupport
import ModelTesting
import Testing

@testable import MartletEngine

@Suite struct TargetCountsTests {
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
