#if Sync
    import FlightsModels
    import Foundation
    import Martlet
    import MartletPostgres
    import MartletSync
    import MartletSyncProtocol
    import MartletValues
    import Synchronization

    /// The measurements. Each returns its figures.
    struct Measurements: Sendable {
        let settings: Settings

        func bare(_ arguments: [String]) throws -> Double {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: settings.bare)
            process.arguments = arguments
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            guard process.terminationStatus == 0, let number = Double(text) else {
                throw Failure("the C program failed: \(arguments)")
            }
            return number
        }

        // MARK: Bootstrap

        /// Loads all flights, with the airlines, airports and planes to which they link, into the file of a Realm.
        @MainActor
        func bootstrap() async throws -> [Figure] {
            let instance = try await Instance(settings)
            defer { instance.stop() }
            let realm = try await realm("bootstrap", instance)
            let start = ContinuousClock.now
            let airlines = try await realm.objects(Airline.self).subscribe(timeout: 600)
            let airports = try await realm.objects(Airport.self).subscribe(timeout: 600)
            let planes = try await realm.objects(Plane.self).subscribe(timeout: 600)
            let flights = try await realm.objects(Flight.self).subscribe(timeout: 600)
            let seconds = start.seconds
            let count = airlines.count + airports.count + planes.count + flights.count
            let bare = try bare(["bootstrap", settings.owner, settings.folder.appendingPathComponent("bare.db").path])
            return [
                Figure(
                    "bootstrap into the file of a client", Double(count) / seconds, "rows/s", target: "≥ 50,000",
                    bare: Double(flights.count) / bare)
            ]
        }

        @MainActor
        func realm(_ name: String, _ instance: Instance) async throws -> Realm {
            let file = settings.folder.appendingPathComponent("\(name).realm")
            var configuration = Realm.Configuration(fileURL: file)
            let token = instance.address.token
            configuration.syncConfiguration = SyncConfiguration(
                service: instance.address.url, user: SyncUser(id: "bench") { token },
                errorHandler: { print("error: \($0)") })
            return try await Realm(configuration: configuration)
        }

        // MARK: Uploads

        /// Transactions that change one property, from clients without a file.
        func uploads(_ count: Int, target: String) async throws -> [Figure] {
            let instance = try await Instance(settings)
            defer { instance.stop() }
            let (type, delay) = (try settings.flightType(), try settings.flightProperty("departureDelay"))
            let seconds = 10 * settings.scale
            let clients = try await connectedClients(count, instance) { number in
                [try settings.flights(number * 1_000 + 1..<(number + 1) * 1_000)]
            }
            let start = ContinuousClock.now
            let total = try await withThrowingTaskGroup(of: Int.self) { group in
                for (number, client) in clients.enumerated() {
                    group.addTask {
                        try await client.upload(seconds: seconds, inFlight: 64) { upload in
                            let id = number * 1_000 + 1 + upload % 999
                            let address = ObjectAddress(type: type, key: .integer(Int64(id)))
                            return [.update(address, [delay: .scalar(.integer(Int64(upload)))])]
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
            let rate = Double(total) / max(seconds, min(start.seconds, seconds * 1.2))
            for client in clients { await client.disconnect() }
            let bare = try bare(["upload", settings.owner, "\(count)", "\(seconds)"])
            return [Figure("uploads from \(count) client(s)", rate, "transactions/s", target: target, bare: bare)]
        }

        /// Transactions of one Realm that change one property. Each is durable in the file before the next one begins.
        @MainActor
        func realmUploads() async throws -> [Figure] {
            let instance = try await Instance(settings)
            defer { instance.stop() }
            let realm = try await realm("uploads", instance)
            guard let session = realm.syncSession else { throw Failure("the Realm is not synchronized") }
            let flights = try await realm.objects(Flight.self).where { $0.id <= 1_000 }.subscribe(timeout: 60)
            let (start, seconds) = (ContinuousClock.now, 10 * settings.scale)
            var count = 0
            while start.seconds < seconds {
                try realm.write { flights[count % 1_000].departureDelay = count }
                count += 1
                await Task.yield()
            }
            try await session.wait(for: .upload, timeout: 300)
            return [
                Figure(
                    "writes of a Realm until all are uploaded", Double(count) / start.seconds, "transactions/s",
                    target: "≥ 350")
            ]
        }

        func connectedClients(
            _ count: Int, _ instance: Instance, received: @escaping @Sendable ([SyncRow]) -> Void = { _ in },
            _ queries: @escaping @Sendable (Int) throws -> [SubscribedQuery]
        ) async throws -> [LoadClient] {
            let clients = (0..<count).map { _ in LoadClient(received) }
            let address = instance.address
            try await forEach(clients, atOnce: 64) { number, client in
                try await client.connect(address)
                try await client.subscribe(try queries(number))
            }
            return clients
        }

        func forEach(
            _ clients: [LoadClient], atOnce: Int, _ body: @escaping @Sendable (Int, LoadClient) async throws -> Void
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, client) in clients.enumerated() {
                    if number >= atOnce { try await group.next() }
                    group.addTask { try await body(number, client) }
                }
                try await group.waitForAll()
            }
        }

        // MARK: Latency

        /// The time from an SQL commit until the observers of a Realm are called, with many connected clients. Each
        /// change concerns ten of them.
        @MainActor
        func latency() async throws -> [Figure] {
            let instance = try await Instance(settings)
            defer { instance.stop() }
            let groups = settings.scaled(100)
            let ids = 1..<groups * 100 + 1
            let arrivals = Arrivals(try settings.flightProperty("departureDelay"))
            let clients = try await connectedClients(groups * 10, instance, received: { arrivals.add($0) }) { number in
                let first = number / 10 * 100 + 1
                return [try settings.flights(first..<first + 100)]
            }
            let realm = try await realm("latency", instance)
            let flights = try await realm.objects(Flight.self).where { $0.id < ids.upperBound }.subscribe(timeout: 60)
            let observed = Arrivals(try settings.flightProperty("departureDelay"))
            let token = flights.observe { change in
                guard case .update(let flights, _, _, let modified) = change else { return }
                for position in modified { observed.add(flights[position].departureDelay ?? 0) }
            }
            let commits = try await SQLWriter(settings.owner).write(
                rowsPerTransaction: 1, transactionsPerSecond: 100, seconds: 30 * settings.scale, ids)
            try await Task.sleep(for: .seconds(1))
            token.invalidate()
            let (own, others) = (observed.latencies(commits), arrivals.latencies(commits))
            for client in clients { await client.disconnect() }
            let name = "SQL commit to the call of an observer, \(groups * 10) clients"
            return [
                Figure("\(name), median of \(own.count)", own.percentile(50), "ms", target: "≤ 15"),
                Figure("\(name), 99th percentile", own.percentile(99), "ms", target: "≤ 50"),
                Figure("SQL commit to the other clients, median of \(others.count)", others.percentile(50), "ms"),
                Figure("SQL commit to the other clients, 99th percentile", others.percentile(99), "ms"),
            ]
        }

        // MARK: Matching

        /// 5,000 changes a second in transactions of 50 rows. The changes concern the first 100 subscriptions.
        func matching(_ subscriptions: Int) async throws -> [Figure] {
            let instance = try await Instance(settings)
            defer { instance.stop() }
            let arrivals = Arrivals(try settings.flightProperty("departureDelay"))
            let clients = try await connectedClients(100, instance, received: { arrivals.add($0) }) { number in
                try (0..<subscriptions / 100).map { query in
                    let first = (query * 100 + number) * 30 + 1
                    return try settings.flights(first..<first + 30)
                }
            }
            let (start, cpu) = (ContinuousClock.now, try instance.cpu())
            let commits = try await SQLWriter(settings.owner).write(
                rowsPerTransaction: 50, transactionsPerSecond: 100, seconds: 20 * settings.scale, 1..<3_001)
            let written = start.seconds
            try await forEach(clients, atOnce: 100) { _, client in try await client.download() }
            let drained = start.seconds - written
            let used = try instance.cpu() - cpu
            let latencies = arrivals.latencies(commits)
            for client in clients { await client.disconnect() }
            let changes = Double(commits.count * 50)
            let name = "matching against \(subscriptions) subscriptions"
            return [
                Figure("\(name): changes", changes / (written + drained), "changes/s", target: "5,000"),
                Figure("\(name): latency, 99th percentile", latencies.percentile(99), "ms"),
                Figure("\(name): CPU time of the service", used / changes * 1e6, "µs/change"),
            ]
        }

        // MARK: Many connections

        func connections(isEncrypted: Bool) async throws -> [Figure] {
            let instance = try await Instance(settings, isEncrypted: isEncrypted)
            defer { instance.stop() }
            let count = settings.scaled(10_000)
            let before = try instance.memory()
            var start = ContinuousClock.now
            let clients = try await connectedClients(count, instance) { number in
                [try settings.flights(number * 30 + 1..<number * 30 + 31)]
            }
            let connecting = start.seconds
            let perConnection = Double(try instance.memory() - before) / Double(count) / 1_024
            var figures = [
                Figure(
                    "memory of an idle connection\(isEncrypted ? " with TLS" : ""), \(count) connections",
                    perConnection, "KB", target: isEncrypted ? "≤ 80" : "≤ 40"),
                Figure("   time to connect and load 30 rows each", connecting, "s"),
            ]
            if !isEncrypted {
                try await forEach(clients, atOnce: 1_000) { _, client in await client.disconnect() }
                // Ten minutes with 100 changes a second.
                _ = try await SQLWriter(settings.owner).write(
                    rowsPerTransaction: 50, transactionsPerSecond: 1_000, count: settings.scaled(1_200),
                    1..<count * 30 + 1)
                let chunks = try await chunks(clients)
                start = .now
                let address = instance.address
                try await forEach(clients, atOnce: 1_000) { _, client in
                    try await client.connect(address)
                    try await client.download()
                }
                figures.append(
                    Figure(
                        "\(count) clients reconnect after \(settings.scaled(1_200) * 50) changes", start.seconds, "s",
                        target: "≤ 60"))
                let loaded = try await self.chunks(clients) - chunks
                figures.append(Figure("   of which load their data again", Double(loaded), "clients", target: "0"))
            }
            try await forEach(clients, atOnce: 1_000) { _, client in await client.disconnect() }
            return figures
        }

        private func chunks(_ clients: [LoadClient]) async throws -> Int {
            var sum = 0
            for client in clients { sum += await client.chunks }
            return sum
        }
    }
#endif
