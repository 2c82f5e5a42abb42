#if Sync
    import FlightsModels
    import Foundation
    import Martlet
    import MartletSync

    /// Demonstrates synchronization with three clients of two instances of the sync service. 'make sync-demo' runs this
    /// program.
    @main
    @MainActor
    struct SyncDemo {
        let environment: Environment
        let instances: [Instance]
        /// This client receives all flights of one airline. It is connected to the first instance.
        var board: Client
        /// This client receives one airport and its weather. It is connected to the second instance.
        var tower: Client
        /// This client receives the notes of a passenger, and 100 flights. It is connected to the second instance.
        var passenger: Client
        let carrier: String

        static func main() async {
            do {
                try await run()
            } catch {
                print("error: \(error)")
                exit(1)
            }
        }

        private static func run() async throws {
            let environment = try Environment()
            let port = Int.random(in: 20_000..<60_000)
            let instances = try [port, port + 1].map { try Instance(environment, port: $0) }
            defer { for instance in instances { instance.stop() } }
            var demo = try await SyncDemo(environment, instances)
            try await demo.run()
        }

        private init(_ environment: Environment, _ instances: [Instance]) async throws {
            (self.environment, self.instances) = (environment, instances)
            let largest = try environment.sql(
                "SELECT carrier FROM flight GROUP BY carrier ORDER BY count(*) DESC, carrier LIMIT 1")
            carrier = largest.first ?? "UA"
            board = try await Client("board", user: "ada", environment, instances[0])
            tower = try await Client("tower", user: "ben", environment, instances[1])
            passenger = try await Client("passenger", user: "cleo", environment, instances[1])
        }

        private mutating func run() async throws {
            try await bootstrap()
            try await sqlUpdate()
            try await offlineEdit()
            try await conflict()
            try await refusedWrite()
            try await crashes()
            try await unsubscribe()
            try await compare()
            print("\ndone")
        }

        private func title(_ text: String) {
            print("\n== \(text)")
            // If the output is a pipe, it is buffered. Without this call, all lines would appear when the demo ends.
            fflush(nil)
        }

        // MARK: Steps

        private func bootstrap() async throws {
            title("three clients subscribe")
            let carrier = carrier
            let progress = Task { [session = board.session] in
                for await part in session.downloadProgress where part > 0 && part < 1 {
                    print("   board: \(Int(part * 100)) % received")
                }
            }
            let clock = ContinuousClock()
            let start = clock.now
            let flights = try await board.realm.objects(Flight.self).filter("carrier.carrier == %@", carrier)
                .subscribe(name: "flights of \(carrier)", timeout: 300)
            _ = try await board.realm.objects(Airline.self).subscribe(timeout: 60)
            progress.cancel()
            let time = start.duration(to: clock.now)
            print(
                "   board: \(flights.count) flights of '\(carrier)' in \(time.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1))))"
            )

            _ = try await tower.realm.objects(Airport.self).where { $0.faa == "EWR" }.subscribe(timeout: 60)
            let weather = try await tower.realm.objects(Weather.self).where { $0.originCode == "EWR" }
                .subscribe(timeout: 300)
            print(
                "   tower: \(weather.count) hours of weather at EWR, \(weather.filter("origin != nil").count) linked to it"
            )

            _ = try await passenger.realm.objects(Note.self).subscribe(timeout: 60)
            _ = try await passenger.realm.objects(Flight.self).where { $0.id <= 100 }.subscribe(timeout: 60)
            print(
                "   passenger: \(passenger.realm.objects(Note.self).count) notes, \(passenger.realm.objects(Flight.self).count) flights"
            )
        }

        private func sqlUpdate() async throws {
            title("an SQL update reaches an observer")
            let flights = board.realm.objects(Flight.self).sorted(byKeyPath: "id")
            let (changes, continuation) = AsyncStream.makeStream(of: (Int, Int).self)
            let token = flights.observe { change in
                guard case .update(_, let deleted, let inserted, let modified) = change else { return }
                continuation.yield((modified.first ?? -1, modified.count + deleted.count + inserted.count))
            }
            try await Task.sleep(for: .milliseconds(200))
            let id = flights[flights.count / 2].id
            let clock = ContinuousClock()
            let start = clock.now
            try environment.sql("UPDATE flight SET departure_delay = 77 WHERE id = \(id)")
            var iterator = changes.makeAsyncIterator()
            guard let (position, count) = await iterator.next() else { throw Failure("the observer was not called") }
            token.invalidate()
            print(
                "   observer: \(count) change, the flight at position \(position) now has a delay of \(flights[position].departureDelay ?? 0) minutes"
            )
            print(
                "   from the start of 'psql' to the observer: \(start.duration(to: clock.now).formatted(.units(allowed: [.milliseconds])))"
            )
        }

        private func offlineEdit() async throws {
            title("a client writes without a connection")
            passenger.session.suspend()
            let realm = passenger.realm
            let flight = realm.objects(Flight.self).first
            try realm.write {
                for text in ["window seat", "meal was cold"] {
                    realm.add(Note(owner: "cleo", text: text, flight: flight))
                }
            }
            print("   offline: \(realm.objects(Note.self).count) notes in the file, \(try count("note")) in PostgreSQL")
            passenger.session.resume()
            try await passenger.session.wait(for: .upload, timeout: 30)
            print("   connected: \(try count("note")) notes in PostgreSQL")
        }

        private func conflict() async throws {
            title("two clients change one flight while one of them is offline")
            guard
                let flight = passenger.realm.objects(Flight.self).filter("carrier.carrier == %@ OR id <= 100", carrier)
                    .first,
                let shared = try environment.sql(
                    "SELECT id FROM flight WHERE id <= 100 AND carrier = '\(carrier)' ORDER BY id LIMIT 1"
                ).first.flatMap({ Int($0) })
            else { throw Failure("there is no flight that both clients have") }
            _ = flight
            passenger.session.suspend()
            guard let mine = passenger.realm.object(ofType: Flight.self, forPrimaryKey: shared),
                let theirs = board.realm.object(ofType: Flight.self, forPrimaryKey: shared)
            else { throw Failure("a client does not have the flight \(shared)") }
            try passenger.realm.write {
                mine.departureDelay = 10
                mine.airTime = 111
            }
            try await Task.sleep(for: .milliseconds(50))
            try board.realm.write { theirs.departureDelay = 20 }
            try await board.session.wait(for: .upload, timeout: 30)
            passenger.session.resume()
            try await passenger.session.wait(for: .upload, timeout: 30)
            for client in [board, passenger] { try await client.session.wait(for: .download, timeout: 30) }
            board.realm.refresh()
            passenger.realm.refresh()
            print(
                "   the delay is \(mine.departureDelay ?? 0) and \(theirs.departureDelay ?? 0): both clients have the later write, that of 'board'"
            )
            print(
                "   the air time is \(mine.airTime ?? 0) and \(theirs.airTime ?? 0): only 'passenger' has written it")
        }

        private func refusedWrite() async throws {
            title("a write that the rules do not permit")
            let realm = passenger.realm
            try realm.write { realm.add(Note(owner: "ben", text: "not my note")) }
            try await passenger.session.wait(for: .upload, timeout: 30)
            let error = try await passenger.nextError(.writesReverted)
            realm.refresh()
            for write in error.compensatingWriteInfo { print("   reverted: a '\(write.objectType)': \(write.reason)") }
            print("   the file has \(realm.objects(Note.self).count) notes again")
        }

        private func crashes() async throws {
            title("kill -9 of an instance and of PostgreSQL")
            instances[0].kill()
            for id in board.realm.objects(Flight.self).prefix(5).map(\.id) {
                try board.realm.write { board.realm.object(ofType: Flight.self, forPrimaryKey: id)?.distance += 1 }
            }
            try environment.sql("UPDATE flight SET air_time = 200 WHERE id <= 3")
            print("   killed the instance of 'board'; then 'board' changed 5 flights without a connection")
            try environment.run("bash", [environment.crash])
            try instances[0].start()
            print("   killed PostgreSQL, and started PostgreSQL and the instance again")
            for client in [board, tower, passenger] {
                client.session.reconnect()
                try await client.session.wait(for: .upload, timeout: 120)
                try await client.session.wait(for: .download, timeout: 120)
            }
            print("   all clients are up to date")
        }

        private func unsubscribe() async throws {
            title("a subscription ends")
            let realm = tower.realm
            let before = realm.objects(Weather.self).count
            realm.objects(Weather.self).where { $0.originCode == "EWR" }.unsubscribe()
            try await tower.session.wait(for: .download, timeout: 60)
            realm.refresh()
            print(
                "   tower: \(before) hours of weather before, \(realm.objects(Weather.self).count) after; PostgreSQL has \(try count("weather"))"
            )
            _ = try await realm.objects(Weather.self).where { $0.originCode == "EWR" }.subscribe(timeout: 300)
        }

        // MARK: Comparison

        private func count(_ table: String) throws -> Int {
            Int(try environment.sql("SELECT count(*) FROM \(table)").first ?? "") ?? -1
        }

        private func compare() async throws {
            title("every client compared with PostgreSQL, row by row")
            for client in [board, tower, passenger] {
                try await client.session.wait(for: .upload, timeout: 60)
                try await client.session.wait(for: .download, timeout: 60)
                client.realm.refresh()
            }
            try compare("board", flights: board.realm, "carrier = '\(carrier)'")
            try compare("passenger", flights: passenger.realm, "id <= 100")
            let weather = tower.realm.objects(Weather.self).sorted(byKeyPath: "id").map {
                "\($0.id)|\($0.origin?.faa ?? "")|\($0.windDirection.map(String.init) ?? "")|\(Int($0.time.timeIntervalSince1970))"
            }
            try compare(
                "tower", "weather", Array(weather),
                "SELECT id, origin, wind_direction, extract(epoch FROM time)::bigint FROM weather WHERE origin_code = 'EWR' ORDER BY id"
            )
            let notes = passenger.realm.objects(Note.self).map {
                "\($0.id.uuidString.lowercased())|\($0.owner)|\($0.text)|\($0.flight.map { String($0.id) } ?? "")"
            }.sorted()
            try compare(
                "passenger", "notes", notes, "SELECT id, owner, text, flight FROM note WHERE owner = 'cleo' ORDER BY id"
            )
        }

        private func compare(_ name: String, flights realm: Realm, _ condition: String) throws {
            let known = Set(realm.objects(Airline.self).map(\.carrier))
            let rows = realm.objects(Flight.self).sorted(byKeyPath: "id").map { flight -> String in
                func text(_ value: Int?) -> String { value.map(String.init) ?? "" }
                return [
                    String(flight.id), String(Int(flight.scheduledDeparture.timeIntervalSince1970)),
                    text(flight.departureDelay), text(flight.arrivalDelay),
                    known.isEmpty ? "" : flight.carrier?.carrier ?? "",
                    String(flight.number), flight.tailNumber ?? "", flight.destinationCode, text(flight.airTime),
                    String(flight.distance),
                ].joined(separator: "|")
            }
            let carrier = known.isEmpty ? "NULL" : "carrier"
            try compare(
                name, "flights", Array(rows),
                "SELECT id, extract(epoch FROM scheduled_departure)::bigint, departure_delay, arrival_delay, \(carrier), number, "
                    + "tail_number, destination_code, air_time, distance FROM flight WHERE \(condition) ORDER BY id")
        }

        private func compare(_ client: String, _ what: String, _ rows: [String], _ query: String) throws {
            let expected = try environment.sql(query)
            guard rows == expected else {
                let first = zip(rows, expected).first { $0 != $1 }
                throw Failure(
                    "\(client): \(rows.count) \(what), PostgreSQL has \(expected.count); the first difference is \(first.map { "'\($0)' and '\($1)'" } ?? "the number")"
                )
            }
            print("   \(client): \(rows.count) \(what) are equal")
        }
    }

    /// A client of the sync service: a synchronized Realm, its session, and the errors that the session has reported.
    @MainActor
    struct Client {
        let realm: Realm
        let session: SyncSession
        private let errors: AsyncStream<SyncError>

        init(_ name: String, user: String, _ environment: Environment, _ instance: Instance) async throws {
            let (errors, continuation) = AsyncStream.makeStream(of: SyncError.self)
            self.errors = errors
            var configuration = Realm.Configuration(fileURL: environment.folder.appendingPathComponent("\(name).realm"))
            let secret = environment.secret
            configuration.syncConfiguration = SyncConfiguration(
                service: instance.url, user: SyncUser(id: user) { token(user: user, secret: secret) },
                errorHandler: { continuation.yield($0) })
            realm = try await Realm(configuration: configuration)
            guard let session = realm.syncSession else { throw Failure("the Realm is not synchronized") }
            self.session = session
        }

        /// Waits for the next reported error with the given code.
        func nextError(_ code: SyncError.Code) async throws -> SyncError {
            for await error in errors where error.code == code { return error }
            throw CancellationError()
        }
    }
#else
    @main
    struct SyncDemo {
        static func main() { print("run 'make sync-demo'") }
    }
#endif
