import MartletEngine
import MartletSyncProtocol
import MartletValues
import Testing

@testable import MartletSync

@Suite("collections of embedded objects, and collections inside of embedded objects, of a synchronized file")
struct EmbeddedElementTests {
    private let stops = ValuePath(Sample.stops)
    private let named = ValuePath(Sample.named)
    private let stop = ValuePath(Sample.stop)
    private let item = Sample.item(1)
    private let ada = Sample.owner("ada")

    /// A position for `LocalWriter`. Its first byte selects the index at which `LocalWriter` changes the list. If the
    /// argument is even, `LocalWriter` replaces the element. Otherwise it changes the first value of the element.
    private func place(_ index: UInt8) throws -> ListPosition { try #require(ListPosition([index + 100])) }

    private func file() throws -> SyncedFile {
        let file = try SyncedFile()
        try file.write(.create(item, Sample.complete([:])))
        return file
    }

    private func values(_ file: SyncedFile) throws -> ModelValues { try #require(try file.objects()[item]) }
    private func last(_ file: SyncedFile) throws -> [SyncOperation] { try #require(try file.uploads.last).operations }

    private func download(
        _ values: ModelValues, of address: ObjectAddress? = nil, leaving: [ObjectAddress] = [], to file: SyncedFile
    ) throws {
        var state = try file.opened.load()
        // The service has acknowledged all uploads.
        (state.outbox, state.acknowledgedUpload) = ([], state.lastUpload)
        let rows = values.isEmpty ? [] : [SyncRow(address: address ?? item, values: values)]
        try file.commit(DownloadedBatch(rows: rows, leaving: leaving), state)
        #expect(file.changeSetFailure == nil)
        #expect(file.lastUnchanged == [])
    }

    private func elements(_ values: [SyncValue]) -> SyncValue {
        .elements(
            zip(ListPosition.between(nil, nil, count: values.count, client: 9), values).map {
                ListElement(position: $0, value: $1)
            })
    }

    private func count(_ type: String, _ file: SyncedFile) throws -> Int64? {
        try file.integer("SELECT count(*) FROM \(type)")
    }

    @Test("an embedded object in a collection is recorded as a whole if it is inserted or changed Y27")
    func recording() throws {
        let file = try file()
        let first = Sample.stop(1, y: 2, marks: [3, 4], scores: [MapEntry(key: "s", value: .null)], points: [5])
        try file.write(
            .insertElement(item, stops, try place(0), first), .insertElement(item, stops, try place(1), Sample.stop(2)),
            .setEntry(item, named, key: "a", first))
        let list = try values(file).elements(at: stops)
        let positions = list.map(\.position)
        #expect(list.map(\.value) == [first, Sample.stop(2)])
        #expect(
            try last(file) == [
                .insertElement(item, stops, positions[0], first),
                .insertElement(item, stops, positions[1], Sample.stop(2)), .setEntry(item, named, key: "a", first),
            ])
        let changed = Sample.stop(7, y: 2, marks: [3, 4], scores: [MapEntry(key: "s", value: .null)], points: [5])
        try file.write(
            .setElement(item, stops, try place(1), Sample.stop(8)), .setEntry(item, named, key: "a", Sample.stop(7)))
        #expect(
            try last(file) == [
                .setElement(item, stops, positions[1], Sample.stop(8)), .setEntry(item, named, key: "a", changed),
            ])
        try file.write(.setElement(item, stops, try place(0), Sample.stop(9)))
        #expect(try last(file) == [.setElement(item, stops, positions[0], Sample.stop(9))])
        try file.write(.removeElement(item, stops, try place(0)), .setEntry(item, named, key: "a", .null))
        #expect(
            try last(file) == [
                .removeElement(item, stops, positions[0]), .setEntry(item, named, key: "a", .null),
            ])
        #expect(try count("Stop", file) == 1)
    }

    @Test("a change deep inside an element is recorded as a new value of the whole element Y27")
    func recordingInside() throws {
        let file = try file()
        try file.write(.insertElement(item, stops, try place(0), Sample.stop(1, y: 2, points: [3])))
        let position = try #require(try values(file).elements(at: stops).first?.position)
        let (inner, element) = (
            try #require(try file.integer("SELECT _key FROM Point WHERE y = 2")),
            try #require(try file.integer("SELECT _key FROM Point WHERE y = 3"))
        )
        for (key, expected) in [
            (inner, Sample.stop(1, y: 9, points: [3])), (element, Sample.stop(1, y: 9, points: [9])),
        ] {
            try file.write { writer in
                try writer.change("Point", key, 0, .integer(9))
                return true
            }
            #expect(try last(file) == [.setElement(item, stops, position, expected)])
        }
        try file.write { writer in
            try writer.change("Point", inner, 0, .integer(4))
            try writer.perform(.update(item, [ValuePath(Sample.text): Sample.text("b")]))
            try writer.perform(.insertElement(item, ValuePath(Sample.tags), place(0), Sample.integer(1)))
            return true
        }
        let operations = try last(file)
        #expect(operations.first == .update(item, [ValuePath(Sample.text): Sample.text("b")]))
        #expect(operations.contains(.setElement(item, stops, position, Sample.stop(1, y: 4, points: [9]))))
        #expect(operations.count == 3)
    }

    @Test("a collection inside an embedded object is recorded as one value with its path Y28")
    func recordingOfInnerCollections() throws {
        let file = try file()
        try file.write(.update(item, [stop: Sample.stop(1, y: 2, marks: [3], points: [4])]))
        #expect(try last(file) == [.update(item, [stop: Sample.stop(1, y: 2, marks: [3], points: [4])])])
        let (marks, points) = (ValuePath([Sample.stop, 4]), ValuePath([Sample.stop, 7]))
        let list = SyncValue.list([Sample.integer(5), Sample.integer(3)])
        try file.write(.update(item, [marks: list, ValuePath([Sample.stop, 0]): Sample.integer(6)]))
        #expect(try last(file) == [.update(item, [marks: list, ValuePath([Sample.stop, 0]): Sample.integer(6)])])
        let point = try #require(try file.integer("SELECT _key FROM Point WHERE y = 4"))
        try file.write { writer in
            try writer.change("Point", point, 0, .integer(9))
            return true
        }
        #expect(try last(file) == [.update(item, [points: .list([.embedded([Sample.integer(9)])])])])
    }

    @Test("downloaded elements are changed in place, and observers get the changes of single elements and values Y27")
    func download() throws {
        let file = try file()
        let list = elements([Sample.stop(1, y: 2, points: [3, 4]), Sample.stop(5), Sample.stop(6)])
        let map = { (a: SyncValue) in SyncValue.map([MapEntry(key: "a", value: a), MapEntry(key: "b", value: .null)]) }
        try download([stops: list, named: map(Sample.stop(1, points: [7])), stop: Sample.stop(8)], to: file)
        #expect(try values(file)[stops] == list)
        #expect(try values(file)[named] == map(Sample.stop(1, points: [7])))
        #expect(try values(file)[stop] == Sample.stop(8))
        let keys = try file.value("SELECT group_concat(_key) FROM Stop ORDER BY _key")

        var changed = try #require(list.elements)
        changed[0] = ListElement(position: changed[0].position, value: Sample.stop(9, y: 2, points: [3, 5]))
        try download([stops: .elements(changed), named: map(Sample.stop(2, points: [7]))], to: file)
        #expect(try values(file)[stops] == .elements(changed))
        #expect(try file.value("SELECT group_concat(_key) FROM Stop ORDER BY _key") == keys)
        #expect(file.lastChanges.collections.isEmpty, "the elements are the same objects")
        let modified = file.lastChanges.tables.values.flatMap(\.modified).map { ($0.keys.count, $0.columns) }
        #expect(modified.map(\.0).reduce(0, +) == 3, "two stops and one point")

        changed.remove(at: 1)
        try download([stops: .elements(changed), named: map(.null)], to: file)
        #expect(try values(file)[stops] == .elements(changed))
        #expect(file.lastChanges.collections.count == 2)
        #expect(try count("Stop", file) == 3)
        try download([stops: elements([]), named: .map([]), stop: .null], to: file)
        #expect(try count("Stop", file) == 0 && count("Point", file) == 0)
        #expect(try file.uploads.isEmpty, "nothing is recorded")
    }

    @Test("downloaded collections inside an embedded object change only the elements that differ Y28")
    func downloadOfInnerCollections() throws {
        let file = try file()
        let random = [[1, 2, 3], [1, 3], [3, 1, 3], [], [2], [2, 2, 4], [4, 4], [0, 4, 4, 1]] as [[Int64]]
        for numbers in random {
            let scores = numbers.prefix(1).map { MapEntry(key: "k\($0)", value: Sample.integer($0)) }
            let value = Sample.stop(1, marks: numbers, scores: scores, points: numbers)
            try download([stop: value], to: file)
            #expect(try values(file)[stop] == value)
            #expect(try count("Point", file) == Int64(numbers.count))
        }
        try download([ValuePath([Sample.stop, 4]): .list([Sample.integer(7)])], to: file)
        #expect(
            try values(file)[stop]
                == Sample.stop(
                    1, marks: [7], scores: [MapEntry(key: "k0", value: Sample.integer(0))], points: [0, 4, 4, 1]))
        try download([:], leaving: [item], to: file)
        #expect(try count("Stop", file) == 0 && count("Point", file) == 0)
    }

    @Test(
        "a link inside an element is shown when its target is downloaded, and an upload contains the link Y24 Y27",
        arguments: ["near", "extra", "nears"])
    func unresolvedLinks(_ place: String) throws {
        let file = try file()
        func value(_ x: Int64, _ link: SyncValue?) -> SyncValue {
            switch place {
            case "near": Sample.stop(x, near: link ?? .null)
            case "extra": Sample.stop(x, extra: .list([Sample.integer(1), link ?? .null]))
            default: Sample.stop(x, nears: link.map { [$0] } ?? [])
            }
        }
        let list = elements([Sample.stop(0), value(1, .link(ada))])
        try download([stops: list], to: file)
        #expect(try values(file).elements(at: stops).map(\.value) == [Sample.stop(0), value(1, nil)])
        try file.write(.setElement(item, stops, try self.place(1), Sample.stop(2)))
        let position = try #require(list.elements).map(\.position)[1]
        #expect(try last(file) == [.setElement(item, stops, position, value(2, .link(ada)))])
        try download(Sample.completeOwner(), of: ada, to: file)
        #expect(try values(file).elements(at: stops).map(\.value) == [Sample.stop(0), value(2, .link(ada))])
        try download([:], leaving: [ada], to: file)
        #expect(try values(file).elements(at: stops).map(\.value) == [Sample.stop(0), value(2, nil)])
        #expect(try file.uploads.isEmpty)
        try file.write(.setElement(item, stops, try self.place(1), Sample.stop(3)))
        #expect(try last(file) == [.setElement(item, stops, position, value(3, .link(ada)))])
        try file.write(.removeElement(item, stops, try self.place(1)))
        #expect(try file.integer("SELECT count(*) FROM martlet_unresolved") == 0)
    }

    @Test("the deletion of an object removes the links to it from elements, and the elements are recorded Y27")
    func deletionOfTarget() throws {
        let file = try file()
        try file.write(
            .create(ada, Sample.completeOwner()),
            .insertElement(item, stops, try place(0), Sample.stop(1, near: .link(ada), nears: [.link(ada)])),
            .update(item, [stop: Sample.stop(2, nears: [.link(ada)])]))
        let position = try #require(try values(file).elements(at: stops).first?.position)
        try file.write(.delete(ada))
        #expect(
            try last(file) == [
                .update(item, [ValuePath([Sample.stop, Sample.nears]): .list([])]),
                .setElement(item, stops, position, Sample.stop(1)), .delete(ada),
            ])
    }

    @Test("a download does not overwrite elements with changes that are not uploaded yet Y23")
    func masking() throws {
        let file = try file()
        try download([stops: elements([Sample.stop(1), Sample.stop(2)])], to: file)
        try file.write(.setElement(item, stops, try place(1), Sample.stop(3)))
        let state = try file.opened.load()
        let row = SyncRow(address: item, values: [stops: elements([]), stop: Sample.stop(4)])
        try file.commit(DownloadedBatch(rows: [row], leaving: []), state)
        #expect(try values(file).elements(at: stops).map(\.value) == [Sample.stop(1), Sample.stop(3)])
        #expect(try values(file)[stop] == Sample.stop(4))
    }

    @Test("a downloaded value that is not valid in a collection of embedded objects is refused")
    func malformed() throws {
        let file = try file()
        for (path, value) in [
            (stops, elements([.null])), (stops, elements([Sample.integer(1)])), (stops, .list([Sample.stop(1)])),
            (stops, elements([.embedded([])])), (named, .map([MapEntry(key: "k", value: Sample.integer(1))])),
            (stop, .embedded([Sample.integer(1)] + [SyncValue](repeating: .null, count: 7))),
            (ValuePath([Sample.stops, 0]), Sample.integer(1)), (ValuePath([Sample.stop, 9]), Sample.integer(1)),
        ] {
            #expect(throws: MalformedMessage.self, "\(path) \(value)") { try download([path: value], to: file) }
        }
    }

    @Test("after a change of the schema, recorded elements contain the new numbers, and new collections are empty")
    func numbering() throws {
        let file = try file()
        try file.write(
            .create(ada, Sample.completeOwner()),
            .insertElement(item, stops, try place(0), Sample.stop(1, near: .link(ada), points: [2])))
        let position = try #require(try values(file).elements(at: stops).first?.position)
        file.close()
        let facts = SyncedFile.facts.map {
            $0.replacing(
                "property x Int\nproperty near", with: "property added List<Int>\nproperty x Int\nproperty near")
        }
        let store = try SyncedStore(
            SyncedFile.options(file.path, facts: facts), synced: ["Item", "Owner", "Report"], wall: { 0 })
        guard case .embedded(let former) = Sample.stop(1, near: .link(ada), points: [2]) else { return }
        #expect(
            try store.uploads.last?.operations.first
                == .insertElement(item, stops, position, .embedded([.list([])] + former)))
    }
}
