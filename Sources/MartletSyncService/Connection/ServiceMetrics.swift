import Synchronization

/// Counters of a service. A mutex guards them, so any thread can call the methods.
package final class ServiceMetrics: Sendable {
    package enum Counter: String, CaseIterable, Sendable {
        case clientsOpened = "clients_opened"
        case tokensRefused = "tokens_refused"
        case uploadsStored = "uploads_stored"
        case objectsReverted = "objects_reverted"
        case subscriptionChanges = "subscription_changes"
        case rowsRead = "rows_read"
        case logReadings = "log_readings"
        case logEntries = "log_entries"
        case catchUps = "catch_ups"
        case clientsAudited = "clients_audited"
        case rowsAudited = "rows_audited"
        case auditDifferences = "audit_differences"
        case tasksFailed = "tasks_failed"

        fileprivate var help: String {
            switch self {
            case .clientsOpened: "Clients that have connected with a valid token."
            case .tokensRefused: "Tokens that were not valid."
            case .uploadsStored: "Uploads that were stored."
            case .objectsReverted: "Objects whose changes were refused."
            case .subscriptionChanges: "Changes of subscriptions for which the service has read the rows."
            case .rowsRead: "Rows that were read for new subscriptions."
            case .logReadings: "Readings of the log for all sessions."
            case .logEntries: "Entries that the readings of the log for all sessions have found."
            case .catchUps: "Sessions that caught up with a separate reading of the log."
            case .clientsAudited: "Comparisons of a client with the database."
            case .rowsAudited: "Rows that were compared."
            case .auditDifferences: "Parts of the files of clients in which rows differed from the database."
            case .tasksFailed: "Tasks that ended with an error of the database or of the client."
            }
        }
    }

    private let counts = Mutex<[Counter: UInt64]>([:])

    package init() {}

    package func add(_ counter: Counter, _ count: Int = 1) {
        guard count > 0 else { return }
        counts.withLock { $0[counter, default: 0] += UInt64(count) }
    }

    package func count(_ counter: Counter) -> UInt64 { counts.withLock { $0[counter] ?? 0 } }

    /// The counters in the text format of Prometheus.
    package var text: String {
        let counts = counts.withLock { $0 }
        return Counter.allCases.map { counter in
            let name = "martlet_sync_\(counter.rawValue)_total"
            return "# HELP \(name) \(counter.help)\n# TYPE \(name) counter\n\(name) \(counts[counter] ?? 0)\n"
        }.joined()
    }
}
