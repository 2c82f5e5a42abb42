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
            guard let (place, finding) = try look(seeds) else {
                say("not found")
                Issue.record("neither small programs nor \(seeds) others find '\(name)': \(race.rawValue)")
                return
            }
            say("\(name)|\(race.rawValue)|\(place)|\(finding.program.size)+\(finding.plan.count)")
            say(try finding.text())
        }

        /// First in all courses of small programs, then by chance.
        private func look(_ seeds: UInt64) throws -> (place: String, finding: Exploring.Finding)? {
            var count = Exploring.Count()
            for (name, program) in Program.small {
                say("seed \(name)")
                guard let finding = try Exploring.everyCourse(of: program, preemptions: 1, &count) else { continue }
                return ("small", finding)
            }
            for seed in 1...seeds {
                // Some races stop the program.
                say("seed \(seed)")
                guard let finding = try Exploring.course(seed, of: Program(seed: seed), &count) else { continue }
                return ("\(seed)", try Exploring.shortest(finding))
            }
            return nil
        }

        private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
    }
#endif
