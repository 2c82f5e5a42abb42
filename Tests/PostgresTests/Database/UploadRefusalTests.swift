#if Postgres
    import MartletSyncProtocol
    import MartletSyncService
    import Testing

    @Suite("PostgreSQL: refused objects of uploads", .needsPostgres)
    struct UploadRefusalTests {
        @Test("many objects with a refused later operation are reverted, and other objects are stored Y13")
        func manyLaterRefusals() throws {
            let sample = try SampleDatabase()
            let client = try UploadingClient(sample)
            let ids = 1...60 as ClosedRange<Int64>
            var operations: [SyncOperation] = try ids.map {
                .create(sample.dog($0), try sample.values(["chipNumber": .text("c\($0)")]))
            }
            operations += try ids.filter { $0 % 2 == 0 }.map {
                .update(sample.dog($0), try sample.values(["size": .text("huge")]))
            }
            // The chip number of dog 2 is free again, because dog 2 is reverted.
            operations.append(.create(sample.dog(100), try sample.values(["chipNumber": .text("c2")])))
            let reasons = try #require(UploadingClient.reasons(try client.store(operations)))
            #expect(Set(reasons.keys) == Set(ids.filter { $0 % 2 == 0 }.map(sample.dog)))
            #expect(try sample.count("dog") == 31)
        }
    }
#endif
