import Foundation
import MartletEngine
import MartletSQLite
import MartletSync
import MartletSyncProtocol
import MartletValues
import Testing

/// Property numbers, object addresses and values for the types of `SyncedFile`.
enum Sample {
    static let (group, count, text, owner, parent, place, weight) = (0, 1, 2, 3, 4, 5, 6)
    static let votes = 8
    /// The number of the local property 'note'.
    static let note = 9
    static let extra = 10
    static let (tags, owners, marks, scores) = (11, 12, 13, 14)
    static let (stops, named, stop) = (15, 16, 17)
    static let boss = 2
    /// The paths of the counters: one for the objects of `Item`, and one for simulations without files.
    static let counters = [ValuePath(votes), ValuePath(plainVotes)]
    static let plainVotes = 20
    /// An object of the type `Report`, which has 'sync: upload'.
    static func report(_ id: Int64) -> ObjectAddress { ObjectAddress(type: 4, key: .integer(id)) }
    static func item(_ id: Int64) -> ObjectAddress { ObjectAddress(type: 0, key: .integer(id)) }
    static func owner(_ name: String) -> ObjectAddress { ObjectAddress(type: 1, key: .text(name)) }
    static func integer(_ number: Int64) -> SyncValue { .scalar(.integer(number)) }
    static func text(_ text: String) -> SyncValue { .scalar(.text(text)) }
    static func place(_ x: Int64, _ label: String, near: SyncValue = .null, y: Int64? = nil) -> SyncValue {
        .embedded([integer(x), text(label), near, y.map { .embedded([integer($0)]) } ?? .null])
    }
    /// The number of values of a 'Stop', and the number of its list of links.
    static let (stopSize, nears) = (8, 5)
    /// An embedded object with collections.
    static func stop(
        _ x: Int64, near: SyncValue = .null, y: Int64? = nil, extra: SyncValue = .null, marks: [Int64] = [],
        nears: [SyncValue] = [], scores: [MapEntry] = [], points: [Int64] = []
    ) -> SyncValue {
        .embedded([
            integer(x), near, y.map { .embedded([integer($0)]) } ?? .null, extra, .list(marks.map(integer)),
            .list(nears), .map(scores), .list(points.map { .embedded([integer($0)]) }),
        ])
    }
    static func values(_ values: [Int: SyncValue]) -> [ValuePath: SyncValue] {
        Dictionary(uniqueKeysWithValues: values.map { (ValuePath($0.key), $0.value) })
    }
    /// The given values of an item, and the defaults of its other uploaded properties.
    static func complete(_ values: [Int: SyncValue]) -> [ValuePath: SyncValue] {
        let defaults: [Int: SyncValue] = [
            group: integer(0), count: integer(0), text: text("new"), owner: .null, parent: .null, place: .null,
            weight: .null, votes: integer(0), extra: .null, stop: .null,
        ]
        return self.values(defaults.merging(values) { $1 })
    }
    static func completeOwner(_ values: [Int: SyncValue] = [:]) -> [ValuePath: SyncValue] {
        self.values([group: integer(0), boss: .null].merging(values) { $1 })
    }
}

@Suite("the outbox of a file")
struct OutboxTests {
    private func operations(_ file: SyncedFile) throws -> [[SyncOperation]] { try file.uploads.map(\.operations) }

    @Test("a transaction is recorded as an upload with the next number and the values that it has written")
    func creations() throws {
        let file = try SyncedFile()
        try file.write(
            .create(Sample.owner("ada"), [:]),
            .create(
                Sample.item(1),
                Sample.values([Sample.count: Sample.integer(7), Sample.owner: .link(Sample.owner("ada"))])))
        try file.write(
            .update(Sample.item(1), Sample.values([Sample.text: Sample.text("b"), Sample.group: Sample.integer(2)])))
        #expect(
            try operations(file) == [
                [
                    .create(
                        Sample.item(1),
                        Sample.complete([Sample.count: Sample.integer(7), Sample.owner: .link(Sample.owner("ada"))])),
                    .create(Sample.owner("ada"), Sample.completeOwner()),
                ],
                [
                    .update(
                        Sample.item(1), Sample.values([Sample.text: Sample.text("b"), Sample.group: Sample.integer(2)]))
                ],
            ])
        #expect(try file.uploads.map(\.number) == [1, 2])
    }

    @Test("a deletion is recorded with the primary key, together with cascading deletions and links that become nil")
    func deletions() throws {
        let file = try SyncedFile()
        try file.write(
            .create(Sample.owner("ada"), [:]), .create(Sample.owner("eve"), [:]),
            .create(Sample.item(1), Sample.values([Sample.owner: .link(Sample.owner("ada"))])),
            .create(Sample.item(2), Sample.values([Sample.parent: .link(Sample.owner("ada"))])))
        try file.write(.delete(Sample.owner("ada")))
        let last = try #require(try operations(file).last)
        #expect(last.first == .update(Sample.item(1), Sample.values([Sample.owner: .null])))
        #expect(Set(last.dropFirst()) == [.delete(Sample.owner("ada")), .delete(Sample.item(2))])
    }

    @Test("an object that is created and deleted in one transaction is not recorded")
    func nothingLeft() throws {
        let file = try SyncedFile()
        try file.write(.create(Sample.owner("ada"), [:]), .delete(Sample.owner("ada")))
        #expect(try file.uploads.isEmpty)
    }

    @Test("if an object is deleted and created again, both operations are recorded, and then the links to the object")
    func recreation() throws {
        let file = try SyncedFile()
        let link = SyncValue.link(Sample.owner("ada"))
        try file.write(
            .create(Sample.owner("ada"), [:]), .create(Sample.item(1), Sample.values([Sample.owner: link])))
        try file.write(
            .delete(Sample.owner("ada")),
            .create(Sample.owner("ada"), Sample.values([Sample.group: Sample.integer(1)])),
            .update(Sample.item(1), Sample.values([Sample.owner: link, Sample.count: Sample.integer(3)])))
        #expect(
            try operations(file).last == [
                .update(Sample.item(1), Sample.values([Sample.owner: .null, Sample.count: Sample.integer(3)])),
                .delete(Sample.owner("ada")),
                .create(Sample.owner("ada"), Sample.completeOwner([Sample.group: Sample.integer(1)])),
                .update(Sample.item(1), Sample.values([Sample.owner: link])),
            ])
    }

    @Test("a new embedded object is recorded as a whole, and a changed value inside it is recorded with its path")
    func embedded() throws {
        let file = try SyncedFile()
        try file.write(.create(Sample.item(1), [:]), .create(Sample.owner("ada"), [:]))
        let near = SyncValue.link(Sample.owner("ada"))
        try file.write(.update(Sample.item(1), Sample.values([Sample.place: Sample.place(1, "a", near: near, y: 5)])))
        try file.write(
            .update(
                Sample.item(1),
                [ValuePath([Sample.place, 1]): Sample.text("b"), ValuePath([Sample.place, 3, 0]): Sample.integer(6)]))
        try file.write(.update(Sample.item(1), Sample.values([Sample.place: .null])))
        #expect(
            try operations(file).dropFirst() == [
                [.update(Sample.item(1), Sample.values([Sample.place: Sample.place(1, "a", near: near, y: 5)]))],
                [
                    .update(
                        Sample.item(1),
                        [
                            ValuePath([Sample.place, 1]): Sample.text("b"),
                            ValuePath([Sample.place, 3, 0]): Sample.integer(6),
                        ])
                ],
                [.update(Sample.item(1), Sample.values([Sample.place: .null]))],
            ])
    }

    @Test("special floating-point numbers are recorded exactly", arguments: [Double.nan, -0.0, 0, .infinity, 1.5])
    func numbers(_ number: Double) throws {
        let file = try SyncedFile()
        try file.write(
            .create(Sample.item(1), Sample.values([Sample.weight: .scalar(.real(number))])))
        #expect(
            try operations(file) == [
                [.create(Sample.item(1), Sample.complete([Sample.weight: .scalar(.real(number))]))]
            ])
    }

    @Test("rolled-back transactions and changes of types that are not synchronized are not recorded")
    func rollback() throws {
        let file = try SyncedFile()
        try file.write { writer in
            try writer.perform(.create(Sample.item(1), [:]))
            return false
        }
        try file.write { writer in
            try writer.insert("Note", [.text("local"), .null])
            return true
        }
        #expect(try file.uploads.isEmpty && file.integer("SELECT count(*) FROM martlet_outbox") == 0)
        #expect(try file.integer("SELECT count(*) FROM Note") == 1)
    }

    @Test("writes that are committed together are recorded as one upload, without the cancelled writes")
    func severalWrites() throws {
        let file = try SyncedFile()
        var handle: SnapshotHandle?
        let store = try file.opened
        let transaction = try store.coordinator.beginWrite(replacing: &handle)
        let writer = LocalWriter(store.schema, transaction)
        try writer.perform(.create(Sample.item(1), [:]))
        try transaction.seal()
        try transaction.beginNextWrite()
        try writer.perform(.create(Sample.item(2), [:]))
        try transaction.cancelCurrentWrite()
        try transaction.beginNextWrite()
        try writer.perform(.update(Sample.item(1), Sample.values([Sample.count: Sample.integer(4)])))
        try transaction.seal()
        _ = try transaction.commitSealed()
        #expect(
            try operations(file) == [[.create(Sample.item(1), Sample.complete([Sample.count: Sample.integer(4)]))]])
    }

    @Test("a text that contains NUL is recorded, although the service refuses such texts")
    func textWithNUL() throws {
        let file = try SyncedFile()
        try file.write(.create(Sample.item(1), Sample.values([Sample.text: Sample.text("a\0b")])))
        #expect(
            try operations(file) == [[.create(Sample.item(1), Sample.complete([Sample.text: Sample.text("a\0b")]))]])
    }

    @Test("a write of an object that is too large for one message throws an error that names the object Y25")
    func tooLarge() throws {
        let file = try SyncedFile()
        let text = String(repeating: "x", count: SyncOperation.maximumBytes)
        do {
            try file.write(.create(Sample.item(1), Sample.values([Sample.text: Sample.text(text)])))
            Issue.record("the write did not throw")
        } catch let error as EngineError {
            #expect(error.code == .invalidInput)
            #expect(error.message.contains("the changes of the object 'Item' with the primary key 1 have"))
            #expect(error.message.contains("store large values elsewhere"))
        }
        #expect(try file.uploads.isEmpty && file.integer("SELECT count(*) FROM Item") == 0)
        try file.write(.create(Sample.item(2), [:]))
        #expect(try file.uploads.count == 1)
    }

    @Test("a transaction that is too large for one message is recorded as one upload, which is sent in parts Y25")
    func large() throws {
        let file = try SyncedFile()
        let text = Sample.text(String(repeating: "x", count: 500_000))
        let operations = (1...5).map { SyncOperation.create(Sample.item($0), Sample.complete([Sample.text: text])) }
        try file.write { writer in
            for operation in operations { try writer.perform(operation) }
            return true
        }
        #expect(try self.operations(file) == [operations])
        let messages = UploadParts.messages(of: try #require(file.uploads.first))
        let parts = messages.map { message -> [SyncOperation] in
            switch message {
            case .uploadPart(let part): part
            case .upload(let upload): upload.operations
            default: []
            }
        }
        #expect(parts == operations.map { [$0] })
        #expect(try file.opened.load().outbox[0].bytes > 2_500_000)
    }

    @Test("a client loads the first uploads, and loads further uploads after the service has acknowledged some")
    func loadedUploads() throws {
        let file = try SyncedFile()
        for number in 1...70 { try file.write(.create(Sample.item(Int64(number)), [:])) }
        #expect(try file.opened.load().outbox.map(\.number) == Array(1...70))
        var state = try file.opened.load(loadedUploads: 64)
        #expect(state.outbox.map(\.number) == Array(1...64))
        let uploads = try file.uploads
        #expect(state.lastUpload == 70 && state.hasMoreUploads && state.clock.last == uploads[69].time)
        #expect(try file.opened.upload(3) == uploads[2])
        try file.opened.refresh(&state, loadedUploads: 64)
        #expect(state.outbox.count == 64)
        // The service has stored ten uploads.
        state = ClientState.acknowledged(state, through: 10)
        try file.opened.save(state)
        try file.opened.refresh(&state, loadedUploads: 64)
        #expect(state.outbox.map(\.number) == Array(11...70) && !state.hasMoreUploads)
        #expect(throws: EngineError.self) { _ = try file.opened.upload(10) }
    }

    @Test("time stamps increase, even if the wall clock goes back and the file is opened again")
    func clock() throws {
        let file = try SyncedFile(wall: 1_000_000)
        try file.write(.create(Sample.item(1), [:]))
        file.wall.set(10)
        try file.reopen()
        try file.write(.create(Sample.item(2), [:]))
        // The service acknowledges all uploads, so the outbox becomes empty.
        var state = try file.opened.load()
        state = ClientState.acknowledged(state)
        try file.commit(DownloadedBatch(rows: [], leaving: []), state)
        #expect(try file.uploads.isEmpty)
        try file.reopen()
        try file.write(.create(Sample.item(3), [:]))
        let uploads = try file.uploads
        #expect(uploads.map(\.number) == [3])
        #expect(uploads[0].time > HybridTimestamp(milliseconds: 1_000_000, counter: 1))
    }

    @Test("two programs that write to the same file share the numbers of uploads and the cursor")
    func twoPrograms() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-sync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "synced.realm").path
        let file = try SyncedFile(path: path)
        let other = try SyncedFile(path: path)
        try file.write(.create(Sample.item(1), [:]))
        try other.write(.create(Sample.item(2), [:]))
        let lock = try file.opened.acquireSynchronization()
        #expect(lock != nil)
        #expect(try other.opened.acquireSynchronization() == nil, "only one program synchronizes")
        var state = try file.opened.load()
        #expect(state.outbox.map(\.number) == [1, 2])
        state = ClientState.at("c1", state)
        try file.commit(DownloadedBatch(rows: [], leaving: []), state)
        try other.write(.create(Sample.item(3), [:]))
        try file.opened.refresh(&state)
        #expect(try file.uploads.map(\.base.text) == ["", "", "c1"])
        #expect(state.lastUpload == 3 && state.clock.last == state.outbox[2].time)
        withExtendedLifetime(lock) {}
    }

    @Test("releasing the lock object releases the synchronization lock; deleting the database deletes the lock file")
    func lock() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-sync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "synced.realm").path
        let file = try SyncedFile(path: path)
        var lock = try file.opened.acquireSynchronization()
        #expect(lock != nil)
        #expect(try file.opened.acquireSynchronization() == nil)
        lock = nil
        #expect(try file.opened.acquireSynchronization() != nil)
        #expect(FileManager.default.fileExists(atPath: path + ".sync.lock"))
        file.close()
        #expect(try StoreRegistry.remove(SyncedFile.options(path)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test("opening a file throws if types cannot be synchronized, and the error names the types and properties")
    func refusedTypes() throws {
        let facts = [
            "object Dog\nprimaryKey id\nproperty id Int\nproperty dogs List<link:Dog> onDelete=cascade\n"
                + "property home link:House?\nproperty toy embedded:Toy?",
            "object House\nprimaryKey id\nproperty id Int",
            "object Cat\nproperty name String",
            "embedded Toy\nproperty owners Set<link:Dog> onDelete=cascade\nproperty parts List<embedded:Part>",
            "embedded Part\nproperty names List<String>",
            "object Kennel\nproperty dogs List<link:Dog>\nproperty guest AnyRealmValue",
        ]
        let path = "\(MemoryFiles.prefix)refused"
        do {
            _ = try SyncedStore(SyncedFile.options(path, facts: facts), synced: ["Dog", "Cat", "Cow"], wall: { 0 })
            Issue.record("the types are not refused")
        } catch let error as EngineError {
            let named = [
                "Dog.dogs", "Dog.home", "Toy.owners", "'Cat'", "Kennel.dogs", "Kennel.guest", "'Cow'",
            ]
            for name in named { #expect(error.message.contains(name), "\(name) in \(error.message)") }
            #expect(!error.message.contains("parts") && !error.message.contains("'Dog.toy'"))
        }
        #expect(MemoryFiles.number(path) == nil, "nothing was created")
    }
}
