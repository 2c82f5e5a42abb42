#if Postgres
    import MartletPostgres
    import MartletSyncProtocol
    import Synchronization

    extension PostgresServiceDatabase {
        /// Reads the changes for the former queries. Returns these changes, and then continues to read the objects that
        /// enter or leave the subscriptions, at the same snapshot.
        func change(
            _ cursor: SyncCursor, _ formerQueries: [SubscribedQuery], _ newQueries: [SubscribedQuery],
            _ context: SessionContext, _ catalog: SyncCatalog
        ) async throws -> ServiceTaskResult {
            let former = try catalog.filters.filter(formerQueries, claims: context.claims)
            let new = try catalog.filters.filter(newQueries, claims: context.claims)
            let client = context.client?.id ?? 0
            let data = SubscriptionData()
            return try await withCheckedThrowingContinuation { continuation in
                let beginning = Beginning(continuation)
                Task {
                    do {
                        let rowCount = try await pool.run { session in
                            try DatabaseSnapshot.read(catalog, claims: context.claims, in: session) { snapshot in
                                var batch = try self.batch(after: cursor, former, client, catalog, session)
                                try snapshot.complete(&batch, for: client, former.contains)
                                _ = beginning.resume(.success(.changed(batch, data)))
                                return try snapshot.write(to: data, from: former, to: new)
                            }
                        }
                        metrics.add(.rowsRead, rowCount)
                    } catch {
                        if beginning.resume(.failure(error)) { return }
                        data.fail()
                        if error is CancellationError { return }
                        metrics.add(.tasksFailed)
                        log((error as? PostgresError)?.logText ?? "\(error)")
                    }
                }
            }
        }
    }

    /// Resumes the caller once: with the changes, or with the error that prevented them.
    private final class Beginning: Sendable {
        private let continuation: Mutex<CheckedContinuation<ServiceTaskResult, any Error>?>

        init(_ continuation: CheckedContinuation<ServiceTaskResult, any Error>) {
            self.continuation = Mutex(continuation)
        }

        /// Returns false, and does nothing, if the caller was resumed before.
        func resume(_ result: Result<ServiceTaskResult, any Error>) -> Bool {
            let continuation = continuation.withLock { continuation in
                defer { continuation = nil }
                return continuation
            }
            continuation?.resume(with: result)
            return continuation != nil
        }
    }

    extension DatabaseSnapshot {
        /// Writes the objects that enter or leave the subscriptions. Returns the number of objects that enter.
        fileprivate func write(
            to data: SubscriptionData, from former: SubscriptionFilter, to new: SubscriptionFilter
        ) throws -> Int {
            // An object that enters or leaves the subscriptions satisfies a condition that only one of the two filters
            // contains.
            let changed = Set(former.conditions.keys).union(new.conditions.keys).sorted().map { type in
                let conditions = Set(former.conditions[type] ?? []).symmetricDifference(new.conditions[type] ?? [])
                return (type: type, conditions: Array(conditions))
            }.filter { !$0.conditions.isEmpty }
            let expected = try changed.reduce(0) { try $0 + estimatedCount(of: $1.type, satisfying: $1.conditions) }
            var writer = SubscriptionData.Writer(data)
            var count = 0
            for (type, conditions) in changed {
                try rows(of: type, satisfying: conditions) { row in
                    if count % 256 == 0 {
                        try writer.requireNeeded()
                        writer.progress = min(999, 1_000 * count / max(1, expected))
                    }
                    count += 1
                    let (before, now) = (
                        former.contains(row.address, row.values), new.contains(row.address, row.values)
                    )
                    if now, !before { try writer.add(row) }
                    if before, !now { try writer.add(leaving: row.address) }
                }
            }
            try writer.finish()
            return writer.rowCount
        }
    }
#endif
