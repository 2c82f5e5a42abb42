#if Postgres
    import MartletSyncProtocol
    import MartletSyncService

    extension SubscriptionData {
        /// Decodes the messages.
        func content() throws -> (rows: [SyncRow], leaving: [ObjectAddress]) {
            var (data, rows, leaving) = (self, [] as [SyncRow], [] as [ObjectAddress])
            while let bytes = try data.next() {
                guard case .chunk(let newRows, let newLeaving, _) = try ServiceMessage(bytes) else { continue }
                rows += newRows
                leaving += newLeaving
            }
            return (rows, leaving)
        }
    }
#endif
