import Martlet
import MartletEngine

extension SyncClient {
    /// Waits until the objects of a set of subscriptions, or of a later set, are in the file.
    func waitForSet(_ number: UInt64, timeout: Double?) async throws {
        try await waitForService(timeout: timeout) { record in
            if record.shownSet >= number { return true }
            if record.refusedSet >= number { throw SubscriptionEditor.refusal(record.refusal) }
            return false
        }
    }

    /// Waits until the file contains everything that was committed in the database before the call.
    ///
    /// - Parameter set: the number of a set of subscriptions. The objects of this set must also be in the file. Nil
    ///   means the newest set.
    func waitForDownload(set: UInt64?, timeout: Double?) async throws {
        var (mark, number): (UInt64, UInt64) = (0, 0)
        try Realm.Error.translating {
            try store?.update { record in
                record.wantedMark += 1
                (mark, number) = (record.wantedMark, set ?? record.wantedSet)
                return true
            }
        }
        let (wanted, wantedSet) = (mark, number)
        try await waitForService(timeout: timeout) { record in
            if record.shownSet < wantedSet, record.refusedSet >= wantedSet {
                throw SubscriptionEditor.refusal(record.refusal)
            }
            return record.shownSet >= wantedSet && record.answeredMark >= wanted
        }
    }

    /// Waits until the service has stored all changes that were committed in the file before the call.
    func waitForUpload(timeout: Double?) async throws {
        guard let last = try Realm.Error.translating({ try store?.read { try $0.newestOutboxTime() } ?? nil }) else {
            return
        }
        try await waitForFile(timeout: timeout) { try !$0.hasOutboxEntry(through: last) }
    }

    private func waitForService(
        timeout: Double?, until condition: @escaping @Sendable (SyncRecord) throws -> Bool
    ) async throws {
        try await waitForFile(timeout: timeout) { try condition($0.record()) }
    }

    private func waitForFile(
        timeout: Double?, until condition: @escaping @Sendable (SyncTables) throws -> Bool
    ) async throws {
        do {
            try await wait(seconds: timeout) { client in
                // If the file is closed, the wait ends without an error.
                guard let store = client.store else { return true }
                return try Realm.Error.translating { try store.read { try condition($0) } }
            }
        } catch is SyncTimeout {
            throw Realm.Error(
                synchronization: .syncTimedOut, path: store?.coordinator.path,
                message:
                    "the sync service has not answered in \(timeout ?? 0) seconds; the subscriptions and the changes "
                    + "are kept, and will be sent when there is a connection")
        }
    }
}
