import MartletTestSupport
import Testing

@testable import Martlet

@Suite struct TargetCountsTests {
    @Test("what is linked and unlinked one by one is summed up in the order of the keys, however much it is")
    func sums() {
        var counts = TargetCounts()
        var expected: [Int64: Int] = [:]
        var random = Seeded(state: 11)
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
        let wanted = expected.filter { $0.value != 0 }.sorted { $0.key < $1.key }
        #expect(changes.map(\.target) == wanted.map(\.key) && changes.map(\.change) == wanted.map(\.value))
    }
}
