import CMartletTestVFS
import Foundation
import MartletSQLite
import MartletValues
import Testing

@testable import MartletEngine

/// A short sequence of operations into which tests inject faults. Each transaction adds three rows and a list element.
/// After every third transaction, a checkpoint follows. Halfway, the file is opened again with an additional property.
/// The contents of the file show which transactions are stored completely.
struct FaultyHistory {
    let path: String
    let vfs: String
    var durability = StoreOptions.Durability.full
    var transactions = 9

    /// The results of the calls of the engine.
    struct Log {
        /// The numbers of the transactions that were acknowledged.
        var acknowledged: Set<Int> = []
        /// The numbers of the transactions with an unknown outcome.
        var uncertain: Set<Int> = []
        /// The errors, including errors while the file is opened.
        var errors: [EngineError] = []
    }

    static let extended = VirtualProcess.note + "\nproperty extra Int"

    /// - Parameter repair: Called after a failure, before the next transaction.
    func run(repair: () -> Void = {}) -> Log {
        var log = Log()
        var process = open([VirtualProcess.note], &log)
        for number in 1...transactions {
            if number == transactions / 2 {
                process = nil
                process = open([Self.extended], &log)
            }
            if process == nil {
                repair()
                process = open([number < transactions / 2 ? VirtualProcess.note : Self.extended], &log)
            }
            guard let process else { continue }
            attempt(number, process, &log, repair)
            if number.isMultiple(of: 3) {
                process.handle = nil
                if let error = engineError({ try process.coordinator.checkpoint() }) { log.errors.append(error) }
            }
        }
        return log
    }

    private func open(_ types: [String], _ log: inout Log) -> VirtualProcess? {
        do {
            return try VirtualProcess(path, types) {
                $0.environment.vfsName = vfs
                $0.environment.pageSize = 512
                $0.environment.changeRetention = 4
                $0.durability = durability
            }
        } catch {
            log.errors.append(EngineError.wrap(error, path: path))
            return nil
        }
    }

    private func attempt(_ number: Int, _ process: VirtualProcess, _ log: inout Log, _ repair: () -> Void) {
        do {
            try process.write { transaction in
                let hasExtra = transaction.coordinator.schema["Note"]?.type["extra"] != nil
                for row in 0..<3 {
                    if hasExtra {
                        try transaction.insert(
                            "Note", [.text("row \(row)"), .integer(Int64(number)), .real(1), .integer(Int64(number))])
                    } else {
                        try transaction.addNote("row \(row)", batch: number)
                    }
                }
                try addTags(number, transaction)
            }
            log.acknowledged.insert(number)
        } catch {
            let error = EngineError.wrap(error, path: path)
            log.errors.append(error)
            if error.code == .commitOutcomeUnknown { log.uncertain.insert(number) }
            process.handle = nil
            repair()
        }
    }

    // Each transaction appends one element to the list of the first row.
    private func addTags(_ number: Int, _ transaction: WriteTransaction) throws {
        let table = "\"Note.tags\""
        try transaction.handle.read { connection in
            var elements = try ChunkedElements(owner: 1, table: table, connection, limit: 4)
            try elements.insert(.integer(Int64(number)), at: elements.count) {
                try ChunkedElements.load(owner: 1, ordinal: $0, count: $1, table: table, connection)
            }
            try elements.write(owner: 1, table: table, connection)
        }
    }

    /// Compares the contents of the file with the results of `run`. Returns all errors.
    func errors(_ log: Log, vfs: String) -> [String] {
        var process: VirtualProcess?
        for types in [Self.extended, VirtualProcess.note] where process == nil {
            process = try? VirtualProcess(path, [types]) {
                $0.environment.vfsName = vfs
                $0.environment.pageSize = 512
            }
        }
        guard let process else { return ["the file does not open"] }
        do {
            return try problems(process, log)
        } catch {
            return ["the file cannot be read: \(error)"]
        }
    }

    private func problems(_ process: VirtualProcess, _ log: Log) throws -> [String] {
        var errors: [String] = []
        if try process.integrity != .text("ok") { errors.append("the integrity check fails") }
        let batches = try process.column("SELECT batch FROM Note GROUP BY batch").compactMap(\.number)
        let torn = try process.integer(
            "SELECT count(*) FROM (SELECT batch FROM Note GROUP BY batch HAVING count(*) <> 3)")
        if torn != 0 { errors.append("a transaction is stored in part") }
        if try process.tags(1).compactMap(\.number) != batches { errors.append("the list and the rows differ") }
        let lost = log.acknowledged.subtracting(batches)
        if !lost.isEmpty { errors.append("acknowledged, but lost: \(lost.sorted())") }
        let phantoms = Set(batches).subtracting(log.acknowledged).subtracting(log.uncertain)
        if !phantoms.isEmpty { errors.append("failed, but stored: \(phantoms.sorted())") }
        // The file must keep at most four change sets: those of the newest versions, without a gap.
        let version = try process.integer("SELECT version FROM martlet_meta") ?? 0
        let kept = try process.column("SELECT version FROM martlet_changes WHERE version > 0 ORDER BY version")
            .compactMap(\.number)
        if let first = kept.first, kept != Array(first...Int(version)) || kept.count > 4 {
            errors.append("the file keeps change sets of the versions \(kept), and its version is \(version)")
        }
        let next = try process.integer("SELECT next_key FROM martlet_types") ?? 0
        if try next <= process.integer("SELECT coalesce(max(_key), 0) FROM Note") ?? 0 {
            errors.append("a key would be assigned twice")
        }
        // The file must be writable.
        if let error = engineError({
            try process.write { try $0.handle.read { try $0.run("UPDATE Note SET weight = 2") } }
        }) {
            errors.append("the file cannot be written: \(error.message)")
        }
        return errors
    }
}

extension SQLValue {
    fileprivate var number: Int? {
        if case .integer(let number) = self { return Int(number) }
        return nil
    }
}

@Suite("durability")
struct DurabilityTests {
    /// The number of seeds with which each operation is tested. `make durability` uses more.
    static let seeds = ProcessInfo.processInfo.environment["MARTLET_SWEEP"].flatMap { UInt64($0) } ?? 1
    /// Whether a fault is injected at every operation. Otherwise most tests skip some operations.
    static let isFullSweep = ProcessInfo.processInfo.environment["MARTLET_SWEEP"] != nil

    @Test(
        "after a power cut at any operation, acknowledged transactions remain and no transaction is stored in part D1")
    func powerCuts() throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        let history = FaultyHistory(path: folder.path(), vfs: disk.name)
        let whole = history.run()
        #expect(whole.acknowledged.count == history.transactions && whole.errors.isEmpty)
        let operations = disk.operationCount
        #expect(operations > 100)
        for operation in stride(from: 1, through: operations, by: 1) {
            for seed in 0..<Self.seeds {
                disk.reset()
                disk.cutPower(at: operation)
                let log = history.run()
                #expect(disk.isOff)
                #expect(disk.openFileCount == 0, "a failed engine closes its files")
                disk.restart(damage: .mixed, seed: UInt64(operation) << 16 | seed)
                let errors = history.errors(log, vfs: disk.name)
                #expect(errors == [], "power cut at \(operation), seed \(seed), \(log.errors.map(\.message))")
            }
        }
        disk.reset()
    }

    @Test("with durability 'normal' a power cut may lose the newest transactions, but stores no transaction in part D2")
    func powerCutsNormal() throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        let history = FaultyHistory(path: folder.path(), vfs: disk.name, durability: .normal)
        _ = history.run()
        for operation in stride(from: 1, through: disk.operationCount, by: Self.isFullSweep ? 1 : 3) {
            disk.reset()
            disk.cutPower(at: operation)
            let log = history.run()
            disk.restart(damage: .mixed, seed: UInt64(operation))
            let errors = history.errors(log, vfs: disk.name).filter { !$0.hasPrefix("acknowledged, but lost") }
            #expect(errors == [], "power cut at \(operation)")
        }
        disk.reset()
    }

    @Test(
        "after a kill at any call, acknowledged transactions remain and no transaction is stored in part D2",
        arguments: [StoreOptions.Durability.full, .off])
    func kills(durability: StoreOptions.Durability) throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        var position = 0
        var wasHit = true
        while wasHit {
            position += Self.isFullSweep ? 1 : 4
            disk.reset()
            var log: FaultyHistory.Log
            do {
                let vfs = HookVFS(over: disk.name)
                vfs.fail(.any, at: position, persists: true)
                log = FaultyHistory(path: folder.path(), vfs: vfs.name, durability: durability).run()
                wasHit = vfs.faultCount > 0
                disk.killProcesses()
            }
            let errors = FaultyHistory(path: folder.path(), vfs: disk.name).errors(log, vfs: disk.name)
            #expect(errors == [], "killed at \(position)")
        }
        #expect(position > 300)
        disk.reset()
    }

    /// The error codes that the engine may report for an I/O fault.
    private static let faultCodes: Set<EngineError.Code> = [
        .inputOutput, .accessDenied, .outOfDiskSpace, .busy, .commitOutcomeUnknown, .corrupt,
    ]

    @Test(
        "if a call fails, an error is thrown, the transaction is complete or absent, and the process continues D3",
        arguments: [false, true])
    func faults(applied: Bool) throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        var position = 0
        var wasHit = true
        while wasHit {
            position += Self.isFullSweep ? 1 : (applied ? 5 : 2)
            disk.reset()
            let vfs = HookVFS(over: disk.name)
            vfs.fail(.any, at: position, applied: applied)
            let history = FaultyHistory(path: folder.path(), vfs: vfs.name)
            let log = history.run()
            wasHit = vfs.faultCount > 0
            let codes = Set(log.errors.map(\.code))
            #expect(codes.isSubset(of: Self.faultCodes), "\(codes) at \(position)")
            #expect(log.errors.allSatisfy { $0.path == folder.path() })
            #expect(
                log.acknowledged.count >= history.transactions - 1,
                "all transactions except one, at \(position): \(log.errors)")
            #expect(vfs.openFileCount == 0)
            vfs.clearFaults()
            #expect(history.errors(log, vfs: vfs.name) == [], "fault \(position)")
        }
        #expect(position > 300)
    }

    @Test(
        "all writes fail while the disk is broken or full, and succeed again after the repair D3",
        arguments: [nil, Int32(13)])
    func persistentFaults(result: Int32?) throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        var position = 0
        var wasHit = true
        while wasHit {
            position += Self.isFullSweep ? 1 : 5
            disk.reset()
            let vfs = HookVFS(over: disk.name)
            // The result 13 is `SQLITE_FULL`.
            vfs.fail(result == nil ? .any : .write, at: position, persists: true, result: result)
            let history = FaultyHistory(path: folder.path(), vfs: vfs.name)
            let log = history.run(repair: { vfs.clearFaults() })
            wasHit = vfs.faultCount > 0
            let codes = Set(log.errors.map(\.code))
            #expect(codes.isSubset(of: result == nil ? Self.faultCodes : [.outOfDiskSpace]), "\(codes) at \(position)")
            #expect(log.acknowledged.count >= history.transactions - 1, "at \(position): \(log.errors)")
            vfs.clearFaults()
            #expect(history.errors(log, vfs: vfs.name) == [], "fault \(position)")
        }
        #expect(position > (result == nil ? 300 : 40))
    }

    @Test("a commit whose sync fails is reported with an unknown outcome, and the next commit overwrites it D4")
    func unknownOutcome() throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        let vfs = HookVFS(over: disk.name)
        let process = try VirtualProcess(folder.path()) {
            $0.environment.vfsName = vfs.name
            $0.durability = .full
        }
        try process.add("kept")
        vfs.fail(.sync, of: .wal)
        let error = engineError { try process.add("unknown") }
        #expect(error?.code == .commitOutcomeUnknown)
        process.handle = nil
        #expect(try process.noteCount == 1)
        try process.add("next")
        process.handle = nil
        disk.killProcesses()
        let survivor = try VirtualProcess(folder.path()) { $0.environment.vfsName = disk.name }
        #expect(try survivor.column("SELECT text FROM Note ORDER BY _key") == [.text("kept"), .text("next")])
    }

    @Test("a durable commit that cannot be read back is not reported as failed D4")
    func unreadableCommit() throws {
        let folder = try TestFolder()
        let disk = PowerLossDisk()
        let vfs = HookVFS(over: disk.name)
        let process = try VirtualProcess(folder.path()) {
            $0.environment.vfsName = vfs.name
            $0.environment.onYield = { if $0 == .afterCommit { vfs.fail(.any, persists: true) } }
        }
        let error = engineError { try process.add("stored") }
        #expect(error == nil || error?.code == .commitOutcomeUnknown)
        vfs.clearFaults()
        process.handle = nil
        #expect(try process.noteCount == 1)
        #expect(process.coordinator.newestKnownVersion == 3)
    }
}
