import MartletEngine
import MartletSyncProtocol
import MartletValues
import Testing

@testable import MartletSync

@Suite("collections of a synchronized file")
struct CollectionFileTests {
    private let tags = ValuePath(Sample.tags)
    private let owners = ValuePath(Sample.owners)
    private let marks = ValuePath(Sample.marks)
    private let scores = ValuePath(Sample.scores)
    private let item = Sample.item(1)

    /// A position for `LocalWriter`. Its first byte selects the index at which `LocalWriter` changes the list.
    private func place(_ index: UInt8) throws -> ListPosition { try #require(ListPosition([index + 100])) }

    private func file() throws -> SyncedFile {
        let file = try SyncedFile()
        try file.write(.create(item, Sample.complete([:])))
        return file
    }

    private func values(_ file: SyncedFile) throws -> ModelValues { try #require(try file.objects()[item]) }

    private func download(_ rows: [SyncRow], leaving: [ObjectAddress] = [], to file: SyncedFile) throws {
        var state = try file.opened.load()
        // The service has acknowledged all uploads.
        (state.outbox, state.acknowledgedUpload) = ([], state.lastUpload)
        try file.commit(DownloadedBatch(rows: rows, leaving: leaving), state)
        #expect(file.changeSetFailure == nil)
    }

    private func elements(_ values: [SyncValue], client: UInt64 = 9) -> SyncValue {
        .elements(
            zip(ListPosition.between(nil, nil, count: values.count, client: client), values).map {
                ListElement(position: $0, value: $1)
            })
    }

    @Test(
        "changes of collections are recorded after the creation of their object, with position, member or key Y21 Y22"
    )
    func recording() throws {
        let file = try SyncedFile()
        try file.write { writer in
            try writer.perform(.create(item, Sample.complete([:])))
            try writer.perform(.insertElement(item, tags, place(0), Sample.integer(5)))
            try writer.perform(.insertMember(item, marks, Sample.integer(6)))
            try writer.perform(.setEntry(item, scores, key: "k", .null))
            return true
        }
        let position = try #require(try values(file).elements(at: tags).first?.position)
        var operations = try #require(try file.uploads.last?.operations)
        guard case .create = operations.removeFirst() else { return #expect(Bool(false), "no creation") }
        #expect(
            operations == [
                .insertElement(item, tags, position, Sample.integer(5)), .insertMember(item, marks, Sample.integer(6)),
                .setEntry(item, scores, key: "k", .null),
            ])
        try file.write { writer in
            // The first byte of the position is 101, and the list has two places for a new element. Because 101 % 2 is
            // 1, the element is inserted after the existing one.
            try writer.perform(.insertElement(item, tags, place(1), Sample.integer(7)))
            try writer.perform(.removeMember(item, marks, Sample.integer(6)))
            try writer.perform(.setEntry(item, scores, key: "k", Sample.integer(1)))
            return true
        }
        let new = try values(file).elements(at: tags)
        #expect(new.map(\.value) == [Sample.integer(5), Sample.integer(7)] && new[0].position == position)
        #expect(
            try file.uploads.last?.operations == [
                .insertElement(item, tags, new[1].position, Sample.integer(7)),
                .removeMember(item, marks, Sample.integer(6)), .setEntry(item, scores, key: "k", Sample.integer(1)),
            ])
    }

    @Test("if a write changes only a collection, no update of the object is recorded")
    func onlyCollection() throws {
        let file = try file()
        try file.write(.setEntry(item, scores, key: "k", Sample.integer(1)))
        try file.write(.removeEntry(item, scores, key: "k"))
        #expect(try file.uploads.map(\.operations).last == [.removeEntry(item, scores, key: "k")])
        try file.write { writer in
            try writer.perform(.setEntry(item, scores, key: "k", Sample.integer(1)))
            try writer.perform(.removeEntry(item, scores, key: "k"))
            return true
        }
        #expect(try file.uploads.count == 3, "a write without a net change is not recorded")
    }

    @Test("a downloaded collection replaces the stored one, and observers get the changes of single elements Y23")
    func download() throws {
        let file = try file()
        let scores: SyncValue = .map([MapEntry(key: "a", value: .null), MapEntry(key: "b", value: Sample.integer(1))])
        let marks: SyncValue = .list([Sample.integer(1), Sample.integer(2)])
        let list = elements((0..<5).map { Sample.integer($0) })
        try download(
            [SyncRow(address: item, values: [tags: list, self.marks: marks, self.scores: scores])], to: file)
        #expect(try values(file)[tags] == list)
        #expect(try values(file)[self.marks] == marks)
        #expect(try values(file)[self.scores] == scores)
        var shorter = try #require(list.elements)
        shorter.remove(at: 1)
        shorter[0] = ListElement(position: shorter[0].position, value: Sample.integer(9))
        try download([SyncRow(address: item, values: [tags: .elements(shorter), self.marks: .list([])])], to: file)
        #expect(try values(file)[tags] == .elements(shorter))
        #expect(try values(file)[self.marks] == nil)
        let id = try #require(file.lastChanges.collections.keys.first { $0.property == Sample.tags })
        #expect(file.lastChanges.collections[id]?.edits.count == 2)
        #expect(try file.uploads.isEmpty, "nothing is recorded")
    }

    @Test("a download does not overwrite a collection with changes that are not uploaded yet Y23")
    func masking() throws {
        let file = try file()
        try download([], to: file)
        try file.write(.insertElement(item, tags, place(0), Sample.integer(5)))
        let state = try file.opened.load()
        let row = SyncRow(
            address: item, values: [tags: elements([]), scores: .map([MapEntry(key: "k", value: .null)])])
        try file.commit(DownloadedBatch(rows: [row], leaving: []), state)
        #expect(try values(file).elements(at: tags).count == 1)
        #expect(try values(file)[scores] == .map([MapEntry(key: "k", value: .null)]))
    }

    @Test("a list does not show a link to an object that is not in the file, until the object is downloaded Y24")
    func unresolvedLinks() throws {
        let file = try file()
        let (ada, ben) = (Sample.owner("ada"), Sample.owner("ben"))
        let list = elements([.link(ada), .link(ben), .link(ada)])
        let row = { (address: ObjectAddress) in SyncRow(address: address, values: Sample.completeOwner()) }
        try download([SyncRow(address: item, values: [owners: list]), row(ben)], to: file)
        #expect(try values(file).elements(at: owners).map(\.value) == [.link(ben)])
        try download([row(ada)], to: file)
        #expect(try values(file)[owners] == list)
        #expect(try file.integer("SELECT count(*) FROM martlet_unresolved") == 0)
        try download([], leaving: [ada], to: file)
        #expect(try values(file).elements(at: owners).map(\.value) == [.link(ben)])
        #expect(try file.uploads.isEmpty)
        try download([row(ada)], leaving: [ben], to: file)
        #expect(try values(file).elements(at: owners).map(\.value) == [.link(ada), .link(ada)])
        try download([row(ben)], to: file)
        #expect(try values(file)[owners] == list)
    }

    @Test("an element that the program inserts at the end gets a position after the hidden elements Y24")
    func insertionBesideHidden() throws {
        let file = try file()
        let (ada, ben) = (Sample.owner("ada"), Sample.owner("ben"))
        let list = elements([.link(ada), .link(ben)])
        try download(
            [SyncRow(address: item, values: [owners: list]), SyncRow(address: ada, values: Sample.completeOwner())],
            to: file)
        try file.write(.insertElement(item, owners, place(1), .link(ada)))
        let known = try #require(list.elements).map(\.position)
        guard case .insertElement(_, _, let position, _)? = try file.uploads.last?.operations.first else {
            return #expect(Bool(false), "nothing was recorded")
        }
        #expect(position > known[1])
        #expect(try file.integer("SELECT count(*) FROM martlet_unresolved") == 0, "the link is unresolved")
    }

    @Test("the deletion of an object removes it from lists, and the removals are recorded before the deletion Y22")
    func deletion() throws {
        let file = try file()
        let ada = Sample.owner("ada")
        try file.write(.create(ada, Sample.completeOwner()), .insertElement(item, owners, place(0), .link(ada)))
        let position = try #require(try values(file).elements(at: owners).first?.position)
        try file.write(.delete(ada))
        #expect(try file.uploads.last?.operations == [.removeElement(item, owners, position), .delete(ada)])
        // If an object was deleted and created again, the links to it are recorded as the last operations.
        try file.write { writer in
            try writer.perform(.create(ada, Sample.completeOwner()))
            try writer.perform(.insertElement(item, owners, place(0), .link(ada)))
            return true
        }
        try file.write { writer in
            try writer.perform(.delete(ada))
            try writer.perform(.create(ada, Sample.completeOwner()))
            try writer.perform(.insertElement(item, owners, place(0), .link(ada)))
            return true
        }
        let operations = try #require(try file.uploads.last?.operations)
        guard case .removeElement = operations.first, case .insertElement(_, _, _, .link(ada)) = operations.last else {
            return #expect(Bool(false), "\(operations)")
        }
        #expect(operations.count == 4)
    }

    @Test("when an object is deleted or removed by a download, the positions of its lists are removed")
    func positionsOfDeleted() throws {
        let file = try file()
        try file.write(.insertElement(item, tags, place(0), Sample.integer(1)))
        #expect(try file.integer("SELECT count(*) FROM martlet_positions") == 1)
        try file.write(.delete(item))
        #expect(try file.integer("SELECT count(*) FROM martlet_positions") == 0)
        try download([SyncRow(address: item, values: [tags: elements([Sample.integer(1)])])], to: file)
        #expect(try file.integer("SELECT count(*) FROM martlet_positions") == 1)
        try download([], leaving: [item], to: file)
        #expect(try file.integer("SELECT count(*) FROM martlet_positions") == 0)
    }

    @Test("a downloaded value that is not a valid value of the collection is refused")
    func malformed() throws {
        let file = try file()
        for (path, value) in [
            (tags, SyncValue.list([Sample.integer(1)])), (tags, .null), (marks, .list([Sample.text("x")])),
            (scores, .list([])), (owners, elements([.null])), (owners, elements([.link(Sample.item(1))])),
        ] {
            #expect(throws: (any Error).self) {
                try download([SyncRow(address: item, values: [path: value])], to: file)
            }
        }
    }
}
