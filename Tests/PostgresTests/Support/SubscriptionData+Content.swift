#if Postgres
    import MartletSyncProtocol
    import MartletSyncService

    extension SubscriptionData {
        /// Takes and decodes all messages.
        func content() async throws -> (rows: [SyncRow], leaving: [ObjectAddress]) {
            var (rows, leaving) = ([] as [SyncRow], [] as [ObjectAddress])
            while true {
                switch try next() {
                case .message(let bytes):
                    guard case .chunk(let newRows, let newLeaving, _) = try ServiceMessage(bytes) else { continue }
                    rows += newRows
                    leaving += newLeaving
                case .notYet: await available()
                case .end: return (rows, leaving)
                }
            }
        }
    }
#endif
