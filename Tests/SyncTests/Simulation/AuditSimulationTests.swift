import MartletEngine
import MartletSQLite
import MartletSyncProtocol
import MartletSyncService
import MartletValues
import Testing

@testable import MartletSync

/// Audits in the simulation. The programs of `SimulationTests` also contain audits, but these must find no differences.
@Suite("audits in the simulation")
struct AuditSimulationTests {
    @Test("audits of correct runs compare rows, and find no differences", arguments: [Simulation.Kind.values, .files])
    func correct(_ kind: Simulation.Kind) throws {
        var rows: UInt64 = 0
        for seed in 1...(kind == .values ? 100 : 20) as ClosedRange<UInt64> {
            var simulation = try Simulation(seed: seed, kind, bug: nil)
            simulation.steps(150)
            simulation.deliverEverything()
            simulation.auditAll()
            #expect(simulation.failure == nil, "seed \(seed)")
            let results = simulation.server.audits.suffix(simulation.clients.count)
            #expect(results.allSatisfy { $0.differences == [] || $0.differences == nil })
            rows += results.reduce(0) { $0 + $1.rowCount }
        }
        #expect(rows > 20)
    }

    @Test("an audit finds and repairs each row that was changed, removed or added without the engine")
    func corruption() throws {
        var found = [0, 0, 0]
        for seed in 1...60 as ClosedRange<UInt64> {
            var simulation = try Simulation(seed: seed, .files, bug: nil)
            simulation.steps(120)
            simulation.deliverEverything()
            try #require(simulation.failure == nil, "seed \(seed)")
            simulation.server.damage = ModelDamage(seed: seed)
            let kind = Int(seed % 3)
            guard let client = simulation.clients.first, let file = client.file as? StoreFile,
                try Self.corrupt(file.file, kind)
            else { continue }
            client.checksCommits = false
            found[kind] += 1
            try simulation.expectRepair(isDamaged: [true, false], "seed \(seed), corruption \(kind)")
        }
        #expect(found.allSatisfy { $0 >= 5 }, "\(found)")
    }

    @Test("an audit finds and repairs the clients to which the service did not send a change")
    func lostEntries() throws {
        var (damagedCount, foundCount) = (0, 0)
        for seed in 1...60 as ClosedRange<UInt64> {
            var simulation = try Simulation(seed: seed, .files, bug: nil)
            for client in simulation.clients { client.subscribe(simulation.queries(), simulation.server) }
            simulation.steps(60)
            let damage = ModelDamage(seed: seed)
            simulation.server.damage = damage
            for client in simulation.clients { client.checksCommits = false }
            damage.losesEntries = true
            simulation.steps(80)
            damage.losesEntries = false
            simulation.deliverEverything()
            try #require(simulation.failure == nil, "seed \(seed)")
            let isDamaged = try simulation.clients.map { try $0.differs(from: simulation.server) }
            damagedCount += isDamaged.count { $0 }
            try simulation.expectRepair(isDamaged: isDamaged, "seed \(seed)")
            // The random programs also contain audits. These have repaired other differences before.
            foundCount += simulation.server.audits.count { $0.differences?.isEmpty == false }
        }
        #expect(damagedCount > 3 && foundCount > 5, "\(damagedCount), \(foundCount)")
    }

    // Changes the tables of a file without the engine. Returns false if the file has no rows.
    private static func corrupt(_ file: SyncedFile, _ kind: Int) throws -> Bool {
        try file.execute { connection, schema in
            guard let layout = schema["Item"]?.layout,
                let key = try connection.integer("SELECT max(\(layout.keyColumn)) FROM \(layout.table)")
            else { return false }
            switch kind {
            case 0: try connection.run("UPDATE \(layout.table) SET \"count\" = \"count\" + 1 WHERE id = \(key)")
            case 1: try connection.run("DELETE FROM \(layout.table) WHERE id = \(key)")
            default:
                let columns = layout.columns.map { column in
                    column.name == layout.keyColumn
                        ? "\(key + 100)"
                        : ["INTEGER", "TEXT"].contains(column.sqlType)
                            && !["\"owner\"", "\"parent\""].contains(column.name)
                            ? column.name : "NULL"
                }
                let embedded = ["\"place\"", "\"stop\""]
                let values = zip(layout.columns, columns).map { embedded.contains($0.name) ? "NULL" : $1 }
                try connection.run(
                    """
                    INSERT INTO \(layout.table) (\(layout.columns.map(\.name).joined(separator: ", ")))
                    SELECT \(values.joined(separator: ", ")) FROM \(layout.table) WHERE id = \(key)
                    """)
            }
            return true
        }
    }
}

extension Simulation {
    /// Audits all clients. All messages must be delivered.
    mutating func auditAll() {
        for client in clients { client.audit() }
        deliverEverything()
    }

    // Audits the clients after all messages were delivered. Expects that audits find and repair the damaged clients.
    fileprivate mutating func expectRepair(isDamaged: [Bool], _ comment: Comment) throws {
        let known = server.audits.count
        auditAll()
        let results = server.audits.dropFirst(known)
        #expect(results.count == clients.count, comment)
        for (result, isDamaged) in zip(results, isDamaged) where isDamaged {
            #expect(result.differences?.isEmpty == false, comment)
        }
        server.damage = nil
        auditAll()
        #expect(
            server.audits.suffix(clients.count).allSatisfy { $0.differences == [] || $0.differences == nil }, comment)
        for client in clients { client.checkAtRest(server) }
        #expect(failure == nil, comment)
    }
}

extension ModelClient {
    /// Whether the objects in the file differ from those of the server.
    fileprivate func differs(from server: ModelServer) throws -> Bool {
        let (stored, rows) = (try file.load(), try file.objects())
        let expected = server.rows.filter { ModelServiceSession.matches(stored.wanted.queries, $0.key, $0.value) }
        return rows != expected.mapValues { $0.mapValues { $0.shown { expected[$0] != nil } }.normalized }
    }
}

extension SyncedFile {
    /// Runs statements in a transaction that the engine does not record.
    fileprivate func execute(_ body: (StoreConnection, DatabaseSchema) throws -> Bool) throws -> Bool {
        let store = try opened
        let isChanged = try store.write { transaction in
            try transaction.handle.read { try body($0, store.coordinator.schema) }
        }
        // The changes are missing in the copy of the objects that checks change sets. Reopening updates the copy.
        try reopen()
        return isChanged ?? false
    }
}
