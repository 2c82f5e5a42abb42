import MartletEngine
import MartletSyncProtocol
import MartletValues
import Testing

@testable import MartletSync

@Suite("AnyRealmValues of a synchronized file")
struct AnyValueTests {
    private let ada = Sample.owner("ada")
    private let eve = Sample.owner("eve")

    private var nested: SyncValue {
        .list([
            .link(ada), .null, Sample.integer(.min), .scalar(.real(0.5)),
            .scalar(AnyValueTag.double.tagged(AnyValueTag.bigEndian((-0.0).bitPattern))),
            .map([MapEntry(key: "", value: .link(eve)), MapEntry(key: "e\u{301}", value: .list([]))]),
        ])
    }

    private func apply(
        _ file: SyncedFile, _ rows: [ObjectAddress: [ValuePath: SyncValue]] = [:], leaving: [ObjectAddress] = []
    ) throws {
        let rows = rows.map { SyncRow(address: $0.key, values: $0.value) }
        try file.commit(DownloadedBatch(rows: rows, leaving: leaving), try file.opened.load())
        #expect(file.changeSetFailure == nil)
        #expect(file.lastUnchanged.isEmpty)
    }

    private func extra(_ file: SyncedFile) throws -> SyncValue? {
        try file.objects()[Sample.item(1)]?[ValuePath(Sample.extra)]
    }

    @Test("a value is recorded with the primary keys of its links, and downloading an equal value changes nothing")
    func recorded() throws {
        let file = try SyncedFile()
        try file.write(
            .create(ada, [:]), .create(eve, [:]),
            .create(Sample.item(1), Sample.values([Sample.extra: nested])))
        #expect(try file.uploads[0].operations[0] == .create(Sample.item(1), Sample.complete([Sample.extra: nested])))
        #expect(try extra(file) == nested)
        try apply(file, [Sample.item(1): Sample.values([Sample.extra: nested])])
        #expect(file.lastChanges.isEmpty)
        try file.write(.update(Sample.item(1), Sample.values([Sample.extra: .link(ada)])))
        try file.write(.delete(ada))
        #expect(
            try file.uploads.last?.operations == [
                .update(Sample.item(1), Sample.values([Sample.extra: .null])), .delete(ada),
            ])
    }

    @Test("a link inside an AnyRealmValue is nil until its target is downloaded; each link is restored separately")
    func unresolved() throws {
        let file = try SyncedFile()
        try apply(file, [Sample.item(1): Sample.values([Sample.extra: nested])])
        #expect(try extra(file) == nested.withoutLinks)
        try apply(file, [eve: [:]])
        guard case .list(let values)? = try extra(file) else { throw CancellationError() }
        #expect(values[0] == .null && values[5].targets == [eve])
        try apply(file, [ada: [:]])
        #expect(try extra(file) == nested)
        #expect(try file.integer("SELECT count(*) FROM martlet_unresolved") == 0)
        // A download removes the targets from the file. Then they are downloaded again.
        try apply(file, leaving: [ada, eve])
        #expect(try extra(file) == nested.withoutLinks)
        try file.reopen()
        try apply(file, [ada: [:], eve: [:]])
        #expect(try extra(file) == nested)
        #expect(try file.uploads.isEmpty)
    }

    @Test("an unresolved link is removed when the program writes the value, or when another value is downloaded")
    func overwritten() throws {
        let file = try SyncedFile()
        try apply(
            file,
            [
                Sample.item(1): Sample.values([Sample.extra: nested]),
                Sample.item(2): Sample.values([Sample.extra: .link(ada)]),
            ])
        try file.write(.update(Sample.item(1), Sample.values([Sample.extra: Sample.integer(1)])))
        try apply(file, [Sample.item(2): Sample.values([Sample.extra: Sample.integer(2)])])
        #expect(try file.integer("SELECT count(*) FROM martlet_unresolved") == 0)
        try apply(file, [ada: [:], eve: [:]])
        #expect(try extra(file) == Sample.integer(1))
    }

    @Test(
        "a value is refused if it is damaged, or valid only in the file of another client",
        arguments: [
            SyncValue.scalar(AnyLink(1, 1).stored), .scalar(AnyValueTag.list.tagged([])), .scalar(.blob([])),
            .embedded([]), .scalar(AnyValueTag.uuid.tagged([1])),
        ])
    func hostile(_ value: SyncValue) throws {
        let file = try SyncedFile()
        #expect(throws: MalformedMessage.self) {
            try apply(file, [Sample.item(1): Sample.values([Sample.extra: value])])
        }
    }
}
