#if Sync
    import Foundation
    import MartletPostgres
    import MartletSyncProtocol
    import MartletValues
    import Synchronization

    /// Another application, which changes flights by SQL. The value of a change is the number of its transaction, so
    /// that receivers can find the time of its commit.
    struct SQLWriter: Sendable {
        private let address: String

        init(_ address: String) { self.address = address }

        /// Writes transactions at a rate, each with random rows of `ids`. Returns the time of each commit.
        func write(
            rowsPerTransaction: Int, transactionsPerSecond: Int, seconds: Double, _ ids: Range<Int>
        ) async throws -> [ContinuousClock.Instant] {
            try await write(
                rowsPerTransaction: rowsPerTransaction, transactionsPerSecond: transactionsPerSecond,
                count: max(1, Int(seconds * Double(transactionsPerSecond))), ids)
        }

        func write(
            rowsPerTransaction: Int, transactionsPerSecond: Int, count: Int, _ ids: Range<Int>
        ) async throws -> [ContinuousClock.Instant] {
            let connection = try await PostgresConnection(address)
            let start = ContinuousClock.now
            var commits: [ContinuousClock.Instant] = []
            for number in 0..<count {
                let due = start + .seconds(Double(number) / Double(transactionsPerSecond))
                if due > .now { try await Task.sleep(until: due) }
                let keys = (0..<rowsPerTransaction).map { _ in "\(Int.random(in: ids))" }.joined(separator: ", ")
                let statement = "UPDATE flight SET departure_delay = \(number) WHERE id IN (\(keys))"
                _ = try await connection.run { session in
                    try session.execute(statement)
                    return 0
                }
                commits.append(.now)
            }
            await connection.close()
            return commits
        }
    }

    /// The times at which the changes of an `SQLWriter` were received.
    final class Arrivals: Sendable {
        private let arrivals = Mutex<[(number: Int, time: ContinuousClock.Instant)]>([])
        private let property: ValuePath

        /// - Parameter property: the property that the writer changes.
        init(_ property: ValuePath) { self.property = property }

        func add(_ rows: [SyncRow]) {
            let now = ContinuousClock.now
            arrivals.withLock { arrivals in
                for row in rows {
                    guard case .scalar(.integer(let number))? = row.values[property] else { continue }
                    arrivals.append((Int(number), now))
                }
            }
        }

        func add(_ number: Int) { arrivals.withLock { $0.append((number, .now)) } }

        /// The milliseconds from each commit until its change was received, sorted.
        func latencies(_ commits: [ContinuousClock.Instant]) -> [Double] {
            arrivals.withLock { arrivals in
                arrivals.compactMap { number, time in
                    guard commits.indices.contains(number), time > commits[0] else { return nil }
                    return max(0, (time - commits[number]).milliseconds)
                }.sorted()
            }
        }
    }

    extension [Double] {
        /// A percentile of sorted numbers; NaN if there are none.
        func percentile(_ percent: Double) -> Double {
            isEmpty ? .nan : self[Swift.min(count - 1, Int(Double(count) * percent / 100))]
        }
    }

    extension Duration {
        var milliseconds: Double { Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15 }
    }

    extension ContinuousClock.Instant {
        /// The seconds from this instant until now.
        var seconds: Double { (ContinuousClock.now - self).milliseconds / 1e3 }
    }
#endif
