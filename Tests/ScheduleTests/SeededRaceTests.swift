#if MARTLET_SEEDED_BUGS
    import Foundation
    import MartletEngine
    import Testing

    /// Checks that schedules find a `SeededRace`, a race that is compiled into the library only for this test. 'make
    /// schedule-bugs' runs this suite once for each race, in a separate process.
    @Suite("seeded races")
    struct SeededRaceTests {
        /// Prints a line for the table of 'Scripts/seeded-bugs', and the schedule that fails.
        @Test("schedules find the seeded race that is enabled")
        func found() throws {
            let environment = ProcessInfo.processInfo.environment
            guard let name = environment["MARTLET_SEEDED_RACE"] else { return }
            let race = try #require(SeededRace.allCases.first { $0.name == name }, "there is no race '\(name)'")
            let seeds = environment["MARTLET_SCHEDULES"].flatMap { UInt64($0) } ?? 2_000
            printLine("looking for \(race.rawValue)")
            guard let (source, finding) = try search(seeds) else {
                printLine("not found")
                Issue.record("neither the small programs nor \(seeds) random ones find '\(name)': \(race.rawValue)")
                return
            }
            printLine("\(name)|\(race.rawValue)|\(source)|\(finding.program.size)+\(finding.plan.count)")
            printLine(try finding.text())
        }

        /// Runs the small programs with every schedule of at most one preemption, then random programs with random
        /// schedules.
        private func search(_ seeds: UInt64) throws -> (source: String, finding: ScheduleExplorer.Finding)? {
            var count = ScheduleExplorer.Count()
            for (name, program) in Program.small {
                printLine("seed \(name)")
                guard let finding = try ScheduleExplorer.everySchedule(of: program, preemptions: 1, &count) else {
                    continue
                }
                return ("small", finding)
            }
            for seed in 1...seeds {
                // Some races cause a trap. The last printed seed is then the seed that failed.
                printLine("seed \(seed)")
                guard let finding = try ScheduleExplorer.schedule(seed, of: Program(seed: seed), &count) else {
                    continue
                }
                return ("\(seed)", try ScheduleExplorer.shortest(finding))
            }
            return nil
        }

        private func printLine(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
    }
#endif
