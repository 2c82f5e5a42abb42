#if Sync
    import ArgumentParser
    import MartletSyncService

    struct PruneCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "prune", abstract: "Delete old entries of the log.",
            discussion: """
                Run this command regularly, for example each hour. A client that has not yet received the deleted \
                entries synchronizes from the beginning: it keeps its changes that are not uploaded yet, and downloads \
                all other data again. If you write both options, an entry is kept only if both options keep it.
                """)

        @OptionGroup var common: CommonOptions

        @Option(help: "The command deletes entries that are older than this number of hours.")
        var hours: Double?

        @Option(help: "The command deletes the oldest entries until the log has about this size in gigabytes.")
        var gigabytes: Double?

        func validate() throws {
            guard hours != nil || gigabytes != nil else {
                throw ValidationError("no limit for the kept entries; write '--hours', '--gigabytes' or both")
            }
            for (name, value) in [("--hours", hours), ("--gigabytes", gigabytes)] {
                guard let value else { continue }
                guard value.isFinite, value >= 0 else {
                    throw ValidationError("'\(name)' is \(value); write 0 or more")
                }
            }
        }

        func run() async throws {
            let retention = LogPruner.Retention(hours: hours, gigabytes: gigabytes)
            let count = try await common.withDatabase { _, session in
                _ = try SyncCatalog(session)
                return try LogPruner().prune(retention, in: session)
            }
            Console.write("deleted \(count) entries\n")
        }
    }
#endif
