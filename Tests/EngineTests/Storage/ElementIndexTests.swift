import ModelTesting
import Testing

@testable import MartletEngine

@Suite("index of the chunks of elements")
struct ElementIndexTests {
    private struct Entry: Hashable {
        let hash: UInt32
        let ordinal: Int64
    }

    /// Few different hashes, which are close to each other or at the end of the table, so that many searches pass other
    /// entries.
    private static let hashes: [UInt32] = [0, 1, 2, 62, 63, 64, 127, 128, 255, 1 << 20, .max - 1, .max]

    @Test("the index finds the chunks of all elements after random insertions and removals", arguments: 0..<20)
    func random(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var index = ElementIndex(capacity: seed.isMultiple(of: 2) ? 0 : 500)
        var entries: [Entry] = []
        for step in 0..<600 {
            let entry = Entry(
                hash: Self.hashes.randomElement(using: &random) ?? 0, ordinal: Int64.random(in: -3...3, using: &random))
            // The index grows in the first half, and becomes empty in the second.
            if Int.random(in: 0..<10, using: &random) < (step < 300 ? 7 : 3) {
                index.add(entry.hash, chunk: entry.ordinal)
                entries.append(entry)
            } else if let position = entries.indices.randomElement(using: &random) {
                let removed = entries.remove(at: position)
                index.remove(removed.hash, chunk: removed.ordinal)
            } else {
                // Nothing happens if there is no such entry.
                index.remove(entry.hash, chunk: entry.ordinal)
            }
            for hash in Self.hashes {
                let expected = Set(entries.filter { $0.hash == hash }.map(\.ordinal))
                #expect(Set(index.chunks(of: hash)) == expected)
            }
        }
    }
}
