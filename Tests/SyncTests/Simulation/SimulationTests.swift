import Foundation
import MartletSyncProtocol
import MartletValues
import ModelTesting
import Testing

/// Clients, connections and the server in one deterministic simulation.
///
/// Connections break, clients crash, clocks are wrong by days, uploads are refused, and subscriptions change at any
/// moment. `MARTLET_SYNC` is the number of programs, `MARTLET_SYNC_SEED` the seed of the first one.
@Suite("simulation of synchronization")
struct SimulationTests {
    @Test("every client shows a server state plus its own writes, and all agree once everything is delivered")
    func random() {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["MARTLET_SYNC"].flatMap { UInt64($0) } ?? 400
        let first = environment["MARTLET_SYNC_SEED"].flatMap { UInt64($0) } ?? 1
        for seed in first..<first + count {
            if let failure = Simulation.run(seed) {
                Issue.record("seed \(seed): \(failure)")
                return
            }
        }
    }

    @Test("the simulation finds each bug of the service", arguments: SyncBug.allCases)
    func bugs(_ bug: SyncBug) {
        let seeds = 1...3_000 as ClosedRange<UInt64>
        #expect(seeds.contains { Simulation.run($0, bug) != nil }, "no program finds the bug")
    }
}

/// One random program.
struct Simulation {
    private var random: SeededRandom
    private let server: ModelServer
    private let clients: [ModelClient]
    private var now: UInt64 = 1_700_000_000_000

    private init(seed: UInt64, bug: SyncBug?) {
        random = SeededRandom(seed: seed)
        server = ModelServer(bug: bug)
        let day: Int64 = 86_400_000
        clients = [0, 3 * day, -2 * day].map { ModelClient(clockError: $0) }
    }

    private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func address() -> ObjectAddress {
        ObjectAddress(type: 0, key: .integer(Int64.random(in: 1...4, using: &random)))
    }

    // A created object has a value of each property.
    private mutating func values(isComplete: Bool = false) -> ModelValues {
        var values: ModelValues = [:]
        // Property 0 decides which subscriptions contain the object.
        if isComplete || chance(2) { values[ValuePath(0)] = .scalar(.integer(Int64.random(in: 0...2, using: &random))) }
        for property in 1...2 where isComplete || chance(2) {
            values[ValuePath(property)] = .scalar(.integer(Int64.random(in: 0...99, using: &random)))
        }
        return values
    }

    private mutating func operation() -> SyncOperation {
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: .create(address(), values(isComplete: true))
        case 2: .delete(address())
        default: .update(address(), values())
        }
    }

    /// Runs a program. Returns the first violation.
    static func run(_ seed: UInt64, _ bug: SyncBug? = nil) -> String? {
        var simulation = Simulation(seed: seed, bug: bug)
        return simulation.run()
    }

    private mutating func run() -> String? {
        for _ in 0..<150 {
            step(clients[Int.random(in: 0..<clients.count, using: &random)])
            if let failure = failure { return failure }
        }
        rest()
        return failure
    }

    private var failure: String? { server.failure ?? clients.lazy.compactMap(\.failure).first }

    private mutating func step(_ client: ModelClient) {
        now += UInt64.random(in: 0...2, using: &random)
        switch Int.random(in: 0..<28, using: &random) {
        case 20, 21: client.deliverLate(now)
        case 22..<27:
            let isRefused = chance(6)
            client.runTask(now, refuses: { _ in isRefused })
        case 27:
            // The service sends a cursor from time to time.
            now += chance(10) ? 100_000 : 0
            client.tick(now)
        case 0..<4: client.connect(server, splits: chance(2))
        case 4: client.disconnect()
        case 5..<8:
            var operations: [SyncOperation] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) { operations.append(operation()) }
            client.write(operations, now, server)
        case 8:
            var queries: [SubscribedQuery] = []
            for group in 0...2 as ClosedRange<UInt8> where chance(2) {
                queries.append(SubscribedQuery(type: 0, condition: [group]))
            }
            client.subscribe(queries, server)
        case 9, 10:
            let address = address()
            server.write(address, chance(4) ? nil : values(isComplete: server.rows[address] == nil))
        case 11: client.poll()
        case 12..<16: client.deliverToService()
        default: client.deliverToClient(now, crashes: chance(15), server)
        }
    }

    /// Connects all clients and delivers everything.
    private mutating func rest() {
        for _ in 0..<20 {
            for client in clients {
                client.connect(server, splits: false)
                while !client.isIdle, client.failure == nil {
                    client.deliverToService()
                    client.runTask(now, refuses: { _ in false })
                    client.deliverToClient(now, crashes: false, server)
                }
                client.poll()
            }
        }
        for client in clients where failure == nil { client.checkAtRest(server) }
    }
}
