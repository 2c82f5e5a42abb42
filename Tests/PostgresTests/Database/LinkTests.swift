#if Postgres
    import MartletEngine
    import MartletPostgres
    import MartletSyncProtocol
    import MartletSyncService
    import MartletValues
    import Testing

    /// Tests of links in uploads, with a role to which row level security applies.
    @Suite("PostgreSQL: links in uploads", .needsPostgres)
    struct LinkTests {
        /// The ways in which a node can link to another node.
        enum Kind: String, CaseIterable {
            case next, list, set, map
        }

        private let session: PostgresSession
        private let service: PostgresSession
        private let catalog: SyncCatalog
        private let client: UInt64

        init() throws {
            let sample = try SampleSchema(
                """
                objects:
                  Node:
                    sync: both
                    primaryKey: id
                    read: author == $user.sub
                    write: true
                    properties:
                      id: Int
                      author: String
                      next: Node?
                      list: List<Node>
                      set: Set<Node>
                      map: Map<Node?>
                      anything: AnyRealmValue
                """)
            let address = try newDatabase()
            session = try PostgresSession(address)
            try session.execute(sample.statements)
            try Deployment(SyncSchema(facts: sample.facts)).run(in: session)
            service = try PostgresSession(ServiceRole(session).address(address))
            catalog = try SyncCatalog(session)
            client = try ClientRegistry().register(readability: [], in: session).id
        }

        private func node(_ id: Int64) -> ObjectAddress { ObjectAddress(type: 0, key: .integer(id)) }

        private func path(_ name: String) throws -> ValuePath {
            ValuePath(try #require(catalog.schema.types[0].properties.firstIndex { $0.name == name }))
        }

        private func create(_ id: Int64, author: String = "ada") throws -> SyncOperation {
            .create(node(id), [try path("author"): .text(author)])
        }

        private func link(_ id: Int64, to target: Int64, _ kind: Kind) throws -> SyncOperation {
            let (path, target) = (try path(kind.rawValue), SyncValue.link(node(target)))
            return switch kind {
            case .next: .update(node(id), [path: target])
            case .list: .insertElement(node(id), path, try #require(ListPosition([1])), target)
            case .set: .insertMember(node(id), path, target)
            case .map: .setEntry(node(id), path, key: "k", target)
            }
        }

        private func store(_ number: UInt64, _ operations: [SyncOperation]) throws -> [RevertedObject] {
            // The service replaces a time in the future by its own time. So the upload wins against earlier SQL.
            let upload = ClientMessage.Upload(
                number: number, base: SyncCursor(""), time: HybridTimestamp(milliseconds: 4_000_000_000_000 + number),
                operations: operations)
            let outcome = try UploadWriter(catalog).store(upload, of: client, claims: #"{"sub":"ada"}"#, in: service)
            guard case .stored(let reverted) = outcome else {
                Issue.record("\(outcome)")
                return []
            }
            return reverted
        }

        private func nodes(_ condition: String = "true") throws -> [Int64] {
            try session.query("SELECT id FROM node WHERE \(condition) ORDER BY id").rows.map { try $0.bigint(0) }
        }

        @Test("all objects in a long chain of links to a missing object are reverted, and other objects are stored Y13")
        func longChain() throws {
            try session.execute("INSERT INTO node (id, author) VALUES (500, 'ada'), (501, 'ada')")
            var operations: [SyncOperation] = []
            for id in 1...100 as ClosedRange<Int64> {
                let kind = Kind.allCases[Int(id) % 4]
                operations += [try create(id), try link(id, to: id + 1, kind)]
            }
            // The object 500 exists. Only its change is reverted, so the object 202 may link to it.
            operations += [
                try link(500, to: 1, .next), try create(202), try link(202, to: 500, .list), try create(203),
                try link(203, to: 202, .set), try link(501, to: 203, .next),
            ]
            let reverted = try store(1, operations)
            #expect(Set(reverted.map(\.address)) == Set((Array(1...100) + [500]).map { node(Int64($0)) }))
            #expect(try nodes() == [202, 203, 500, 501])
            #expect(try nodes("next = 203") == [501])
        }

        @Test(
            "a link to an object that the user cannot read is reverted like a link to a missing object Y29",
            arguments: Kind.allCases)
        func hiddenTarget(_ kind: Kind) throws {
            try session.execute("INSERT INTO node (id, author) VALUES (7, 'ben')")
            let messages = try ([77, 7] as [Int64]).enumerated().map { number, target in
                let reverted = try store(
                    UInt64(number + 1), [try create(1), try link(1, to: target, kind), try create(2)])
                #expect(reverted.map(\.address) == [node(1)] && reverted.map(\.reason) == [.constraint])
                return reverted.first?.message
            }
            #expect(messages[0] == messages[1] && messages[0]?.contains("Node.\(kind.rawValue)") == true)
            #expect(try nodes() == [2, 7])
        }

        @Test("an upload may link to an object that it has created, even if the user cannot read the object Y29")
        func ownTarget() throws {
            let operations = try Kind.allCases.enumerated().flatMap { number, kind in
                [try create(Int64(number)), try link(Int64(number), to: 9, kind)]
            }
            #expect(try store(1, operations + [try create(9, author: "ben")]).isEmpty)
            #expect(try nodes() == [0, 1, 2, 3, 9])
            #expect(try nodes("next = 9") == [0])
        }

        @Test("the service checks only links that the upload writes, and no links in AnyRealmValue properties Y29")
        func otherLinks() throws {
            try session.execute(
                """
                INSERT INTO node (id, author) VALUES (7, 'ben');
                INSERT INTO node (id, author, next) VALUES (1, 'ada', 7);
                INSERT INTO node_list (owner, value) VALUES (1, 7)
                """)
            let anything = try path("anything")
            let reverted = try store(
                1,
                [
                    .update(node(1), [anything: .link(node(7))]), try create(2),
                    .update(node(2), [anything: .link(node(77))]), try create(3), try link(3, to: 77, .next),
                ])
            #expect(reverted.map(\.address) == [node(3)])
            #expect(try nodes("anything IS NOT NULL AND anything <> 'null'") == [1, 2])
        }

        @Test("if an upload writes a link and then deletes its target, the link becomes nil; nothing is reverted")
        func deletedTarget() throws {
            try session.execute("INSERT INTO node (id, author) VALUES (5, 'ada')")
            let operations = [
                try create(1), try link(1, to: 5, .next), try link(1, to: 5, .list), .delete(node(5)), try create(6),
                try link(1, to: 6, .set), .delete(node(6)),
            ]
            #expect(try store(1, operations).isEmpty)
            #expect(try nodes() == [1])
            // If the upload deletes the target before it writes the link, the link leads to a missing object.
            let reverted = try store(2, [try create(8), .delete(node(8)), try link(1, to: 8, .next), try create(9)])
            #expect(reverted.map(\.address) == [node(1)])
            #expect(try nodes() == [1, 9])
        }
    }
#endif
