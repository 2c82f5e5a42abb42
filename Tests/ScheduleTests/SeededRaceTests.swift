#if MARTLET_SEEDED_BUGS
    import Foundation
    import MartletEngine
    import Testing

    /// Whether random courses find a mistake: 'make schedule-bugs' runs this once for each, in a process of its own.
    @Suite("seeded races")
    struct SeededRaceTests {
        /// What was found, as a line for the table, and the course that shows it.
        @Test("the race that is switched on is found")
        func found() throws {
            let environment = ProcessInfo.processInfo.environment
            guard let name = environment["MARTLET_SEEDED_RACE"] else { return }
            let race = try #require(SeededRace.allCases.first { $0.name == name }, "there is no race '\(name)'")
            let seeds = environment["MARTLET_SCHEDULES"].flatMap { UInt64($0) } ?? 2_000
            say("looking for \(race.rawValue)")
            var count = Exploring.Count()
            for seed in 1...seeds {
                // Some races stop the program.
                say("seed \(seed)")
                guard let finding = try Exploring.course(seed, of: Program(seed: seed), &count) else { continue }
                let shortest = try Exploring.shortest(finding)
                say("\(name)|\(race.rawValue)|\(seed)|\(shortest.program.size)+\(shortest.plan.count)")
                say(try shortest.text())
                return
            }
            say("not found")
            Issue.record("\(seeds) programs do not find '\(name)': \(race.rawValue)")
        }

        private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
    }
#endif
