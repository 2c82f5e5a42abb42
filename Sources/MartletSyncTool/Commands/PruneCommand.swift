#if Sync
    import ArgumentParser
    import MartletSyncService

    struct PruneCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "prune", abstract: "Delete old entries of the log, and clients that are not used any more.",
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

        @Option(help: "The command removes clients that have not connected for this number of days, at least 1.")
        var clientDays: Double = 365

        func validate() throws {
            guard hours != nil || gigabytes != nil else {
                throw ValidationError("no limit for the kept entries; write '--hours', '--gigabytes' or both")
            }
            for (name, value) in [
                ("--hours", hours), ("--gigabytes", gigabytes), ("--client-days", Optional(clientDays)),
            ] {
                guard let value else { continue }
                guard value.isFinite, value >= 0 else {
                    throw ValidationError("'\(name)' is \(value); write 0 or more")
                }
            }
        }

        func run() async throws {
            let retention = LogPruner.Retention(hours: hours, gigabytes: gigabytes)
            let days = clientDays
            let (entries, clients) = try await common.withDatabase { _, session in
                _ = try SyncCatalog(session)
                let entries = try LogPruner().prune(retention, in: session)
                return (entries, try ClientRegistry().removeUnused(days: days, in: session))
            }
            Console.write("deleted \(entries) entries and \(clients) clients\n")
        }
    }
#endif
