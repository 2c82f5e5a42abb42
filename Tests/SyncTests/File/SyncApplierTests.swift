import MartletEngine
import MartletSyncProtocol
import MartletValues
import Testing

@testable import MartletSync

extension ClientState {
    /// The given state after the service has acknowledged the uploads up to a number, or all uploads.
    static func acknowledged(_ state: ClientState, through upload: UInt64? = nil) -> ClientState {
        var state = state
        state.acknowledgedUpload = upload ?? state.lastUpload
        state.outbox.removeAll { $0.number <= state.acknowledgedUpload }
        return state
    }

    /// The given state with another cursor.
    static func at(_ cursor: String, _ state: ClientState) -> ClientState {
        var state = state
        state.position = SyncPosition(epoch: "e", cursor: SyncCursor(cursor))
        return state
    }
}

@Suite("downloaded batches")
struct SyncApplierTests {
    private func apply(
        _ file: SyncedFile, _ rows: [ObjectAddress: [ValuePath: SyncValue]] = [:], leaving: [ObjectAddress] = []
    ) throws {
        let rows = rows.map { SyncRow(address: $0.key, values: $0.value) }
        try file.commit(DownloadedBatch(rows: rows, leaving: leaving), try file.opened.load())
        #expect(file.changeSetFailure == nil)
    }

    @Test("a downloaded object gets defaults for missing properties, and nothing is recorded for upload")
    func insertion() throws {
        let file = try SyncedFile()
        try apply(
            file,
            [
                Sample.item(5): Sample.values([Sample.count: Sample.integer(3), Sample.weight: .scalar(.real(-0.0))]),
                Sample.owner("ada"): [:],
            ])
        #expect(
            try file.objects() == [
                Sample.item(5): Sample.complete([Sample.count: Sample.integer(3), Sample.weight: .scalar(.real(-0.0))]),
                Sample.owner("ada"): Sample.completeOwner(),
            ])
        #expect(try file.uploads.isEmpty)
    }

    @Test("an update changes only the values that differ, and observers get only these changes")
    func update() throws {
        let file = try SyncedFile()
        try apply(file, [Sample.item(1): Sample.values([Sample.count: Sample.integer(3)])])
        try apply(
            file,
            [
                Sample.item(1): Sample.values([
                    Sample.count: Sample.integer(3), Sample.text: Sample.text("x"), Sample.weight: .null,
                ])
            ])
        let table = try #require(try file.opened.coordinator.schema["Item"]?.id)
        #expect(file.lastChanges.tables[table]?.columns(modifiedFor: 1) == ColumnSet(Sample.text))
        try apply(file, [Sample.item(1): Sample.values([Sample.text: Sample.text("x")])])
        #expect(file.lastChanges.isEmpty)
    }

    @Test("objects of one batch can link to each other")
    func cycle() throws {
        let file = try SyncedFile()
        try apply(
            file,
            [
                Sample.owner("a"): Sample.values([Sample.boss: .link(Sample.owner("b"))]),
                Sample.owner("b"): Sample.values([Sample.boss: .link(Sample.owner("a"))]),
            ])
        let objects = try file.objects()
        #expect(objects[Sample.owner("a")]?[ValuePath(Sample.boss)] == .link(Sample.owner("b")))
        #expect(objects[Sample.owner("b")]?[ValuePath(Sample.boss)] == .link(Sample.owner("a")))
        #expect(try file.integer("SELECT count(*) FROM martlet_unresolved") == 0)
    }

    @Test("a link to an object that is not in the file is nil until the object is downloaded")
    func unresolved() throws {
        let file = try SyncedFile()
        try apply(
            file,
            [
                Sample.item(1): Sample.values([
                    Sample.owner: .link(Sample.owner("ada")),
                    Sample.place: Sample.place(1, "", near: .link(Sample.owner("ada"))),
                ])
            ])
        #expect(try file.objects()[Sample.item(1)]?[ValuePath(Sample.owner)] == .null)
        try apply(file, [Sample.owner("ada"): [:]])
        let restored = Sample.place(1, "", near: .link(Sample.owner("ada")))
        #expect(try file.objects()[Sample.item(1)]?[ValuePath(Sample.owner)] == .link(Sample.owner("ada")))
        #expect(try file.objects()[Sample.item(1)]?[ValuePath(Sample.place)] == restored)
        #expect(try file.integer("SELECT count(*) FROM martlet_unresolved") == 0)
        #expect(try file.uploads.isEmpty)
    }

    @Test("links to a removed object become nil, also in local types, and are restored when it is downloaded again")
    func leaving() throws {
        let file = try SyncedFile()
        let item = Sample.values([
            Sample.owner: .link(Sample.owner("ada")), Sample.parent: .link(Sample.owner("ada")),
            Sample.place: Sample.place(1, "a", y: 2),
        ])
        try apply(file, [Sample.owner("ada"): [:], Sample.item(1): item, Sample.item(2): [:]])
        try file.write { writer in
            let row = try #require(try writer.row(Sample.item(2)))
            try writer.insert("Note", [.text("n"), .integer(row.key)])
            return true
        }
        try apply(file, leaving: [Sample.owner("ada"), Sample.item(2), Sample.owner("not there")])
        let left = try file.objects()
        #expect(Array(left.keys) == [Sample.item(1)], "the deletion rule 'cascade' is not applied")
        #expect(left[Sample.item(1)]?[ValuePath(Sample.parent)] == .null)
        #expect(try file.value("SELECT item FROM Note") == .null)
        try apply(file, [Sample.owner("ada"): [:], Sample.item(2): [:]])
        let again = try file.objects()
        #expect(again[Sample.item(1)] == Sample.complete([:]).merging(item) { $1 })
        #expect(try file.integer("SELECT item FROM Note") == 2)
        try apply(file, leaving: [Sample.item(1)])
        #expect(try file.integer("SELECT (SELECT count(*) FROM Place) + (SELECT count(*) FROM Point)") == 0)
        #expect(try file.integer("SELECT count(*) FROM martlet_unresolved") == 0)
        #expect(try file.uploads.isEmpty, "neither local objects nor objects that leave are recorded")
    }

    @Test("an unresolved link is removed when the program writes its property or deletes its object")
    func overwritten() throws {
        let file = try SyncedFile()
        let link = Sample.values([Sample.owner: .link(Sample.owner("ada"))])
        try apply(file, [Sample.item(1): link, Sample.item(2): link, Sample.item(3): link, Sample.owner("eve"): [:]])
        try file.write(.update(Sample.item(1), Sample.values([Sample.owner: .link(Sample.owner("eve"))])))
        try file.write(.delete(Sample.item(2)))
        #expect(try file.integer("SELECT holder FROM martlet_unresolved") == 3)
        try apply(file, [Sample.owner("ada"): [:]])
        #expect(try file.objects()[Sample.item(1)]?[ValuePath(Sample.owner)] == .link(Sample.owner("eve")))
    }

    @Test("a download replaces an unresolved link")
    func replaced() throws {
        let file = try SyncedFile()
        try apply(file, [Sample.item(1): Sample.values([Sample.owner: .link(Sample.owner("ada"))])])
        try apply(file, [Sample.item(1): Sample.values([Sample.owner: .link(Sample.owner("eve"))])])
        try apply(file, [Sample.owner("ada"): [:]])
        #expect(try file.objects()[Sample.item(1)]?[ValuePath(Sample.owner)] == .null)
        try apply(file, [Sample.item(1): Sample.values([Sample.owner: .null])])
        try apply(file, [Sample.owner("eve"): [:]])
        #expect(try file.objects()[Sample.item(1)]?[ValuePath(Sample.owner)] == .null)
    }

    @Test("a download changes all values or a single value of an embedded object in place")
    func embedded() throws {
        let file = try SyncedFile()
        let table = try #require(try file.opened.coordinator.schema["Place"]?.id)
        try apply(file, [Sample.item(1): Sample.values([Sample.place: Sample.place(1, "a", y: 2)])])
        let key = try file.integer("SELECT place FROM Item")
        try apply(file, [Sample.item(1): Sample.values([Sample.place: Sample.place(1, "b")])])
        #expect(try file.integer("SELECT place FROM Item") == key)
        #expect(file.lastChanges.tables[table]?.columns(modifiedFor: try #require(key)) == ColumnSet([1, 3]))
        try apply(
            file,
            [
                Sample.item(1): [
                    ValuePath([Sample.place, 0]): Sample.integer(9),
                    ValuePath([Sample.place, 3, 0]): Sample.integer(4),
                ]
            ])
        #expect(try file.objects()[Sample.item(1)]?[ValuePath(Sample.place)] == Sample.place(9, "b", y: 4))
        try apply(file, [Sample.item(1): Sample.values([Sample.place: .null])])
        #expect(try file.integer("SELECT (SELECT count(*) FROM Place) + (SELECT count(*) FROM Point)") == 0)
        #expect(try file.objects()[Sample.item(1)]?[ValuePath(Sample.place)] == .null)
    }

    @Test(
        "a batch that contains a value of a wrong type is refused as a whole",
        arguments: [
            (Sample.item(1), [Sample.count: Sample.text("x")]), (Sample.item(1), [Sample.count: .null]),
            (Sample.item(1), [99: .null]), (Sample.item(1), [Sample.owner: .link(Sample.item(1))]),
            (Sample.item(1), [Sample.place: .embedded([])]), (Sample.item(1), [Sample.place: Sample.integer(1)]),
            (ObjectAddress(type: 0, key: .text("x")), [:]), (ObjectAddress(type: 7, key: .integer(1)), [:]),
        ] as [(ObjectAddress, [Int: SyncValue])])
    func malformed(_ address: ObjectAddress, _ values: [Int: SyncValue]) throws {
        let file = try SyncedFile()
        let rows = [
            SyncRow(address: Sample.item(2), values: [:]), SyncRow(address: address, values: Sample.values(values)),
        ]
        let state = try file.opened.load()
        #expect(throws: MalformedMessage.self) {
            try file.opened.commit(DownloadedBatch(rows: rows, leaving: []), ClientState.at("c", state))
        }
        #expect(try file.objects().isEmpty && file.opened.load() == state)
    }

    @Test("a batch does not overwrite a value that the program writes after the session has masked the batch")
    func lateWrite() throws {
        let file = try SyncedFile()
        try file.write(.create(Sample.item(1), [:]))
        let state = ClientState.acknowledged(try file.opened.load())
        try file.write(.update(Sample.item(1), Sample.values([Sample.count: Sample.integer(1)])))
        let values = Sample.values([Sample.count: Sample.integer(2), Sample.text: Sample.text("b")])
        try file.commit(
            DownloadedBatch(rows: [SyncRow(address: Sample.item(1), values: values)], leaving: []), state)
        let expected = Sample.complete([Sample.count: Sample.integer(1), Sample.text: Sample.text("b")])
        #expect(try file.objects() == [Sample.item(1): expected])
        #expect(try file.uploads.map(\.number) == [2])
    }

    @Test("the file contains the state of the client and its subscriptions")
    func state() throws {
        let file = try SyncedFile()
        let query = SubscribedQuery(type: 1, condition: [1, 2])
        try file.opened.subscribe([query])
        var state = try file.opened.load()
        #expect(state.wanted == .init(number: 1, queries: [query]) && state.shown == .init())
        state = ClientState.at("c7", state)
        state.identity = ClientIdentity(id: .max, secret: [1, 2, 3])
        state.clock.synchronize(service: 5_000, wall: 1_000)
        state.shown = state.wanted
        try file.opened.subscribe([])
        try file.opened.save(state)
        try file.reopen()
        var loaded = try file.opened.load()
        #expect(loaded.wanted == .init(number: 2, queries: []) && loaded.shown == state.shown)
        loaded.wanted = state.wanted
        #expect(loaded == state)
        var older = state
        try file.opened.refresh(&older)
        #expect(older.wanted.number == 2)
    }

    @Test("after a change of the schema, the outbox contains the new numbers of types and properties")
    func numbering() throws {
        let file = try SyncedFile()
        let link = SyncValue.link(Sample.owner("ada"))
        try file.write(
            .create(Sample.owner("ada"), [:]),
            .create(
                Sample.item(1),
                Sample.values([Sample.owner: link, Sample.place: Sample.place(1, "a", near: link, y: 2)])))
        try file.write(
            .update(Sample.item(1), [ValuePath([Sample.place, 3, 0]): Sample.integer(3)]),
            .add(Sample.item(1), ValuePath(Sample.votes), 4), .delete(Sample.owner("ada")))
        file.close()
        var facts = SyncedFile.facts
        facts[0] = facts[0].replacing("property group Int", with: "property added Int\nproperty group Int")
        facts[2] = facts[2].replacing("property x Int", with: "property more String\nproperty x Int")
        facts.append("object Added\nprimaryKey id\nproperty id Int")
        let store = try SyncedStore(
            SyncedFile.options(file.path, facts: facts), synced: ["Item", "Owner", "Added"], wall: { 0 })
        // The new type 'Added' has the number 0. Therefore 'Item' now has the number 1, and 'Owner' the number 2.
        let (item, owner) = (ObjectAddress(type: 1, key: .integer(1)), ObjectAddress(type: 2, key: .text("ada")))
        let place = SyncValue.embedded([
            Sample.text(""), Sample.integer(1), Sample.text("a"), .link(owner), .embedded([Sample.integer(2)]),
        ])
        let created: [Int: SyncValue] = [
            1: Sample.integer(0), 2: Sample.integer(0), 3: Sample.text("new"), 4: .link(owner), 5: .null, 6: place,
            7: .null, 9: Sample.integer(0), 11: .null, 18: .null,
        ]
        let uploads = try store.uploads
        #expect(uploads.map(\.number) == [1, 2])
        #expect(
            uploads[0].operations == [.create(item, Sample.values(created)), .create(owner, Sample.completeOwner())])
        #expect(
            uploads[1].operations == [
                .update(
                    item,
                    [
                        ValuePath(4): .null, ValuePath([6, 4, 0]): Sample.integer(3), ValuePath([6, 3]): .null,
                    ]),
                .add(item, ValuePath(9), 4), .delete(owner),
            ])
    }

    @Test("a type with objects that were written without synchronization cannot become synchronized Y16")
    func addedType() throws {
        let file = try SyncedFile()
        file.close()
        let facts = SyncedFile.facts + ["object Added\nprimaryKey id\nproperty id Int"]
        func open(synced: Set<String>) throws -> SyncedStore {
            try SyncedStore(SyncedFile.options(file.path, facts: facts), synced: synced, wall: { 0 })
        }
        do {
            let store = try open(synced: ["Item", "Owner"])
            var handle: SnapshotHandle?
            let transaction = try store.coordinator.beginWrite(replacing: &handle)
            _ = try LocalWriter(store.schema, transaction).insert("Added", [.integer(1)])
            _ = try transaction.commit()
        }
        let error = #expect(throws: EngineError.self) { _ = try open(synced: ["Item", "Owner", "Added"]) }
        #expect(error?.code == .incompatibleConfiguration && error?.message.contains("'Added'") == true)
        _ = try open(synced: ["Item", "Owner"])
    }

    @Test("after a change of the schema, the conditions of subscriptions contain the new numbers of properties")
    func numberingOfConditions() throws {
        func condition(_ count: Int, _ y: [Int]) -> SubscriptionCondition {
            .and([
                .or([
                    ConditionTest.isIn(ConditionOperand(ValuePath(count), .integer), [.integer(3)]).canonical,
                    ConditionTest.isNil(ConditionOperand(ValuePath(y), .integer)).canonical.negated,
                ]),
                ConditionTest.order(ConditionOperand(ValuePath(count), .integer), .lessOrEqual, .integer(7)).canonical,
            ])
        }
        let file = try SyncedFile()
        try file.opened.changeSubscriptions { _ in
            [
                StoredSubscription(type: "Item", condition: condition(1, [5, 3, 0]).encoded(), name: "some"),
                StoredSubscription(type: "Owner", condition: SubscriptionCondition.constant(true).encoded()),
            ]
        }
        file.close()
        var facts = SyncedFile.facts
        facts[0] = facts[0].replacing("property group Int", with: "property added Int\nproperty group Int")
        facts[2] = facts[2].replacing("property x Int", with: "property more String\nproperty x Int")
        facts.append("object Added\nprimaryKey id\nproperty id Int")
        let store = try SyncedStore(
            SyncedFile.options(file.path, facts: facts), synced: ["Item", "Owner", "Added"], wall: { 0 })
        #expect(
            try store.load().wanted.queries == [
                SubscribedQuery(type: 1, condition: condition(2, [6, 4, 0]).encoded()),
                SubscribedQuery(type: 2, condition: SubscriptionCondition.constant(true).encoded()),
            ])
        #expect(try store.read { try $0.subscriptions(of: 1).map(\.name) } == ["some", nil])
    }

    @Test("opening a file throws if the outbox has changes of a type that is no longer synchronized")
    func removedType() throws {
        let owner = "object Owner\nprimaryKey name\nproperty group Int\nproperty name String\nproperty boss link:Owner?"
        let item = "object Item\nprimaryKey id\nproperty id Int\nproperty owner link:Owner?"
        let file = try SyncedFile(facts: [item, owner], synced: ["Item", "Owner"])
        try file.write(.create(Sample.owner("ada"), [:]))
        try file.write(.update(Sample.owner("ada"), Sample.values([Sample.group: Sample.integer(1)])))
        file.close()
        let facts = [owner]
        func open() throws -> SyncedStore {
            try SyncedStore(SyncedFile.options(file.path, facts: facts), synced: ["Owner"], wall: { 0 })
        }
        #expect(
            try open().uploads.map(\.operations).last == [
                .update(ObjectAddress(type: 0, key: .text("ada")), Sample.values([Sample.group: Sample.integer(1)]))
            ])
        try file.open()
        try file.write(.create(Sample.item(1), [:]))
        file.close()
        do {
            _ = try open()
            Issue.record("the file was opened")
        } catch let error as EngineError {
            #expect(error.code == .schemaMismatch && error.message.contains("'Item'"))
        }
    }

    @Test("after a schema change, a program with the previous schema can no longer record changes")
    func formerProgram() throws {
        let file = try SyncedFile()
        try file.write(.create(Sample.item(1), [:]))
        try file.setNumbering("object Other id")
        do {
            try file.write(.create(Sample.item(2), [:]))
            Issue.record("the write was committed")
        } catch let error as EngineError {
            #expect(error.code == .schemaMismatch && error.message.contains("newest version"))
        }
        #expect(try file.integer("SELECT count(*) FROM Item") == 1)
    }

    @Test("after a schema change, a program with the previous schema can neither send uploads nor write downloads")
    func formerClient() throws {
        let file = try SyncedFile()
        try file.write(.create(Sample.item(1), [:]))
        var state = try file.opened.load()
        try file.setNumbering("object Other id")
        let batch = DownloadedBatch(rows: [SyncRow(address: Sample.item(2), values: [:])], leaving: [])
        #expect(throws: EngineError.self) { _ = try file.opened.load() }
        #expect(throws: EngineError.self) { try file.opened.refresh(&state) }
        #expect(throws: EngineError.self) { _ = try file.opened.upload(1) }
        #expect(throws: EngineError.self) { try file.commit(batch, state) }
        #expect(throws: EngineError.self) { try file.applyWithoutCommit(batch, state) }
        #expect(try file.integer("SELECT count(*) FROM Item") == 1)
    }
}
