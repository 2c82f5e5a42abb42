#if MARTLET_SEEDED_BUGS
    import Foundation
    import MartletEngine
    import Testing

    /// Checks that the simulation finds a `SeededSyncBug`. 'make sync-bugs' runs this suite once for each bug, in a
    /// separate process.
    @Suite("seeded bugs of the file")
    struct SeededSyncBugTests {
        /// Prints a line for the table of 'Scripts/seeded-bugs', and the failure that the simulation has found.
        @Test("the simulation finds the seeded bug that is enabled")
        func found() throws {
            let environment = ProcessInfo.processInfo.environment
            guard let name = environment["MARTLET_SEEDED_SYNC_BUG"] else { return }
            let bug = try #require(SeededSyncBug.allCases.first { $0.name == name }, "there is no bug '\(name)'")
            let seeds = environment["MARTLET_SYNC"].flatMap { UInt64($0) } ?? 1_000
            printLine("looking for \(bug.rawValue)")
            for seed in 1...seeds {
                // Some bugs cause a trap. The trap occurs with the seed that was printed last.
                printLine("seed \(seed)")
                guard let failure = Simulation.run(seed, .files) else { continue }
                printLine("\(name)|\(bug.rawValue)|\(seed)|150")
                return printLine(failure)
            }
            printLine("not found")
            Issue.record("\(seeds) programs do not find '\(name)': \(bug.rawValue)")
        }

        private func printLine(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
    }
#endif
