import ConformanceModels
import Foundation
import Martlet
import MartletSQLite
import MartletValues

@testable import ChaosWorker

/// Compares the contents of the file after a crash test with the journals of all processes.
struct HistoryChecker {
    /// The number of acknowledged transactions.
    private(set) var acknowledged = 0
    /// The number of stored transactions whose process was killed before it recorded the commit in its journal.
    private(set) var unacknowledged = 0
    /// The number of versions that at least one process has seen or committed.
    private(set) var observedVersions = 0
    /// The number of notifications that spanned more than `changeRetention` versions. Some of the change sets of these
    /// versions had already been deleted.
    private(set) var retentionGaps = 0

    private struct Acknowledgement {
        let origin: TransactionOrigin
        let sequence: Int
        let begun: UInt64
        let done: UInt64
    }

    /// Performs all checks.
    ///
    /// - Throws: `Violation` for the first error.
    init(_ workers: [WorkerProcess], _ folder: String) throws {
        let file = "\(folder)/crash.realm"
        do {
            let realm = try Realm(configuration: .crashTest(file))
            let (origins, transactions) = try Self.transactions(realm)
            let acknowledgements = Self.acknowledgements(workers)
            try Self.check(acknowledgements, origins)
            try Self.checkOrder(acknowledgements)
            let digests = try Self.checkContents(realm, transactions)
            (observedVersions, retentionGaps) = try Self.checkViews(workers, digests)
            acknowledged = acknowledgements.count
            unacknowledged = origins.count - acknowledged
        }
        try Self.checkIntegrity(file)
    }

    /// Returns the origins and the operations of all transactions, in the order of the transactions. Each transaction
    /// has stored its origin and the seed of its operations in an object of the type `IntKey`.
    private static func transactions(_ realm: Realm) throws -> ([TransactionOrigin], [Transaction]) {
        var origins: [TransactionOrigin] = []
        var transactions: [Transaction] = []
        for note in realm.objects(IntKey.self).sorted(byKeyPath: "id") {
            let words = note.content.split(separator: " ").compactMap { UInt64($0) }
            guard words.count == 3, note.id == origins.count + 1 else {
                throw Violation("after \(origins.count) transactions there is '\(note.id): \(note.content)'")
            }
            origins.append(TransactionOrigin(processNumber: Int(words[0]), number: Int(words[1])))
            transactions.append(Transaction(words[2]))
        }
        return (origins, transactions)
    }

    private static func acknowledgements(_ workers: [WorkerProcess]) -> [Acknowledgement] {
        workers.flatMap { worker in
            worker.entries.compactMap { entry -> Acknowledgement? in
                guard case .acknowledged(let number, let sequence, _, let begun, let done) = entry else { return nil }
                let origin = TransactionOrigin(processNumber: worker.options.processNumber, number: number)
                return Acknowledgement(origin: origin, sequence: sequence, begun: begun, done: done)
            }
        }
    }

    /// Checks that every acknowledged transaction is stored at its position, and that the transactions of each process
    /// are stored in order and without a gap.
    private static func check(_ acknowledgements: [Acknowledgement], _ origins: [TransactionOrigin]) throws {
        for one in acknowledgements
        where !origins.indices.contains(one.sequence - 1) || origins[one.sequence - 1] != one.origin {
            let stored = origins.indices.contains(one.sequence - 1) ? "\(origins[one.sequence - 1])" : "nothing"
            throw Violation(
                "transaction \(one.sequence) was acknowledged to \(one.origin), but the file contains \(stored)")
        }
        var last: [Int: Int] = [:]
        for origin in origins {
            guard origin.number == last[origin.processNumber, default: 0] + 1 else {
                throw Violation("\(origin) comes after transaction \(last[origin.processNumber, default: 0])")
            }
            last[origin.processNumber] = origin.number
        }
    }

    /// Checks that a transaction B comes after a transaction A if B began after A was acknowledged.
    private static func checkOrder(_ acknowledgements: [Acknowledgement]) throws {
        var latest: Acknowledgement?
        for one in acknowledgements.sorted(by: { $0.sequence < $1.sequence }) {
            if let latest, one.done < latest.begun {
                throw Violation(
                    "transaction \(one.sequence) of \(one.origin) was acknowledged before \(latest.sequence) of "
                        + "\(latest.origin) began")
            }
            if latest.map({ $0.begun < one.begun }) ?? true { latest = one }
        }
    }

    /// Checks that the file contains the result of all transactions in order. Returns the digest after each
    /// transaction.
    private static func checkContents(_ realm: Realm, _ transactions: [Transaction]) throws -> [UInt64] {
        var state = FileState()
        var digests = [state.digest]
        for transaction in transactions {
            state.apply(transaction)
            digests.append(state.digest)
        }
        let found = FileState(realm)
        for id in Set(state.rows.keys).union(found.rows.keys).sorted() where state.rows[id] != found.rows[id] {
            let (expected, actual) = (
                state.rows[id].map { "\($0)" } ?? "nothing", found.rows[id].map { "\($0)" } ?? "nothing"
            )
            throw Violation("node \(id) is \(actual) instead of \(expected)")
        }
        for node in realm.objects(Node.self) {
            let previous = state.rows.filter { $0.value.next == node.id }.keys.sorted()
            let parents = state.rows.filter { $0.value.children.contains(node.id) }.keys.sorted()
            guard node.previous.map(\.id).sorted() == previous, Set(node.parents.map(\.id)) == Set(parents) else {
                throw Violation("the linking objects of node \(node.id) do not match the links")
            }
        }
        return digests
    }

    /// Checks the versions that the processes saw. Each version must be the same in all processes, and must be the
    /// result of the transactions up to it. No process may see an older version after a newer one. Returns the number
    /// of versions and the number of retention gaps.
    private static func checkViews(_ workers: [WorkerProcess], _ digests: [UInt64]) throws -> (Int, Int) {
        var sequences: [UInt64: Int] = [:]
        var retentionGaps = 0
        for worker in workers {
            var last: (version: UInt64, sequence: Int) = (0, 0)
            for case .saw(let version, let sequence, let digest) in worker.entries {
                guard version >= last.version, sequence >= last.sequence else {
                    throw Violation(
                        "process \(worker.options.processNumber) saw version \(version) after \(last.version)")
                }
                guard digests.indices.contains(sequence), digests[sequence] == digest else {
                    throw Violation(
                        "process \(worker.options.processNumber) saw version \(version), which is not the result of "
                            + "\(sequence) transactions")
                }
                guard sequences.updateValue(sequence, forKey: version) ?? sequence == sequence else {
                    throw Violation("version \(version) is not the same for all processes")
                }
                if last.version > 0, version - last.version > WorkerOptions.changeRetention { retentionGaps += 1 }
                last = (version, sequence)
            }
            for case .acknowledged(_, let sequence, let version, _, _) in worker.entries where version > 0 {
                guard sequences.updateValue(sequence, forKey: version) ?? sequence == sequence else {
                    throw Violation("version \(version) is not the same for all processes")
                }
            }
        }
        let ordered = sequences.sorted { $0.key < $1.key }.map(\.value)
        guard zip(ordered, ordered.dropFirst()).allSatisfy({ $0 <= $1 }) else {
            throw Violation("versions and transactions do not have the same order")
        }
        return (sequences.count, retentionGaps)
    }

    private static func checkIntegrity(_ file: String) throws {
        var options = ConnectionOptions(path: file)
        options.createsFile = false
        let connection = try Connection(options)
        defer { connection.close() }
        for check in ["integrity_check", "foreign_key_check"] {
            let answer = try connection.value("PRAGMA \(check)")
            guard answer == nil || answer == .text("ok") else { throw Violation("\(check) returns \(answer ?? .null)") }
        }
    }
}
