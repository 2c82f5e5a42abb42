import MartletSyncProtocol
import MartletValues
import ModelTesting
import Testing

@testable import MartletSync

@Suite("masks of uploads")
struct UploadMaskTests {
    private let address = ObjectAddress(type: 0, key: .integer(1))

    private func upload(_ number: UInt64, _ operations: [SyncOperation]) -> ClientMessage.Upload {
        .init(number: number, base: SyncCursor(""), time: .zero, operations: operations)
    }

    @Test(
        "a written member masks its embedded object, and a written embedded object masks its members",
        arguments: [([3], [3, 1]), ([3, 1], [3]), ([3, 1], [3, 1]), ([3, 1, 0], [3, 1])])
    func nested(_ written: [Int], _ downloaded: [Int]) {
        let mask = UploadMask([upload(1, [.update(address, [ValuePath(written): .null])])])
        let values: [ValuePath: SyncValue] = [ValuePath(downloaded): .scalar(.integer(1)), ValuePath(4): .null]
        let batch = DownloadedBatch(rows: [SyncRow(address: address, values: values)], leaving: [])
        let shown = SyncRow(address: address, values: [ValuePath(4): .null])
        #expect(mask.masked(batch) == DownloadedBatch(rows: [shown], leaving: []))
    }

    @Test("after each acknowledgement, a mask is equal to the mask of the remaining uploads")
    func acknowledgements() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<300 {
            var mask = UploadMask()
            var waiting: [ClientMessage.Upload] = []
            var (last, acknowledged) = (UInt64(0), UInt64(0))
            for _ in 0..<40 {
                if Bool.random(using: &random) {
                    last += 1
                    let operations = (0..<Int.random(in: 0...3, using: &random)).map { _ in operation(&random) }
                    waiting.append(upload(last, operations))
                    mask.add(waiting[waiting.count - 1])
                } else {
                    acknowledged = UInt64.random(in: acknowledged...last, using: &random)
                    waiting.removeAll { $0.number <= acknowledged }
                    mask.removeUploads(through: acknowledged)
                }
                let expected = UploadMask(waiting)
                let batch = batch
                #expect(mask.masked(batch) == expected.masked(batch), "the uploads are \(waiting)")
            }
        }
    }

    private func operation(_ random: inout SeededRandom) -> SyncOperation {
        let address = ObjectAddress(type: 0, key: .integer(Int64.random(in: 1...3, using: &random)))
        let path = ValuePath(Int.random(in: 0...1, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .create(address, [path: .null])
        case 1: return .delete(address)
        case 2: return .update(address, [:])
        case 3: return .insertMember(address, path, .null)
        case 4: return .update(address, [ValuePath([2, 1]): .null])
        case 5: return .update(address, [path: .null])
        default: return .add(address, path, Int64.random(in: -2...2, using: &random) * (.max / 2))
        }
    }

    // Each object has a row, and also leaves. So the result shows whether the mask contains the object.
    private var batch: DownloadedBatch {
        let addresses = (1...3).map { ObjectAddress(type: 0, key: .integer($0)) }
        let values: [ValuePath: SyncValue] = [
            ValuePath(0): .scalar(.integer(5)), ValuePath(1): .scalar(.integer(-5)), ValuePath([2]): .null,
        ]
        return DownloadedBatch(
            rows: addresses.map { SyncRow(address: $0, values: values) }, leaving: addresses)
    }
}
