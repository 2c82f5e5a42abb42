import MartletSyncProtocol
import MartletValues
import ModelTesting
import Testing

@testable import MartletSyncService

@Suite struct ByteSpoolTests {
    @Test("byte strings are read in their order, from memory and from a file", arguments: [0, 10, 100, 1 << 20])
    func order(_ maximumMemoryBytes: Int) throws {
        var random = SeededRandom(seed: UInt64(maximumMemoryBytes) + 1)
        let spool = ByteSpool(maximumMemoryBytes: maximumMemoryBytes)
        var expected: [[UInt8]] = []
        var taken = 0
        for _ in 0..<500 {
            if Int.random(in: 0..<3, using: &random) > 0 {
                let count = Int.random(in: 0..<40, using: &random)
                let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                try spool.append(bytes)
                expected.append(bytes)
            } else {
                let next = try spool.next()
                #expect(next == (taken < expected.count ? expected[taken] : nil))
                taken = min(taken + 1, expected.count)
            }
            #expect(spool.count == expected.count)
            #expect(spool.remainingBytes == expected.dropFirst(taken).reduce(0) { $0 + $1.count })
        }
        let rest = try expected[taken...].map { _ in try spool.next() }
        #expect(rest == expected[taken...].map(Optional.some))
        #expect(try spool.next() == nil && spool.remainingBytes == 0)
    }

    @Test("the messages of large data need little memory") func memory() throws {
        let data = SubscriptionData(spool: ByteSpool(maximumMemoryBytes: 2_000))
        var writer = SubscriptionData.Writer(data, maximumBytes: 1_000)
        for number in 0..<1_000 {
            let text = SyncValue.scalar(.text(String(repeating: "x", count: 100)))
            let address = ObjectAddress(type: 0, key: .integer(Int64(number)))
            try writer.add(SyncRow(address: address, values: [ValuePath(1): text]))
            writer.progress = number + 1
        }
        try writer.finish()
        #expect(writer.rowCount == 1_000 && data.remainingBytes > 100_000)
        var (keys, last) = ([] as [Int], 0 as UInt64)
        for message in data.takeMessages() {
            guard case .chunk(let rows, let leaving, let progress) = message else {
                Issue.record("not a chunk")
                continue
            }
            #expect(leaving.isEmpty && progress > last)
            last = progress
            for row in rows { if case .integer(let key) = row.address.key { keys.append(Int(key)) } }
        }
        #expect(keys == Array(0..<1_000) && last == 1_000)
    }
}
