#if Sync
    import ArgumentParser
    import MartletPostgres
    import MartletSyncService

    struct AuditCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "audit", abstract: "Compare the data of the connected clients with the database.",
            discussion: """
                The running instances compare the checksums of their clients with the rows of the database. A client \
                with differences loads its data again, keeps its changes that are not uploaded yet, and is compared \
                once more. The log of the instance names the type and the part of each difference. If the first \
                comparison of a client has found differences, the command ends with exit code 1.
                """)

        @OptionGroup var common: CommonOptions

        @Option(help: "The number of seconds that the command waits for clients, at least 5.")
        var timeout: Double = 60

        func validate() throws {
            guard timeout.isFinite, timeout >= 5, timeout <= 86_400 else {
                throw ValidationError("'--timeout' is \(timeout); write a number from 5 to 86400")
            }
        }

        func run() async throws {
            let configuration = try common.configuration()
            let connection = try await PostgresConnection(configuration.database)
            let summary = try await summary(connection)
            await connection.close()
            Console.write(Self.text(summary))
            if summary.different > 0 {
                throw CommandFailure(1, "\(summary.different) clients differed from the database")
            }
        }

        /// The time, in seconds, that each instance needs to find the audit and to add its clients.
        private static let noticeSeconds = 4.0

        private func summary(_ connection: PostgresConnection) async throws -> AuditRegistry.Summary {
            let seconds = timeout
            let audit = try await connection.run { session in
                _ = try SyncCatalog(session)
                return try AuditRegistry().begin(seconds: seconds, in: session)
            }
            let start = ContinuousClock.now
            while true {
                try await Task.sleep(for: .milliseconds(250))
                let elapsed = start.duration(to: .now)
                let isOver = elapsed >= .seconds(seconds)
                let summary = try await connection.run { session in
                    let summary = try AuditRegistry().summary(of: audit, in: session)
                    if isOver || summary.waiting == 0 && elapsed >= .seconds(Self.noticeSeconds) {
                        try AuditRegistry().end(audit, in: session)
                        return (summary, true)
                    }
                    return (summary, false)
                }
                if summary.1 { return summary.0 }
            }
        }

        static func text(_ summary: AuditRegistry.Summary) -> String {
            let lines = [
                ("clients audited", "\(summary.compared)"),
                ("clients not audited in time", "\(summary.clients - summary.compared)"),
                ("clients without support", "\(summary.unsupported)"),
                ("rows compared", "\(summary.rows)"),
                ("parts with differences", "\(summary.differences)"),
                ("clients with differences", "\(summary.different)"),
                ("clients repaired", "\(summary.repaired)"),
            ]
            let width = lines.reduce(0) { max($0, $1.0.count) } + 2
            return lines.map { $0.0 + String(repeating: " ", count: width - $0.0.count) + $0.1 + "\n" }.joined()
        }
    }
#endif
