import ModelTesting
import Testing

@testable import MartletSyncProtocol

@Suite("positions in synchronized lists")
struct ListPositionTests {
    private func position(_ bytes: [UInt8]) throws -> ListPosition { try #require(ListPosition(bytes)) }

    private func randomBytes(_ random: inout SeededRandom) -> [UInt8] {
        let bytes: [UInt8] = [0, 0, 1, 2, 128, 129, 130, 136, 254, 255]
        return (0..<Int.random(in: 1...4, using: &random)).map { _ in bytes.randomElement(using: &random) ?? 1 }
    }

    @Test("new positions are sorted, and lie between the neighboring positions")
    func between() throws {
        var random = SeededRandom(seed: 5)
        for _ in 0..<2_000 {
            // The byte strings are short, and their bytes are from a small set, so neighbors often share a prefix.
            let ends = [randomBytes(&random), randomBytes(&random)].compactMap { ListPosition($0) }.sorted()
            let lower = Bool.random(using: &random) ? ends.first : nil
            let upper = Bool.random(using: &random) ? ends.last : nil
            if let lower, let upper, lower == upper { continue }
            let client = UInt64.random(in: 0...(Bool.random(using: &random) ? 3 : .max), using: &random)
            let made = ListPosition.between(lower, upper, count: Int.random(in: 1...5, using: &random), client: client)
            let all: [ListPosition] = (lower.map { [$0] } ?? []) + made + (upper.map { [$0] } ?? [])
            #expect(all == all.sorted() && Set(all).count == all.count, "\(lower?.bytes ?? []) \(upper?.bytes ?? [])")
            for position in made { #expect(ListPosition(position.bytes) == position) }
        }
    }

    @Test("two clients never create equal positions, and each client's elements at one place stay consecutive")
    func twoClients() throws {
        let (lower, upper) = (try position([129, 1, 2]), try position([129, 1, 2, 1]))
        for (lower, upper) in [(nil, nil), (lower, nil), (lower, upper), (nil, upper)] {
            let runs = [7, 300].map { ListPosition.between(lower, upper, count: 300, client: $0) }
            let all = (runs[0].map { ($0, 0) } + runs[1].map { ($0, 1) }).sorted { $0.0 < $1.0 }
            #expect(Set(all.map(\.0)).count == 600)
            let changes = zip(all, all.dropFirst()).count { $0.1 != $1.1 }
            #expect(changes == 1, "the runs alternate \(changes) times")
        }
    }

    @Test("positions of 100,000 elements that are inserted one by one at the same place stay short")
    func lengths() {
        var last: ListPosition?
        var longest = 0
        for _ in 0..<100_000 {
            last = ListPosition.between(last, nil, client: 70_000)[0]
            longest = max(longest, last?.bytes.count ?? 0)
        }
        #expect(longest <= 7)
        let run = ListPosition.between(nil, nil, count: 100_000, client: 70_000)
        #expect(run.map(\.bytes.count).max() ?? 0 <= 12)

        var first: ListPosition?
        for _ in 0..<100_000 { first = ListPosition.between(nil, first, client: 70_000)[0] }
        #expect(first?.bytes.count ?? 0 <= 7)

        // The next loop inserts each element directly before the previous one. The loop after it inserts each element
        // directly after the previous one.
        let ends = ListPosition.between(nil, nil, count: 2, client: 1)
        var (lower, upper) = (ends[0], ends[1])
        for upload in 1...100_000 as ClosedRange<UInt64> {
            upper = ListPosition.between(ends[0], upper, client: 1, upload: upload)[0]
            longest = max(longest, upper.bytes.count)
        }
        for upload in 1...100_000 as ClosedRange<UInt64> {
            lower = ListPosition.between(lower, ends[1], client: 1, upload: upload)[0]
            longest = max(longest, lower.bytes.count)
        }
        #expect(longest <= 40, "\(longest)")
    }

    @Test("positions of elements that are inserted at random places stay short")
    func randomPlaces() {
        var random = SeededRandom(seed: 3)
        var list: [ListPosition] = []
        for upload in 0..<5_000 as Range<UInt64> {
            let place = Int.random(in: 0...list.count, using: &random)
            let lower = place > 0 ? list[place - 1] : nil
            let upper = place < list.count ? list[place] : nil
            list.insert(ListPosition.between(lower, upper, client: 70_000, upload: upload)[0], at: place)
        }
        #expect(list == list.sorted())
        let average = list.map(\.bytes.count).reduce(0, +) / list.count
        #expect(average <= 24, "\(average)")
    }

    @Test("bytes that are not a position are refused")
    func refused() {
        #expect(ListPosition([UInt8]()) == nil)
        #expect(ListPosition([1, 0]) == nil)
        #expect(ListPosition([UInt8](repeating: 1, count: ListPosition.maximumLength + 1)) == nil)
    }
}
