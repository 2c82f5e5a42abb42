import Foundation
import MartletSyncProtocol
import MartletValues
import ModelTesting
import Testing

/// Runs random programs in a deterministic simulation of clients, connections and the server.
///
/// Connections break, clients crash, clocks are wrong by days, uploads are refused, and subscriptions change at any
/// moment. `MARTLET_SYNC` is the number of programs, and `MARTLET_SYNC_SEED` is the seed of the first program.
@Suite("simulation of synchronization")
struct SimulationTests {
    @Test("each client shows a state of the server plus its own writes, and finally the last state of the server")
    func random() { search(.values, 400) }

    @Test("clients with files of the engine pass the same checks, and their observers get exact changes")
    func files() { search(.files, 40) }

    private func search(_ kind: Simulation.Kind, _ usual: UInt64) {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["MARTLET_SYNC"].flatMap { UInt64($0) } ?? usual
        let first = environment["MARTLET_SYNC_SEED"].flatMap { UInt64($0) } ?? 1
        for seed in first..<first + count {
            if let failure = Simulation.run(seed, kind) {
                Issue.record("seed \(seed): \(failure)")
                return
            }
        }
    }

    @Test("the simulation finds each bug of the service", arguments: SyncBug.allCases)
    func bugs(_ bug: SyncBug) {
        let seeds = 1...3_000 as ClosedRange<UInt64>
        #expect(seeds.contains { Simulation.run($0, .values, bug) != nil }, "no program finds the bug")
    }
}

/// One random program.
struct Simulation {
    enum Kind {
        /// Three clients with files in memory. Objects have three numbers, a counter and collections.
        case values
        /// Two clients with files of the engine, with links, embedded objects and cascading deletions.
        case files
    }

    var random: SeededRandom
    let kind: Kind
    let server: ModelServer
    let clients: [ModelClient]
    private var now: UInt64 = 1_700_000_000_000

    init(seed: UInt64, _ kind: Kind, bug: SyncBug?) throws {
        random = SeededRandom(seed: seed)
        self.kind = kind
        server = ModelServer(bug: bug, kind)
        let day: Int64 = 86_400_000
        let errors = kind == .values ? [0, 3 * day, -2 * day] : [0, 3 * day]
        clients = try errors.enumerated().map { number, error in
            try ModelClient(kind == .values ? ModelFile(UInt64(number)) : StoreFile(), clockError: error)
        }
    }

    mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    mutating func number(_ range: ClosedRange<Int64>) -> SyncValue {
        .scalar(.integer(Int64.random(in: range, using: &random)))
    }

    // MARK: Objects

    mutating func owner() -> ObjectAddress {
        Sample.owner(["a", "b", "c"][Int.random(in: 0..<3, using: &random)])
    }

    private mutating func address() -> ObjectAddress {
        if kind == .files, chance(3) { return owner() }
        if kind == .files, chance(12) { return Sample.report(Int64.random(in: 1...3, using: &random)) }
        return ObjectAddress(type: 0, key: .integer(Int64.random(in: 1...4, using: &random)))
    }

    private mutating func link() -> SyncValue { chance(3) ? .null : .link(owner()) }

    // Returns random values of some properties. With `isComplete`, as for a new object, returns all required values.
    private mutating func values(of address: ObjectAddress, isComplete: Bool = false) -> ModelValues {
        var values: ModelValues = [:]
        // Property 0 decides which subscriptions contain the object.
        if isComplete || chance(2) { values[ValuePath(0)] = number(0...2) }
        guard kind == .files else {
            for property in 1...2 where isComplete || chance(2) { values[ValuePath(property)] = number(0...99) }
            if isComplete { values[ValuePath(Sample.plainVotes)] = number(0...9) }
            return values
        }
        if address.type == Sample.report(0).type {
            values[ValuePath(0)] = Sample.text("fault")
            if chance(2) { values[ValuePath(2)] = .embedded([number(0...9)]) }
            return values
        }
        if address.type == 1 {
            if isComplete || chance(2) { values[ValuePath(Sample.boss)] = link() }
            return values
        }
        if isComplete { values[ValuePath(Sample.votes)] = number(0...9) }
        for property in [
            Sample.count, Sample.text, Sample.owner, Sample.parent, Sample.place, Sample.weight, Sample.extra,
            Sample.stop,
        ]
        where isComplete || chance(3) { values[ValuePath(property)] = value(of: property) }
        return values
    }

    private mutating func value(of property: Int) -> SyncValue {
        switch property {
        case Sample.count: number(0...3)
        case Sample.text: Sample.text(["", "x", "é\u{1F600}"][Int.random(in: 0..<3, using: &random)])
        case Sample.owner, Sample.parent: link()
        case Sample.place: chance(3) ? .null : place()
        case Sample.extra: anyValue()
        case Sample.stop: chance(3) ? .null : stop()
        default: .scalar(chance(2) ? .real(.nan) : .real(-0.0))
        }
    }

    // The value contains at most one link. With several links, the file might show only some of them, and `agrees` does
    // not support this.
    private mutating func anyValue() -> SyncValue {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: .null
        case 1: number(0...3)
        case 2: link()
        case 3: .list([number(0...3), link(), Sample.text("x")])
        default:
            .map([MapEntry(key: "a", value: .list([number(0...3)])), MapEntry(key: "b", value: link())])
        }
    }

    private mutating func place() -> SyncValue {
        let inner: SyncValue = chance(2) ? .null : .embedded([number(0...9)])
        return .embedded([number(0...9), Sample.text("p"), link(), inner])
    }

    private mutating func operation() -> SyncOperation {
        let address = address()
        if address.type == 0, chance(3) { return elementOperation(address) }
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1: return .create(address, values(of: address, isComplete: true))
        case 2: return .delete(address)
        case 3 where kind == .files && address.type == 0:
            if chance(2) { return changeInsideStop(address) }
            let path: [Int] = chance(2) ? [Sample.place, 0] : [Sample.place, 3, 0]
            return .update(address, [ValuePath(path): number(0...9)])
        case 4,
            5 where address.type == 0:
            let amount = Int64.random(in: -3...3, using: &random)
            return .add(address, ValuePath(kind == .files ? Sample.votes : Sample.plainVotes), amount)
        default: return .update(address, values(of: address))
        }
    }

    private mutating func operations() -> [SyncOperation] {
        var operations: [SyncOperation] = []
        if kind == .files, chance(10) {
            // Deletes an object and creates it again. Then another object gets a link to this object.
            let (target, holder) = (owner(), Sample.item(Int64.random(in: 1...4, using: &random)))
            operations = [
                .delete(target), .create(target, values(of: target, isComplete: true)),
                .update(holder, [ValuePath(chance(2) ? Sample.owner : Sample.parent): .link(target)]),
            ]
            if chance(2), let position = ListPosition([1]) {
                operations.append(.insertElement(holder, ValuePath(Sample.owners), position, .link(target)))
            }
        }
        if kind == .files, chance(4) {
            // Adds a link to a list. The same write creates the target, so the client sees the target.
            let (target, holder) = (owner(), Sample.item(Int64.random(in: 1...4, using: &random)))
            let position = ListPosition.between(nil, nil, client: UInt64.random(in: 0...9, using: &random))[0]
            operations += [
                .create(target, values(of: target, isComplete: true)),
                .insertElement(holder, ValuePath(Sample.owners), position, .link(target)),
            ]
        }
        for _ in 0..<Int.random(in: 1...3, using: &random) { operations.append(operation()) }
        return operations
    }

    mutating func queries() -> [SubscribedQuery] {
        var queries: [SubscribedQuery] = []
        for type in 0...(kind == .files ? 1 : 0) {
            for group in 0...2 as ClosedRange<UInt8> where chance(2) {
                queries.append(SubscribedQuery(type: type, condition: [group]))
            }
        }
        return queries
    }

    // MARK: Steps

    /// Runs a random program. Returns the first failure of a check; nil if there is none.
    static func run(_ seed: UInt64, _ kind: Kind, _ bug: SyncBug? = nil) -> String? {
        do {
            var simulation = try Simulation(seed: seed, kind, bug: bug)
            return simulation.run()
        } catch {
            return "\(error)"
        }
    }

    private mutating func run() -> String? {
        steps(150)
        deliverEverything()
        for client in clients where failure == nil { client.checkAtRest(server) }
        return failure
    }

    mutating func steps(_ count: Int) {
        for _ in 0..<count where failure == nil { step(clients[Int.random(in: 0..<clients.count, using: &random)]) }
    }

    var failure: String? { server.failure ?? clients.lazy.compactMap(\.failure).first }

    private mutating func step(_ client: ModelClient) {
        now += UInt64.random(in: 0...2, using: &random)
        switch Int.random(in: 0..<29, using: &random) {
        case 20, 21: client.deliverLate(now)
        case 22..<27:
            let isRefused = chance(6)
            client.runTask(now, server, refuses: { _ in isRefused })
        case 27:
            // Sometimes advances the clock so far that the service sends a cursor.
            now += chance(10) ? 100_000 : 0
            client.tick(now)
        case 28: client.audit()
        case 0..<4: client.connect(server, splits: chance(2))
        case 4: if kind == .files, chance(2) { client.crash() } else { client.disconnect() }
        case 5..<8: client.write(operations(), now, server, isCancelled: kind == .files && chance(6))
        case 8: client.subscribe(queries(), server)
        case 9, 10:
            var address = address()
            // Other applications do not write reports.
            while address.type == Sample.report(0).type { address = self.address() }
            let isDeleted = chance(4)
            server.write(
                address, isDeleted ? nil : values(of: address, isComplete: server.rows[address] == nil))
        case 11:
            if chance(2) { changeElement() }
            client.poll()
        case 12..<16: client.deliverToService()
        default: client.deliverToClient(now, event(), server)
        }
    }

    private mutating func event() -> ModelClient.Event {
        if chance(15) { return .crash }
        return kind == .files && chance(8) ? .write(operations()) : .none
    }

    /// Connects all clients, and delivers all messages.
    mutating func deliverEverything() {
        for _ in 0..<20 {
            for client in clients {
                client.connect(server, splits: false)
                while !client.isIdle, client.failure == nil {
                    client.deliverToService()
                    client.runTask(now, server, refuses: { _ in false })
                    client.deliverToClient(now, .none, server)
                }
                client.poll()
            }
        }
    }
}
