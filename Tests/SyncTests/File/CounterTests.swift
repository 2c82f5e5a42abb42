import MartletEngine
import MartletSyncProtocol
import MartletValues
import Testing

@testable import MartletSync

@Suite("counters, local properties, and types with 'sync: upload'")
struct CounterTests {
    private func apply(
        _ file: SyncedFile, _ rows: [ObjectAddress: [ValuePath: SyncValue]], acknowledged: Bool = false
    ) throws {
        let batch = DownloadedBatch(rows: rows.map { SyncRow(address: $0.key, values: $0.value) }, leaving: [])
        let state = try file.opened.load()
        try file.commit(batch, acknowledged ? ClientState.acknowledged(state) : state)
    }

    private func votes(_ file: SyncedFile) throws -> Int64? { try file.integer("SELECT votes FROM Item WHERE id = 1") }

    @Test("a change of a counter is recorded as a difference; other properties are recorded with their new values")
    func differences() throws {
        let file = try SyncedFile()
        let counter = ValuePath(Sample.votes)
        try file.write(.create(Sample.item(1), Sample.values([Sample.votes: Sample.integer(5)])))
        try file.write(
            .update(Sample.item(1), [counter: Sample.integer(3), ValuePath(Sample.count): Sample.integer(1)]))
        try file.write(.add(Sample.item(1), counter, 2), .add(Sample.item(1), counter, -2))
        #expect(
            try file.uploads.map(\.operations) == [
                [.create(Sample.item(1), Sample.complete([Sample.votes: Sample.integer(5)]))],
                [
                    .update(Sample.item(1), Sample.values([Sample.count: Sample.integer(1)])),
                    .add(Sample.item(1), counter, -2),
                ],
            ])
    }

    @Test(
        "a difference of more than 64 bits is recorded in parts",
        arguments: [(Int64.min, Int64.max), (.max, .min), (-1, .max), (.min, 0)])
    func wideDifference(_ old: Int64, _ new: Int64) throws {
        let file = try SyncedFile()
        let counter = ValuePath(Sample.votes)
        try file.write(.create(Sample.item(1), Sample.values([Sample.votes: Sample.integer(old)])))
        try file.write(.update(Sample.item(1), [counter: Sample.integer(new)]))
        var sum = old
        for operation in try #require(file.uploads.last).operations {
            guard case .add(_, counter, let amount) = operation else { throw CancellationError() }
            // This addition traps if a partial sum does not fit into 64 bits.
            sum += amount
        }
        #expect(sum == new)
    }

    @Test("a counter shows the value of the service plus all additions that are not acknowledged")
    func download() throws {
        let file = try SyncedFile()
        let counter = ValuePath(Sample.votes)
        try apply(file, [Sample.item(1): Sample.values([Sample.votes: Sample.integer(10)])])
        try file.write(.add(Sample.item(1), counter, 2))
        try file.write(.add(Sample.item(1), counter, 3))
        try apply(file, [Sample.item(1): Sample.values([Sample.votes: Sample.integer(100)])])
        #expect(try votes(file) == 105)
        // The service has added the 2 of the first upload, and acknowledges this upload.
        var state = try file.opened.load()
        state.acknowledgedUpload = 1
        state.outbox.removeFirst()
        let row = SyncRow(address: Sample.item(1), values: Sample.values([Sample.votes: Sample.integer(102)]))
        try file.commit(DownloadedBatch(rows: [row], leaving: []), state)
        #expect(try votes(file) == 105)
        // The program adds 1,000 between the loading of the state and the commit of the download. The sum includes this
        // addition.
        let loaded = try file.opened.load()
        try file.write(.add(Sample.item(1), counter, 1000))
        let late = SyncRow(address: Sample.item(1), values: Sample.values([Sample.votes: Sample.integer(7)]))
        try file.commit(DownloadedBatch(rows: [late], leaving: []), loaded)
        #expect(try votes(file) == 1010)
    }

    @Test("a sum that does not fit into 64 bits is shown as the nearest number, and later sums are exact")
    func saturation() throws {
        let file = try SyncedFile()
        try apply(file, [Sample.item(1): Sample.values([Sample.votes: Sample.integer(0)])])
        try file.write(.add(Sample.item(1), ValuePath(Sample.votes), 10))
        try apply(file, [Sample.item(1): Sample.values([Sample.votes: Sample.integer(.max - 1)])])
        #expect(try votes(file) == .max)
        try apply(file, [Sample.item(1): Sample.values([Sample.votes: Sample.integer(.max - 10)])])
        #expect(try votes(file) == .max)
        try apply(file, [Sample.item(1): Sample.values([Sample.votes: Sample.integer(-5)])])
        #expect(try votes(file) == 5)
    }

    @Test(
        "a local property is not uploaded, a download of its object keeps it, and its own download is refused")
    func localProperty() throws {
        let file = try SyncedFile()
        let note = ValuePath(Sample.note)
        try file.write(.create(Sample.item(1), [note: Sample.text("mine")]))
        try file.write(.update(Sample.item(1), [note: Sample.text("mine too")]))
        #expect(try file.uploads.map(\.operations) == [[.create(Sample.item(1), Sample.complete([:]))]])
        try apply(file, [Sample.item(1): Sample.values([Sample.count: Sample.integer(4)])], acknowledged: true)
        #expect(try file.value("SELECT note FROM Item WHERE id = 1") == .text("mine too"))
        try apply(file, [Sample.item(2): [:]])
        #expect(try file.value("SELECT note FROM Item WHERE id = 2") == .null)
        #expect(throws: MalformedMessage.self) { try apply(file, [Sample.item(2): [note: .null]]) }
    }

    @Test("with 'sync: upload', only the creation of an object is recorded, with the values at the first commit")
    func uploadOnly() throws {
        let file = try SyncedFile()
        let text = ValuePath(0)
        try file.write(
            .create(Sample.report(1), [text: Sample.text("a"), ValuePath(2): .embedded([Sample.integer(7)])]))
        try file.write(.update(Sample.report(1), [text: Sample.text("b")]))
        try file.write(.update(Sample.report(1), [ValuePath([2, 0]): Sample.integer(8)]))
        let values: [ValuePath: SyncValue] = [text: Sample.text("a"), ValuePath(2): .embedded([Sample.integer(7)])]
        #expect(try file.uploads.map(\.operations) == [[.create(Sample.report(1), values)]])
        // With the acknowledgement, the service removes the object from the file, because no subscription contains it.
        let state = ClientState.acknowledged(try file.opened.load())
        try file.commit(DownloadedBatch(rows: [], leaving: [Sample.report(1)]), state)
        #expect(try file.integer("SELECT (SELECT count(*) FROM Report) + (SELECT count(*) FROM Point)") == 0)
        try file.write(.create(Sample.report(2), [:]))
        try file.write(.delete(Sample.report(2)))
        #expect(try file.uploads.map(\.operations.count) == [1], "the deleted report is still uploaded")
    }
}
